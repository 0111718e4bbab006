package tabtransport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tabhub/spec"
)

// Errors of SendRequest. Each says what a caller must know before it may send a request
// again: whether it can have reached the tab.
var (
	// ErrNotConnected: the peer has no connection now. The request was not sent.
	ErrNotConnected = errors.New("tab is not connected")
	// ErrBusy: the peer's outgoing queue is full, or the request was still in it
	// when its time was up. It was not sent.
	ErrBusy = errors.New("tab does not read its messages")
	// ErrLost: the request may have been sent and its answer can no longer come.
	ErrLost = errors.New("tab went away before it answered")
	// ErrNotContinued is an ErrLost: the page went on to another document, which was to
	// resume the call and has not.
	ErrNotContinued = fmt.Errorf("%w: the page went on to another document, which has not resumed the call", ErrLost)
	// ErrTimeout: the request was sent and not answered in time; a connected tab gets a
	// cancellation.
	ErrTimeout = errors.New("tab did not answer in time")
	// ErrUnsupported: the peer's dialect has no such request. It was not sent.
	ErrUnsupported = errors.New("the tab's protocol has no such request")
	// ErrLeft is, or is in, the cause of a context whose end leaves its request running:
	// the tab gets no cancellation, and Resume can ask for the answer.
	ErrLeft = errors.New("the request was left to be resumed")
)

// TabHubTransport carries requests to tabs and messages from them (spec/PROTOCOL.md,
// "Transport"). An implementation serves one user. All methods are
// safe for concurrent use.
type TabHubTransport interface {
	// SendRequest sends req and blocks until the tab answers, the wait is over or
	// ctx is done. When ctx ends or the time runs out, the tab is sent
	// browser/cancel, if it is connected then. A request that was sent survives the loss of its connection:
	// it goes on waiting for the same peer to come back and answer, until
	// Disconnect is called for it. If its page has said that it continues, it waits for up to
	// spec.ContinueWait for a later document of the tab to resume it, also when the peer is
	// given up meanwhile, with code 0. An *spec.Error is the tab's own answer.
	SendRequest(ctx context.Context, to spec.TabAddr, req spec.Request, wait Wait) (spec.Response, error)

	// Resume takes up a call that was sent by another process, or left with ErrLeft, and
	// returns what blocks for its answer as SendRequest does: once. It does not block, and
	// is to be called before Handle, so that the tab cannot answer before. The tab is
	// asked under the call's own id, once it is connected, for what it knows of it; it
	// begins nothing. A tab of another session has forgotten it: ErrLost. The Timeout of
	// wait begins now; its Sending is not called.
	Resume(to spec.TabAddr, sent Sent, wait Wait) (answer func(context.Context) (spec.Response, error))

	// Respond answers a message that carried an id. A nil err sends result. It
	// does not block; an answer to a peer that has gone is dropped.
	Respond(to spec.TabAddr, id json.RawMessage, result any, err *spec.Error)

	// Disconnect gives up on a tab (MCP-B: disconnect): its open requests end with
	// ErrLost, or with ErrNotConnected if they were not sent. For a whole peer (Tab 0)
	// its connection is closed with code, too. Code 0 is for a peer that is away: if it
	// has come back, nothing happens. Disconnect does not block, and does nothing for a tab
	// or peer that has gone.
	Disconnect(to spec.TabAddr, code spec.CloseCode, reason string)

	// Handle sets the Handler of connections and messages (MCP-B: onMessage,
	// onDisconnect). It must be called once; connections that come earlier wait.
	Handle(Handler)
}

// Wait bounds a request.
type Wait struct {
	// Timeout is how long to wait for an answer; 0 means spec.ControlTimeout.
	Timeout time.Duration
	// Max, if longer than Timeout, is how far progress may extend the wait in all:
	// each progress message starts Timeout anew.
	Max time.Duration
	// Person is how long to wait, in all, for the person in front of the tab, while the
	// latest progress says that the call does; 0 means no longer than for anything else.
	Person time.Duration
	// Progress, if not nil, is called for each progress message, one at a time, in
	// order, never after SendRequest has returned. It must not block.
	Progress func(spec.Progress)
	// For names the client that makes the request, for the owner to read; "" for a request of
	// the hub itself. Only paired browsers get it.
	For string
	// Sending, if not nil, is called before the request is given to a connection, again if
	// that could not send it: by what Resume will find the request. The request waits for
	// its return, and is not sent with an error: SendRequest returns that.
	Sending func(Sent) error
	// SentAt, if not nil, is set to when the request is handed to a connection, just before its
	// bytes leave. It may be read once SendRequest has returned, and is left as it was if nothing
	// was sent.
	SentAt *time.Time
}

// Sent is by what a tab knows a request that it was sent.
type Sent struct {
	ID      string    `json:"id"`
	Session string    `json:"session"` // of the tab's peer; "": it forgets its calls with its connection
	At      time.Time `json:"at"`
}

// Handler gets the events of peers. For one peer the calls come one at a time and in
// order: Connect, then any Message, then Disconnected. There are two
// exceptions. When a connection is replaced, its last Message may still be under way
// while Connect is called, but not when the new one's first Message comes. And while a
// tab's registration is read, other messages of the peer may come: of any tab, but no
// other registration of the same one. No method may block on the network, or wait for
// a request or an attachment of its own transport.
type Handler interface {
	// Connect is called when a peer has said hello (or, for a proxy without hello,
	// at its first message). It decides which peer this is. An error, best an
	// *spec.Error, refuses it. If the peer named by Accepted.Peer already has a
	// connection, the new one replaces it: the old is closed with CloseReplaced
	// and no Disconnected is sent for it.
	Connect(conn Conn) (Accepted, error)

	// Message is called for each message of a tab. id is nil for a notification;
	// otherwise the handler calls Respond once, at any time.
	Message(from spec.TabAddr, id json.RawMessage, msg spec.Inbound)

	// Disconnected is called when a peer's connection is lost, but not when
	// Disconnect has ended it. The peer's open requests go on waiting until the
	// handler calls Disconnect.
	Disconnected(peer spec.PeerID, cause error)
}

// Conn describes a new connection. It is immutable.
type Conn struct {
	// Origin is the Origin header of the WebSocket request, which a browser sets
	// and a page cannot: "" for a program.
	Origin string
	// Attested is set when the peer is an extension that the hub believes (the
	// companion one, which has proved its pairing, or one that the owner has listed)
	// or a tab inside this process: it reports tab URLs and frame origins as the browser
	// does.
	Attested bool
	// Pairing is the pairing that the peer has proved, "" if none.
	Pairing spec.PairingID
	// ClaimedOrigin is the page's origin by the dialect's hello, "" if it names none.
	ClaimedOrigin string
	// Dialect names the wire language: "tabhub.v1", "webmcp.v1", …
	Dialect string
	// Remote is the network address of the peer.
	Remote string
	// Hello is the peer's hello; a dialect without one makes it up as far as it
	// can, and it is nil for a proxy that starts with registerTools.
	Hello *spec.Hello
}

// Accepted is the handler's answer to Connect.
type Accepted struct {
	Peer   spec.PeerID
	Epoch  spec.Epoch // of the hub that answers
	Result spec.HelloResult
}
