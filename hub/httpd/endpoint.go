package httpd

import (
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// origins is a set of kinds of Origin header; a header can be of several.
type origins uint8

const (
	fromProgram   origins = 1 << iota // no Origin header
	fromCompanion                     // the companion extension, as far as the header goes
	fromExtension                     // a listed browser extension
	fromLoopback                      // a page served from this machine
	fromAllowed                       // listed by --allow-origin
	fromSelf                          // a page of this hub
	fromOwner                         // a program of the user who runs the hub: see ServeOwner
)

// credential says where an endpoint takes its credential from.
type credential uint8

const (
	credNone      credential = iota // open to all that pass the Host check
	credRequest                     // must be in the request
	credHandshake                   // in the request, or in what follows: a socket's first message, or the body
)

// endpoint is what the guard must know of one endpoint.
type endpoint struct {
	name      string
	from      origins // the origins that may ask
	need      credential
	anonymous origins // the origins that need no credential of the owner's own programs, on a hub without accounts
	query     bool    // ?token= is taken
	session   bool    // the session of a dashboard's page is taken for a credential; it may only read, and end
	cors      bool    // pages of the origins may read the answer
	process   bool    // is about the hub's process, which its owner needs no account for
}

// endpointOf says what endpoint a request is for. It is the whole access table.
func endpointOf(r *http.Request) endpoint {
	ws := isUpgrade(r, "websocket")
	switch path := r.URL.Path; {
	case path == "/mcp" && ws:
		return endpoint{name: "the relay's client endpoint", from: fromProgram | fromAllowed, need: credHandshake}
	case path == "/mcp":
		return endpoint{name: "/mcp", from: fromProgram | fromAllowed, need: credRequest, cors: true}
	case path == "/sse", path == "/message":
		return endpoint{name: path, from: fromProgram | fromAllowed, need: credRequest, query: true, cors: true}
	case path == "/tabs":
		pages := fromExtension | fromLoopback | fromAllowed | fromSelf
		return endpoint{name: path, from: fromProgram | fromCompanion | pages, need: credHandshake, anonymous: pages}
	case path == "/" && ws && offers(r, "webmcp-relay.v1"):
		return endpoint{name: "the webmcp-relay.v1 endpoint", from: fromProgram, need: credRequest}
	case path == "/" && ws:
		pages := fromLoopback | fromAllowed | fromSelf
		return endpoint{name: "the webmcp.v1 endpoint", from: fromProgram | pages, need: credRequest, anonymous: pages}
	case path == "/extension", path == "/relay":
		return endpoint{name: path, from: fromProgram | fromExtension | fromAllowed, need: credHandshake, anonymous: fromExtension}
	case path == "/attach":
		return endpoint{name: path, from: fromOwner, need: credRequest}
	case path == "/api/session" && r.Method == http.MethodPost:
		return endpoint{name: "the dashboard's sign-in", from: fromSelf, need: credHandshake}
	case path == "/api/session":
		return endpoint{name: path, from: fromOwner | fromProgram | fromSelf, need: credRequest, session: true}
	case path == "/api/status", path == "/api/stop":
		return endpoint{name: path, from: fromOwner | fromProgram | fromSelf, need: credRequest, session: reads(r), process: true}
	case strings.HasPrefix(path, "/api/"), path == "/readyz":
		return endpoint{name: path, from: fromOwner | fromProgram | fromSelf, need: credRequest, session: reads(r)}
	default:
		return endpoint{name: path, need: credNone}
	}
}

// reads reports whether a request changes nothing.
func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// offers reports whether the client of a WebSocket would speak a subprotocol.
func offers(r *http.Request, subprotocol string) bool {
	return httpguts.HeaderValuesContainsToken(r.Header["Sec-Websocket-Protocol"], subprotocol)
}

func isUpgrade(r *http.Request, protocol string) bool {
	return httpguts.HeaderValuesContainsToken(r.Header["Connection"], "Upgrade") &&
		httpguts.HeaderValuesContainsToken(r.Header["Upgrade"], protocol)
}
