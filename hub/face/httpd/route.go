package httpd

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"tabhub/hub/face/admin"
	"tabhub/hub/face/endpoint"
	"tabhub/hub/face/mcpserver"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/auth/oauth"
	"tabhub/hub/trust/policy"
)

// route is one endpoint: the requests that are for it, the access to it, and what serves them.
type route struct {
	path      string // "/api/*" is every path below /api/ that has no row before it
	method    string // "" for any; "GET" is for HEAD, too
	websocket bool   // the request asks for a WebSocket
	name      string // in refusals; "" for the path
	access
	ofUser bool                                             // is about the only user of a hub without accounts, whatever credential it needs
	merge  func(*admin.API, []byte) (answer any, err error) // completes another process's answer with what only this one knows
	// ofProcess serves it where Options.Ready is set: it is about the process, and needs no credential.
	ofProcess func(*Server, http.ResponseWriter)
	client    bool // while it is served, the hub has a client and does not end for idleness
	tenant    bool // request.tenant is the caller's
	stream    bool // the answer to GET lasts for as long as it is read: it counts as a socket of the user
	serve     func(*Server, *endpoint.Request) error
}

// access says which requests an endpoint serves. The zero value serves none.
type access struct {
	from      origins   // the origins that may use it; none: all, if it needs no credential
	kinds     auth.Kind // the kinds of credential that are good for it
	need      credential
	anonymous origins // the origins from which the owner's programs need no credential, on a hub without accounts
	query     bool    // ?token= is good
	cors      bool    // pages of the origins may read the answer
	dashboard bool    // is served at the hosts of newDashboardHost, too
	process   bool    // is about the hub's process: its owner needs no account
	ownerOnly ownerOnly
	openable  bool // GuardOptions.OpenMetrics opens it to all programs of this machine
}

// ownerOnly says on which hubs an endpoint is for the hub's owner alone, whatever credential others
// have.
type ownerOnly uint8

const (
	ownerNever        ownerOnly = iota
	ownerWithAccounts           // else one user could end the hub of all
	ownerNoAccounts             // what it makes outlives the token
)

// credential says where an endpoint takes its credential from.
type credential uint8

const (
	credRequest   credential = iota // must be in the request
	credHandshake                   // in the request, or in what follows: a socket's first message, or the body
	credNone                        // none is needed
)

// The accesses. A client's credential is good for MCP and for the relay's clients. A login of the
// dashboard is good for reading, and for its own end; one at an origin of its own also for calls,
// settings and decisions.
var (
	mcpClients     = access{from: fromProgram | fromAllowed, kinds: auth.KindOwner | auth.KindClient, cors: true}
	sseClients     = access{from: fromProgram | fromAllowed, kinds: auth.KindOwner | auth.KindClient, cors: true, query: true}
	bridges        = access{from: fromOwner, kinds: auth.KindOwner | auth.KindClient}
	tabs           = access{from: fromProgram | fromCompanion | fromExtension | fromPages, kinds: auth.KindOwner | auth.KindBrowser | auth.KindPage, need: credHandshake, anonymous: fromExtension | fromPages}
	widgets        = access{from: fromProgram | fromPages, kinds: auth.KindOwner | auth.KindPage, anonymous: fromPages}
	relayClients   = access{from: fromProgram | fromAllowed, kinds: auth.KindOwner | auth.KindClient, need: credHandshake}
	extensions     = access{from: fromProgram | fromExtension | fromAllowed, kinds: auth.KindOwner | auth.KindPage, need: credHandshake, anonymous: fromExtension}
	apiReads       = access{from: fromOwner | fromProgram | fromSelf, kinds: auth.KindOwner | auth.KindLogin, dashboard: true}
	apiWrites      = access{from: fromOwner | fromProgram | fromSelf, kinds: auth.KindOwner}
	processReads   = access{from: fromOwner | fromProgram | fromSelf, kinds: auth.KindOwner | auth.KindLogin, process: true, dashboard: true}
	metrics        = access{from: fromOwner | fromProgram | fromSelf, kinds: auth.KindOwner, process: true, ownerOnly: ownerWithAccounts, openable: true}
	processStops   = access{from: fromOwner | fromProgram | fromSelf, kinds: auth.KindOwner, process: true, ownerOnly: ownerWithAccounts}
	ownerWrites    = access{from: fromOwner | fromProgram | fromSelf, kinds: auth.KindOwner, ownerOnly: ownerNoAccounts}
	decisions      = access{from: fromOwner | fromProgram | fromSelf, kinds: auth.KindOwner | auth.KindWriter, ownerOnly: ownerNoAccounts, dashboard: true}
	actions        = access{from: fromOwner | fromProgram | fromSelf, kinds: auth.KindOwner | auth.KindWriter, dashboard: true}
	usesLogin      = access{from: fromSelf, kinds: auth.KindWriter, dashboard: true}
	fromSocket     = access{from: fromOwner, kinds: auth.KindOwner}
	signIn         = access{from: fromSelf, kinds: auth.KindOwner, need: credHandshake, dashboard: true}
	clickedPage    = access{from: fromSelf, need: credNone}
	oauthClients   = access{need: credNone, cors: true} // a page can be a client
	dashboardFiles = access{need: credNone, dashboard: true}
	public         = access{need: credNone}
)

