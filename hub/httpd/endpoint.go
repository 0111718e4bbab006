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
	credHandshake                   // in the request, or in the first message of the socket
)

// endpoint is what the guard must know of one endpoint.
type endpoint struct {
	name      string
	from      origins // the origins that may ask
	need      credential
	anonymous origins // the origins that need no credential on this machine, on a hub without accounts
	query     bool    // ?token= is taken
	cookie    bool    // the dashboard's cookie is taken
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
		return endpoint{name: path, from: fromProgram | pages, need: credHandshake, anonymous: pages}
	case path == "/" && ws && offers(r, "webmcp-relay.v1"):
		return endpoint{name: "the webmcp-relay.v1 endpoint", from: fromProgram, need: credRequest}
	case path == "/" && ws:
		pages := fromLoopback | fromAllowed | fromSelf
		return endpoint{name: "the webmcp.v1 endpoint", from: fromProgram | pages, need: credRequest, anonymous: pages}
	case path == "/extension", path == "/relay":
		return endpoint{name: path, from: fromProgram | fromExtension | fromAllowed, need: credHandshake, anonymous: fromExtension}
	case path == "/attach":
		return endpoint{name: path, from: fromOwner, need: credRequest}
	case path == "/":
		return endpoint{name: "the dashboard", from: fromProgram | fromSelf, need: credRequest, query: true, cookie: true}
	case path == "/api/status", path == "/api/stop":
		return endpoint{name: path, from: fromOwner | fromProgram | fromSelf, need: credRequest, cookie: true, process: true}
	case strings.HasPrefix(path, "/api/"), path == "/readyz":
		return endpoint{name: path, from: fromOwner | fromProgram | fromSelf, need: credRequest, cookie: true}
	default:
		return endpoint{name: path, need: credNone}
	}
}

// offers reports whether the client of a WebSocket would speak a subprotocol.
func offers(r *http.Request, subprotocol string) bool {
	return httpguts.HeaderValuesContainsToken(r.Header["Sec-Websocket-Protocol"], subprotocol)
}

func isUpgrade(r *http.Request, protocol string) bool {
	return httpguts.HeaderValuesContainsToken(r.Header["Connection"], "Upgrade") &&
		httpguts.HeaderValuesContainsToken(r.Header["Upgrade"], protocol)
}
