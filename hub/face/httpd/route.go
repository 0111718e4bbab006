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

// route is one endpoint: the requests that are for it, who may make them, and what
// serves them.
type route struct {
	path      string // "/api/*" is every path below /api/ that has no row before it
	method    string // "" for any; "GET" is for HEAD, too
	websocket bool   // the request asks for a WebSocket
	name      string // in refusals; "" for the path
	access
	ofUser bool                                             // is for the one user of a hub without accounts, whatever it needs
	merge  func(*admin.API, []byte) (answer any, err error) // puts what this node says of itself into another's answer
	ofNode func(*Server, http.ResponseWriter)               // serves it on a node of a cluster, of which it says something: no credential is needed
	client bool                                             // while it is served, the hub has a client and does not end for idleness
	tenant bool                                             // request.tenant is the caller's
	stream bool                                             // the answer to GET lasts for as long as it is read: it counts as a socket of the user
	serve  func(*Server, *endpoint.Request) error
}

// access is who may use an endpoint. The zero value lets nobody in.
type access struct {
	from      origins   // the origins that may ask; none: all, if no credential is needed
	kinds     auth.Kind // what a credential must be one of
	need      credential
	anonymous origins // the origins that need no credential of the owner's own programs, on a hub without accounts
	query     bool    // ?token= is taken
	cors      bool    // pages of the origins may read the answer
	dashboard bool    // is served at the dashboard's own hosts, too
	process   bool    // is about the hub's process, which its owner needs no account for
	ownerOnly ownerOnly
	openable  bool // GuardOptions.OpenMetrics opens it to all programs of this machine
}

// ownerOnly says on which hubs an endpoint is for the hub's owner alone, whatever
// credential others have.
type ownerOnly uint8

const (
	ownerNever        ownerOnly = iota
	ownerWithAccounts           // else one user could end the hub of all
	ownerNoAccounts             // what is made there outlives the token
)

// credential says where an endpoint takes its credential from.
type credential uint8

const (
	credRequest   credential = iota // must be in the request
	credHandshake                   // in the request, or in what follows: a socket's first message, or the body
	credNone                        // open to all that pass the Host check
)

// Who may use what. A client's credential is good for MCP and for the relay's clients, a
// session of the dashboard for reading, and for its own end; one at an origin of its own
// also for calls, settings and what decides.
var (
	mcpClients   = access{from: fromProgram | fromAllowed, kinds: auth.KindOwner | auth.KindClient, cors: true}
	sseClients   = access{from: fromProgram | fromAllowed, kinds: auth.KindOwner | auth.KindClient, cors: true, query: true}
	bridges      = access{from: fromOwner, kinds: auth.KindOwner | auth.KindClient}
	tabs         = access{from: fromProgram | fromCompanion | fromExtension | fromPages, kinds: auth.KindOwner | auth.KindBrowser | auth.KindPage, need: credHandshake, anonymous: fromExtension | fromPages}
	widgets      = access{from: fromProgram | fromPages, kinds: auth.KindOwner | auth.KindPage, anonymous: fromPages}
	relayClients = access{from: fromProgram | fromAllowed, kinds: auth.KindOwner | auth.KindClient, need: credHandshake}
	extensions   = access{from: fromProgram | fromExtension | fromAllowed, kinds: auth.KindOwner | auth.KindPage, need: credHandshake, anonymous: fromExtension}
	reads        = access{from: fromOwner | fromProgram | fromSelf, kinds: auth.KindOwner | auth.KindSession, dashboard: true}
	writes       = access{from: fromOwner | fromProgram | fromSelf, kinds: auth.KindOwner}
	ofProcess    = access{from: fromOwner | fromProgram | fromSelf, kinds: auth.KindOwner | auth.KindSession, process: true, dashboard: true}
	measures     = access{from: fromOwner | fromProgram | fromSelf, kinds: auth.KindOwner, process: true, ownerOnly: ownerWithAccounts, openable: true}
	stops        = access{from: fromOwner | fromProgram | fromSelf, kinds: auth.KindOwner, process: true, ownerOnly: ownerWithAccounts}
	lasting      = access{from: fromOwner | fromProgram | fromSelf, kinds: auth.KindOwner, ownerOnly: ownerNoAccounts}
	decides      = access{from: fromOwner | fromProgram | fromSelf, kinds: auth.KindOwner | auth.KindWriter, ownerOnly: ownerNoAccounts, dashboard: true}
	acts         = access{from: fromOwner | fromProgram | fromSelf, kinds: auth.KindOwner | auth.KindWriter, dashboard: true}
	stays        = access{from: fromSelf, kinds: auth.KindWriter, dashboard: true}
	fromSocket   = access{from: fromOwner, kinds: auth.KindOwner}
	signIn       = access{from: fromSelf, kinds: auth.KindOwner, need: credHandshake, dashboard: true}
	ownPage      = access{from: fromSelf, need: credNone}
	oauthClients = access{need: credNone, cors: true} // a page can be a client
	ownFiles     = access{need: credNone, dashboard: true}
	everybody    = access{need: credNone}
)

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
	{path: "/api/cluster", method: "GET", access: stops, client: true, serve: (*Server).getCluster},
	{path: "/api/cluster/drain", method: "POST", access: stops, client: true, serve: (*Server).postDrain},
	{path: "/api/cluster/drain", method: "DELETE", access: stops, client: true, serve: (*Server).deleteDrain},
	{path: "/api/session", method: "DELETE", access: reads, client: true, serve: (*Server).deleteSession},
	{path: "/api/session", method: "PUT", name: "the dashboard's session", access: stays, client: true, serve: (*Server).putSession},
	{path: "/api/session", method: "POST", name: "the dashboard's sign-in", access: signIn, client: true, serve: (*Server).postSession},
	{path: "/api/signin", method: "POST", access: writes, client: true, tenant: true, serve: (*Server).postSignIn},
}

