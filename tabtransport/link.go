package tabtransport

import (
	"context"
	"encoding/json"
	"time"

	"tabhub/spec"
)

// Attacher is where wires attach their connections: the hub's side of them, in this
// process or another. It is safe for concurrent use.
type Attacher interface {
	// Attach asks the hub which peer a connection belongs to and attaches it, in
	// place of an earlier connection of that peer. makeLink is called once the
	// hub has accepted it and before anything is sent over the link, so what it sends
	// comes first; it must not block. The link may be used before Attach returns.
	//
	// Attach blocks until the hub has decided, and until it has handled the last
	// message of the replaced connection; ctx bounds only the wait for a hub that is
	// not open yet. The error is the hub's refusal, preferably an *spec.Error, or ctx's.
	Attach(ctx context.Context, conn Conn, makeLink func(Accepted) Link) (Attachment, error)
}

// Attachment is what a wire reports to of one connection. It ends when the wire says
// Leave, when another connection takes its place or when the hub gives the peer up;
// messages of one that has ended are dropped. All methods are safe for concurrent use.
// Answer and Progress do not block; Message, Register and Leave return when the hub
// has handled them.
type Attachment interface {
	// Peer returns the peer that the hub has found the connection to be of.
	Peer() spec.PeerID
	// Epoch returns the epoch of the hub that accepted the connection.
	Epoch() spec.Epoch
	// Message passes on a message; id is nil for a notification. Calls do not overlap.
	// The attachment itself answers a spec.ResumeCall.
	Message(tab int64, id json.RawMessage, msg spec.Inbound)
	// Register is Message for a registration that may take long to read: messages do
	// not wait for it. The caller sees to it that those of one tab come one at a time.
	Register(tab int64, id json.RawMessage, msg *spec.Register)
	// Answer ends the request id of a tab, or of AnyTab, with what read returns for
	// it: a response, or the tab's error. It returns false, and does not call read, if
	// the peer did not get such a request, if a later connection has sent it again or
	// resumed it, or if it is no longer pending. The answer may come over an attachment
	// that has ended.
	Answer(tab int64, id string, read func(spec.Request) (spec.Response, error)) bool
	// Progress passes on progress of a request, with AnyTab of any tab. It returns
	// false where Answer would.
	Progress(tab int64, msg spec.Progress) bool
	// Retire says that the wire is about to close the connection, because its path ends. No
	// further request is sent over it: the peer counts as away. Retire blocks until the sent
	// ones are answered or ctx is done, and does not wait for a peer that resumes. Leave must
	// follow.
	Retire(ctx context.Context)
	// Leave says that the connection is lost. The wire calls it once, after its last
	// Message. A nil cause stands for a connection that was closed in good order. What was
	// sent to a peer without a session is lost with its connection.
	Leave(cause error)
}

// AnyTab stands for every tab of a peer in what an answer or progress comes from.
const AnyTab int64 = -1

// Link is how the hub reaches the peer of an attachment. No method blocks for
// longer than it takes to queue or write one frame; all are safe for concurrent use
// and may be called after the connection was lost.
type Link interface {
	// Send queues or writes a request. It calls out.Sending just before the bytes
	// leave, and drops the request if that returns false. If it will never write a
	// request that it has queued, it calls out.Unsent. The error is ErrNotConnected,
	// ErrBusy or ErrUnsupported, and means that the request was not sent.
	Send(out Outgoing) error
	// Cancel tells the tab that the request id is no longer waited for.
	Cancel(tab int64, id, reason string)
	// Respond answers a message of the tab.
	Respond(tab int64, id json.RawMessage, result any, err *spec.Error)
	// Close ends the connection. It does not wait, and may be called twice.
	Close(code spec.CloseCode, reason string)
}

// Resender is a Link whose peer may have spec.CapResume.
type Resender interface {
	// Resend sends a request again that was first sent so long ago, over an earlier
	// connection. It asks for no claim. If it fails, the next connection is the next
	// chance.
	Resend(out Outgoing, ago time.Duration)
}

// Outgoing is a request on its way to a tab.
type Outgoing struct {
	ID      string
	Tab     int64
	Request spec.Request
	For     string // as in Wait
	Claim
}

// Claim decides whether a request may still be sent. A request may be given up until
// then; from then on it counts as one that may have reached the tab. Both methods are
// called in the process of the link and do not block: a link to another process, which
// nothing can be called back from, sends before it forwards.
type Claim interface {
	// Sending marks the request as sent. It returns false if the request was given up
	// or its attachment has ended: then it must not be sent.
	Sending() bool
	// Unsent ends the request with ErrNotConnected, unless it was sent.
	Unsent()
}