// doorRoutes are the routes of the door itself.
var doorRoutes = []route{
	// MCP.
	{path: "/mcp", websocket: true, name: "the relay's client endpoint", access: relayClients, client: true, serve: given(func(o *Options) http.Handler { return o.Client })},
	{path: "/mcp", access: mcpClients, client: true, tenant: true, stream: true, serve: serveMCP((*mcpserver.Server).MCP)},
	{path: "/sse", access: sseClients, client: true, tenant: true, stream: true, serve: serveMCP((*mcpserver.Server).SSE)},
	{path: "/message", access: sseClients, client: true, tenant: true, serve: serveMCP((*mcpserver.Server).Message)},
	{path: "/attach", access: bridges, client: true, tenant: true, stream: true, serve: (*Server).attach},

	// Tabs and browsers.
	{path: "/tabs", access: tabs, serve: given(func(o *Options) http.Handler { return o.Tabs })},
	{path: "/", websocket: true, name: "the webmcp.v1 endpoint", access: widgets, serve: given(func(o *Options) http.Handler { return o.WebMCP })},
	{path: "/extension", access: extensions, client: true, serve: given(func(o *Options) http.Handler { return o.Extension })},
	{path: "/relay", access: extensions, client: true, serve: given(func(o *Options) http.Handler { return o.Relay })},

	// The cluster, and how pages of the dashboard sign in.
	{path: "/api/cluster", method: "GET", access: processStops, client: true, serve: cluster},
	{path: "/api/cluster/drain", method: "POST", access: processStops, client: true, serve: cluster},
	{path: "/api/cluster/drain", method: "DELETE", access: processStops, client: true, serve: cluster},
	{path: "/api/session", method: "DELETE", access: apiReads, client: true, serve: (*Server).deleteSession},
	{path: "/api/session", method: "PUT", name: "the dashboard's login", access: usesLogin, client: true, serve: (*Server).putSession},
	{path: "/api/session", method: "POST", name: "the dashboard's sign-in", access: signIn, client: true, serve: (*Server).postSession},
	{path: "/api/signin", method: "POST", access: apiWrites, client: true, tenant: true, serve: (*Server).postSignIn},
}

// otherRoutes follow those of the admin API, which are in admin.Routes.
var otherRoutes = []route{
	{path: "/api/*", method: "GET", access: apiReads, client: true, serve: noMethod},
	{path: "/api/*", access: apiWrites, client: true, serve: noMethod},

	// How clients sign in that know only the hub's address.
	{path: resourceMetadata + "*", method: "GET", access: oauthClients, serve: authorized((*authorization).getResourceMetadata)},
	{path: serverMetadata + "*", method: "GET", access: oauthClients, serve: authorized((*authorization).getServerMetadata)},
	{path: openIDMetadata + "*", method: "GET", access: oauthClients, serve: authorized((*authorization).getServerMetadata)},
	{path: oauth.RegisterPath, method: "POST", access: oauthClients, ofUser: true, serve: ifOAuth((*authorization).postRegister)},
	{path: oauth.TokenPath, method: "POST", access: oauthClients, ofUser: true, serve: ifOAuth((*authorization).postOAuthToken)},
	{path: oauth.RevokePath, method: "POST", access: oauthClients, ofUser: true, serve: ifOAuth((*authorization).postRevoke)},
	{path: oauth.AuthorizePath, method: "GET", access: public, ofUser: true, serve: ifOAuth((*authorization).getAuthorize)},
	{path: oauth.AuthorizePath, method: "POST", name: "the sign-in of clients", access: clickedPage, client: true, ofUser: true, serve: ifOAuth((*authorization).postAuthorize)},

	// The state of the process, and pages, which hold no data.
	{path: "/metrics", method: "GET", access: metrics, serve: given(func(o *Options) http.Handler { return o.Metrics })},
	{path: "/readyz", access: apiReads, tenant: true, serve: (*Server).ready, ofProcess: (*Server).processReady},
	{path: "/healthz", access: public, serve: (*Server).health},
	{path: "/", method: "GET", access: dashboardFiles, serve: (*Server).dashboard},
	{path: "/dashboard/*", method: "GET", access: dashboardFiles, serve: (*Server).dashboard},
	{path: "/*", access: public, serve: given(func(o *Options) http.Handler { return o.Pages })},
}

