package methods

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/describe"
	"tabhub/hub/call/ledger"
	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/telemetry"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// The keys of params._meta that a request of revision 2026-07-28 has.
const (
	MetaVersion      = mcp.MetaKeyProtocolVersion
	metaClientInfo   = mcp.MetaKeyClientInfo
	metaCapabilities = mcp.MetaKeyClientCapabilities
	metaLogLevel     = mcp.MetaKeyLogLevel
	metaSubscription = mcp.MetaKeySubscriptionID
)

// Request is a message that is to be answered.
type Request struct {
	jsonrpc.Message
	ses    *Session
	out    *jsonrpc.Outbox // for its progress; nil: the client gets none
	Modern bool            // of revision 2026-07-28
	header http.Header     // of a modern Streamable HTTP request, else nil

	Wrong *jsonrpc.Error // why it is not served at all

	Gone <-chan struct{} // is closed when the HTTP request ends whose response is the answer; nil: the session's stream is

	target string            // what a call, a reading or a prompt asks for; set by begin
	seen   telemetry.Request // for the Observer
	failed bool              // it was answered with the result of a tool that has failed
	raw    json.RawMessage   // the result it was answered with, without what the hub says of it

	// Set by begin; ctx is nil if there was no room.
	ctx    context.Context
	stop   context.CancelCauseFunc
	call   *ledger.Call
	joined bool // another request has begun the call
	stored bool // the ledger stores its outcome
	isTask bool // the answer is a task
	// waiting gets something once the call, which may become a task, waits for a person; nil: it becomes none.
	waiting chan struct{}
}

// get returns a member of the parameters.
func (rq *Request) get(key string) json.RawMessage { return rawjson.Get(rq.Params, key) }

// NewRequest finds out which era a request is of and whether it has what that wants.
func NewRequest(ses *Session, out *jsonrpc.Outbox, m jsonrpc.Message) *Request {
	rq := &Request{Message: m, ses: ses, out: out}
	rq.Wrong = rq.classify()
	return rq
}

func (rq *Request) classify() *jsonrpc.Error {
	raw := rq.Meta(MetaVersion)
	if raw == nil {
		return nil
	}
	v, ok := rawjson.String(raw)
	switch {
	case !ok:
		return envelopeError("_meta " + MetaVersion + " must be a string")
	case !mcp.IsValidProtocolVersion(v):
		return UnsupportedVersion(v)
	case !mcp.IsModernProtocol(v):
		return nil
	}
	rq.Modern = true
	if c := rq.Meta(metaCapabilities); c == nil || c[0] != '{' {
		return envelopeError("_meta " + metaCapabilities + " is required: an object, {} at least")
	}
	return nil
}

// Waits reports whether answering may have to wait for a page.
func (rq *Request) Waits() bool {
	m, err := rq.method()
	return rq.Wrong == nil && err == nil && m.waits
}

// Begin has rq, if it waits, under way in the ledger. If its session has no room for it, ctx stays
// nil. answer ends what begin begins.
func (rq *Request) Begin() {
	ses := rq.ses
	if !rq.Waits() || ses.full {
		return
	}
	ctx, stop := context.WithCancelCause(ses.values)
	what := rq.asked()
	a := ledger.Ask{Session: rq.session(), Method: rq.Method, Tool: what, Hidden: what == "", Conn: ses, Stop: stop}
	if rq.Method == MethodListen {
		a.Conn = listening{ses}
	}
	if ses.ID != "" {
		a.Request, a.Body, a.Stream, a.Max = jsonrpc.IDKey(rq.ID), rq.Params, ses.Stream, ses.srv.opts.MaxInFlight
	}
	call, joined := ses.srv.hub.Ledger().Begin(a)
	if call == nil {
		stop(nil)
		return
	}
	rq.ctx, rq.stop, rq.call, rq.joined, rq.stored = ctx, stop, call, joined, what != ""
	ses.endWithSession()
	if ses.Ctx.Err() != nil { // interrupt may have been there
		stop(context.Cause(ses.Ctx))
	}
}

// listening is the connection of the requests of a session that last until they are cancelled.
type listening struct{ *Session }

// maxTool is how much of a name or URI the ledger stores, in bytes.
const maxTool = 256

// asked returns what a request asks for, "" if the ledger stores nothing of it.
func (rq *Request) asked() string {
	member := subject(rq.Method)
	if member == "" {
		return ""
	}
	what, _ := rq.Text(member)
	rq.target = what
	if len(what) > maxTool {
		what = strings.ToValidUTF8(what[:maxTool], "") + "…"
	}
	return what
}

// session names the session of a request, as far as its calls go.
func (rq *Request) session() ledger.Session {
	id := rq.ses.ID
	if id == "" {
		id = rq.agent(rq.clientName())
	}
	return rq.ses.Identity.Session(id)
}

// object returns a member of the parameters that must be an object if it is there.
func (rq *Request) object(key string) (json.RawMessage, *jsonrpc.Error) {
	v := rq.get(key)
	switch {
	case v == nil || string(v) == "null":
		return nil, nil
	case v[0] != '{':
		return nil, jsonrpc.InvalidParams(key + " must be an object")
	}
	return v, nil
}

// arguments returns those of a call of a tool: an object, which some clients send as text.
func (rq *Request) arguments() (json.RawMessage, *jsonrpc.Error) {
	text, ok := rawjson.String(rq.get("arguments"))
	if text = strings.TrimSpace(text); ok && strings.HasPrefix(text, "{") && rawjson.Valid([]byte(text), spec.MaxDepth) == nil {
		return json.RawMessage(text), nil
	}
	return rq.object("arguments")
}

// required returns a member of the parameters that must be a string; what says in an
// error what it is.
func (rq *Request) required(key, what string) (string, *jsonrpc.Error) {
	s, ok := rq.Text(key)
	if !ok || s == "" {
		return "", jsonrpc.InvalidParams(key + " is required: the " + what + ", a string")
	}
	return s, nil
}

// name returns what a client calls itself, in a length that each line of the record may have.
func (rq *Request) name(path ...string) string {
	name, _ := rq.Text(path...)
	return describe.Clean(name, spec.MaxName)
}

// clientName returns the name of the client that asks.
func (rq *Request) clientName() string {
	if rq.Modern {
		return rq.name("_meta", metaClientInfo, "name")
	}
	rq.ses.mu.Lock()
	defer rq.ses.mu.Unlock()
	return rq.ses.client
}

// capabilities returns what the client has declared, nil if nothing.
func (rq *Request) capabilities() json.RawMessage {
	if rq.Modern {
		return rq.Meta(metaCapabilities)
	}
	rq.ses.mu.Lock()
	defer rq.ses.mu.Unlock()
	return rq.ses.capabilities
}
