package admin

import (
	"net/http"

	"tabhub/hub/face/endpoint"
)

// Purpose is what an endpoint is for. The door decides by it which credentials are good for it.
type Purpose int

const (
	Read    Purpose = iota // reads what belongs to the caller
	Write                  // changes what belongs to the caller
	Own                    // makes something that outlives the hub's token, or lets programs do more
	Decide                 // decides for the owner
	Act                    // uses tools and settings as the owner
	Process                // reads how the hub's process is
	Stop                   // ends the hub's process
	Machine                // changes something on the hub's machine
)

// Route is an endpoint of the API.
type Route struct {
	Method, Path string
	For          Purpose
	Serve        func(*API, *endpoint.Request) error
	// Merge completes the answer that another process of a cluster has given, with what only this
	// process knows. Nil: it is complete.
	Merge func(a *API, answer []byte) (any, error)
}

// NoTenant reports whether the endpoint is not about the caller's tenant.
func (rt *Route) NoTenant() bool { return rt.For == Process || rt.For == Stop }

// Routes are all endpoints.
var Routes = []Route{
	{Method: "GET", Path: "/api/status", For: Process, Serve: (*API).getStatus, Merge: (*API).mergeStatus},
	{Method: "GET", Path: "/api/doctor", For: Process, Serve: (*API).getDoctor},
	{Method: "POST", Path: "/api/stop", For: Stop, Serve: (*API).postStop},
	{Method: "GET", Path: "/api/tabs", For: Read, Serve: plain(getTabs)},
	{Method: "GET", Path: "/api/browsers", For: Read, Serve: plain(getBrowsers)},
	{Method: "GET", Path: "/api/tools", For: Read, Serve: (*API).getTools},
	{Method: "GET", Path: "/api/explain", For: Read, Serve: (*API).getExplain},
	{Method: "GET", Path: "/api/log", For: Read, Serve: (*API).getLog},
	{Method: "GET", Path: "/api/log/sites", For: Read, Serve: plain(getLogSites)},
	{Method: "GET", Path: "/api/log/payloads", For: Decide, Serve: plain(getPayloads)},
	{Method: "GET", Path: "/api/log/carried", For: Decide, Serve: plain(getCarried)},
	{Method: "GET", Path: "/api/site", For: Read, Serve: plain(getSite)},
	{Method: "PUT", Path: "/api/site", For: Act, Serve: plain(putSite)},
	{Method: "DELETE", Path: "/api/site/cache", For: Act, Serve: plain(deleteCache)},
	{Method: "GET", Path: "/api/sites", For: Read, Serve: plain(getSites)},
	{Method: "GET", Path: "/api/packs", For: Read, Serve: plain(getPacks)},
	{Method: "PUT", Path: "/api/packs", For: Decide, Serve: plain(putPack)},
	{Method: "DELETE", Path: "/api/packs", For: Decide, Serve: plain(deletePack)},
	{Method: "POST", Path: "/api/packs/accept", For: Decide, Serve: plain(postPackAccept)},
	{Method: "POST", Path: "/api/packs/reject", For: Decide, Serve: plain(postPackReject)},
	{Method: "POST", Path: "/api/packs/record", For: Decide, Serve: plain(postPackRecord)},
	{Method: "GET", Path: "/api/policy", For: Read, Serve: (*API).getPolicy},
	{Method: "GET", Path: "/api/policy/test", For: Read, Serve: (*API).getPolicyTest},
	{Method: "GET", Path: "/api/preflight", For: Read, Serve: (*API).getPreflight},
	{Method: "GET", Path: "/api/browser", For: Read, Serve: (*API).getBrowserNames},
	{Method: "PUT", Path: "/api/browser", For: Decide, Serve: plain(putBrowserName)},
	{Method: "DELETE", Path: "/api/browser", For: Decide, Serve: plain(deleteBrowserName)},
	{Method: "PUT", Path: "/api/policy/binding", For: Decide, Serve: (*API).putBinding},
	{Method: "POST", Path: "/api/policy/rule", For: Decide, Serve: (*API).postRule},
	{Method: "DELETE", Path: "/api/policy/rule", For: Decide, Serve: plain(deleteRule)},
	{Method: "PUT", Path: "/api/policy/mode", For: Decide, Serve: plain(putMode)},
	{Method: "PUT", Path: "/api/policy/private", For: Decide, Serve: plain(putPrivate)},
	{Method: "POST", Path: "/api/pause", For: Decide, Serve: (*API).postPause},
	{Method: "DELETE", Path: "/api/pause", For: Decide, Serve: plain(deletePause)},
	{Method: "GET", Path: "/api/resources", For: Read, Serve: plain(getResources)},
	{Method: "GET", Path: "/api/prompts", For: Read, Serve: plain(getPrompts)},
	{Method: "GET", Path: "/api/resource", For: Act, Serve: plain(getResource)},
	{Method: "POST", Path: "/api/prompt", For: Act, Serve: plain(postPrompt)},
	{Method: "POST", Path: "/api/call", For: Act, Serve: (*API).postCall},
	{Method: "DELETE", Path: "/api/calls", For: Act, Serve: plain(deleteCall)},
	{Method: "GET", Path: "/api/watch", For: Read, Serve: (*API).watch},
	{Method: "GET", Path: "/api/questions", For: Read, Serve: plain(getQuestions)},
	{Method: "GET", Path: "/api/questions/all", For: Decide, Serve: plain(getAllOfQuestions)},
	{Method: "POST", Path: "/api/questions", For: Decide, Serve: plain(postAnswer)},
	{Method: "GET", Path: "/api/questions/watch", For: Decide, Serve: (*API).watchQuestions}, // a call waits for the caller's answer
	{Method: "POST", Path: "/api/token", For: Write, Serve: (*API).postToken},
	{Method: "GET", Path: "/api/pair", For: Read, Serve: (*API).getPairings},
	{Method: "POST", Path: "/api/pair", For: Own, Serve: (*API).postPairing},
	{Method: "DELETE", Path: "/api/pair", For: Own, Serve: (*API).deletePairing},
	{Method: "GET", Path: "/api/pair/wait", For: Read, Serve: (*API).awaitPairing},
	{Method: "POST", Path: "/api/extension", For: Machine, Serve: (*API).postExtension},
	{Method: "GET", Path: "/api/clients", For: Read, Serve: (*API).getClients},
	{Method: "POST", Path: "/api/clients", For: Own, Serve: (*API).postClient},
	{Method: "DELETE", Path: "/api/clients", For: Decide, Serve: (*API).deleteClient},
	{Method: "GET", Path: "/api/sessions", For: Read, Serve: (*API).getSessions},
	{Method: "GET", Path: "/api/lease", For: Read, Serve: plain(getLeases)},
	{Method: "DELETE", Path: "/api/lease", For: Decide, Serve: plain(deleteLease)},
	{Method: "GET", Path: "/api/connect", For: Read, Serve: (*API).getConnect},
}

// plain is for an endpoint that needs the request alone.
func plain(serve func(*endpoint.Request) error) func(*API, *endpoint.Request) error {
	return func(_ *API, r *endpoint.Request) error { return serve(r) }
}

// NotFound answers a request that none of Routes is for.
func NotFound(r *endpoint.Request) error {
	return &endpoint.Error{Status: http.StatusNotFound, Text: "the admin API has no " + r.Method + " " + r.URL.Path}
}