// apiAccess is the access to the endpoints of the admin API.
var apiAccess = map[admin.Purpose]access{
	admin.Read: apiReads, admin.Write: apiWrites, admin.Own: ownerWrites, admin.Decide: decisions,
	admin.Act: actions, admin.Process: processReads, admin.Stop: processStops, admin.Machine: fromSocket,
}

// apiRoutes returns the routes of the admin API.
func apiRoutes() (all []route) {
	for _, of := range admin.Routes {
		all = append(all, route{
			path: of.Path, method: of.Method, access: apiAccess[of.For], client: true, tenant: !of.NoTenant(), merge: of.Merge,
			serve: func(s *Server, r *endpoint.Request) error { return of.Serve(s.api, r) },
		})
	}
	return all
}

// routes is the whole table. The first row that fits a request is its route; see routeOf for a
// method that no row of its path is for.
var routes = slices.Concat(doorRoutes, apiRoutes(), otherRoutes)

// noMethod answers a request for what the admin API does not have.
func noMethod(_ *Server, r *endpoint.Request) error { return admin.NotFound(r) }

// routeOf returns the route of a request, and whether it is for the request's method. If the path has no
// row for the method, it is the first row of the path, and only its access counts.
func routeOf(r *http.Request) (rt *route, rightMethod bool) {
	for i := range routes {
		at := &routes[i]
		if rt != nil && at.path != rt.path || !at.isAt(r) {
			continue
		}
		if at.method == "" || at.method == r.Method || at.method == http.MethodGet && r.Method == http.MethodHead {
			return at, true
		}
		if rt == nil {
			rt = at
		}
	}
	if rt == nil { // for a path without a slash, as of CONNECT
		rt = &routes[len(routes)-1]
	}
	return rt, false
}

// isAt reports whether the row is for the path and the protocol of a request.
func (rt *route) isAt(r *http.Request) bool {
	if below, ok := strings.CutSuffix(rt.path, "*"); ok {
		if !strings.HasPrefix(r.URL.Path, below) {
			return false
		}
	} else if r.URL.Path != rt.path {
		return false
	}
	return !rt.websocket || isUpgrade(r, "websocket")
}

func isUpgrade(r *http.Request, protocol string) bool {
	return httpguts.HeaderValuesContainsToken(r.Header["Connection"], "Upgrade") &&
		httpguts.HeaderValuesContainsToken(r.Header["Upgrade"], protocol)
}

// admits returns an error for a credential that is not good for the endpoint.
func (rt *route) admits(id *auth.Identity) error {
	if id.Kind&rt.kinds != 0 {
		return nil
	}
	name := cmp.Or(rt.name, rt.path)
	if id.Kind&auth.KindLogin != 0 {
		return endpoint.Forbidden("this page only reads: it is not at an address of its own, or you have not used it for %d minutes. Open one with the extension's Open dashboard or `tabhub dashboard --print`, or use the tabhub command", int(writerIdle.Minutes()))
	}
	if id.Kind == auth.KindClient {
		return endpoint.Forbidden("%s is not for clients: a client's token is good for MCP alone, at /mcp and /sse and for `tabhub stdio`. The tabhub command needs none; unset TABHUB_TOKEN for it", name)
	}
	return endpoint.Forbidden("%s takes no such credential", name)
}

// withoutCredential returns what the owner's programs are at the endpoint without a credential: an MCP
// client without a name, or the owner.
func (rt *route) withoutCredential() (auth.Kind, *policy.Principal) {
	if rt.kinds&auth.KindClient != 0 {
		return auth.KindClient, policy.Unnamed
	}
	return auth.KindOwner, policy.Owner
}

var errNoCluster = &endpoint.Error{Status: http.StatusNotFound, Text: "this hub is no node of a cluster; the setting cluster makes it one"}

func cluster(s *Server, r *endpoint.Request) error {
	if s.o.Cluster == nil {
		return errNoCluster
	}
	s.o.Cluster.ServeHTTP(r.W, r.Request)
	return nil
}