// otherRoutes follow those of the admin API, which are in admin.Routes.
var otherRoutes = []route{
	{path: "/api/*", method: "GET", access: reads, client: true, serve: noMethod},
	{path: "/api/*", access: writes, client: true, serve: noMethod},

	// How clients get in that know nothing but the hub's address.
	{path: resourceMetadata + "*", method: "GET", access: oauthClients, serve: (*Server).getResourceMetadata},
	{path: serverMetadata + "*", method: "GET", access: oauthClients, serve: (*Server).getServerMetadata},
	{path: openIDMetadata + "*", method: "GET", access: oauthClients, serve: (*Server).getServerMetadata},
	{path: oauth.RegisterPath, method: "POST", access: oauthClients, ofUser: true, serve: ifOAuth((*Server).postRegister)},
	{path: oauth.TokenPath, method: "POST", access: oauthClients, ofUser: true, serve: ifOAuth((*Server).postOAuthToken)},
	{path: oauth.RevokePath, method: "POST", access: oauthClients, ofUser: true, serve: ifOAuth((*Server).postRevoke)},
	{path: oauth.AuthorizePath, method: "GET", access: everybody, ofUser: true, serve: ifOAuth((*Server).getAuthorize)},
	{path: oauth.AuthorizePath, method: "POST", name: "the sign-in of clients", access: ownPage, client: true, ofUser: true, serve: ifOAuth((*Server).postAuthorize)},

	// How the process is, and pages, which hold no data.
	{path: "/metrics", method: "GET", access: measures, serve: given(func(o *Options) http.Handler { return o.Metrics })},
	{path: "/readyz", access: reads, tenant: true, serve: (*Server).ready, ofNode: (*Server).nodeReady},
	{path: "/healthz", access: everybody, serve: (*Server).health},
	{path: "/", method: "GET", access: ownFiles, serve: (*Server).dashboard},
	{path: "/dashboard/*", method: "GET", access: ownFiles, serve: (*Server).dashboard},
	{path: "/*", access: everybody, serve: given(func(o *Options) http.Handler { return o.Pages })},
}

// apiAccess is who may use the endpoints of the admin API.
var apiAccess = map[admin.Purpose]access{
	admin.Read: reads, admin.Write: writes, admin.Own: lasting, admin.Decide: decides,
	admin.Act: acts, admin.Process: ofProcess, admin.Stop: stops, admin.Machine: fromSocket,
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

// routeOf returns the route of a request, and whether it is for the request's method. If no
// row of the path is, it is the first of them, and only its access counts.
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
	if id.Kind&auth.KindSession != 0 {
		return endpoint.Forbidden("this page only reads: it is not at an address of its own, or nobody has used it for %d minutes. Open one with the extension's Open dashboard or `tabhub dashboard --print`, or use the tabhub command", int(writerIdle.Minutes()))
	}
	if id.Kind == auth.KindClient {
		return endpoint.Forbidden("%s is not for clients: a client's token is good for MCP alone, at /mcp and /sse and for `tabhub stdio`. The tabhub command needs none; unset TABHUB_TOKEN for it", name)
	}
	return endpoint.Forbidden("%s takes no such credential", name)
}

// nobodys is who the owner's own programs are at the endpoint without a credential: an MCP
// client of which nothing is known, or the owner.
func (rt *route) nobodys() (auth.Kind, *policy.Principal) {
	if rt.kinds&auth.KindClient != 0 {
		return auth.KindClient, policy.Unnamed
	}
	return auth.KindOwner, policy.Owner
}
