package relay

import (
	"encoding/json"

	"tabhub/spec"
)

// dialect is how messages look to one kind of peer: jsonrpc, the MCP Proxy Protocol
// 1.0, and plain, its predecessor. Its methods are pure; each returns a whole frame.
type dialect interface {
	// bare reports whether messages need no ids: a client's request without one is
	// answered all the same, and what an extension sends is known by its tab.
	bare() bool
	// notice is a notification to a peer. Of the predecessor's peers only extensions
	// get any.
	notice(method string, params any) []byte
	// released tells an extension that a client has given up its connection.
	released(conn string) []byte
	// failure answers a request that was not served. conn names the connection it is
	// about, or is "".
	failure(id json.RawMessage, conn string, err *spec.Error) []byte

	// request passes a client's message on to an extension.
	request(e *envelope, id outboundID) []byte
	// answer passes an extension's answer on to the client that asked under id.
	answer(e *envelope, id json.RawMessage, conn string) []byte
	// event passes on what an extension sent unasked.
	event(e *envelope, conn string) []byte
}

// clientDialect is also how the relay itself answers a client.
type clientDialect interface {
	dialect
	// waits reports whether a connection outlasts a brief absence of its extension.
	waits() bool
	// ended tells a client that its connection is no more, as its extension is not.
	ended(conn string) []byte
	// result answers a control request.
	result(id json.RawMessage, v any) []byte
	// handshake, connect and disconnect serve the control methods that differ; notConnected
	// answers a connect that is refused.
	handshake(p *clientPeer)
	connect(p *clientPeer)
	notConnected(p *clientPeer, err *spec.Error)
	disconnect(p *clientPeer)
}

// clientGone is why a connection was released.
const clientGone = "MCP client disconnected"

// outboundID is the id of a request on its way to an extension:
// <connection>:<what the client's id says>, the latter made different where it would
// meet another. The zero value of text means that there is none.
type outboundID struct {
	conn string
	text string
}

// listing answers list_extensions.
type listing struct {
	Extensions []listed `json:"extensions"`
}

type listed struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Connected bool   `json:"connected"`
	Version   string `json:"version,omitempty"`
}

// marshal encodes one of the relay's own small messages.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("relay: a message of its own cannot be encoded: " + err.Error())
	}
	return b
}
