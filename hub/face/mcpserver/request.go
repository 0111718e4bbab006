package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/describe"
	"tabhub/hub/call/ledger"
	"tabhub/hub/telemetry"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// The keys of params._meta that a request of revision 2026-07-28 has.
const (
	metaVersion      = mcp.MetaKeyProtocolVersion
	metaClientInfo   = mcp.MetaKeyClientInfo
	metaCapabilities = mcp.MetaKeyClientCapabilities
	metaLogLevel     = mcp.MetaKeyLogLevel
	metaSubscription = mcp.MetaKeySubscriptionID
)

// request is a message that is to be answered.
type request struct {
	message
	ses    *session
	out    *outbox     // where its progress is told; nil: the client cannot be told
	modern bool        // of revision 2026-07-28
	header http.Header // of a modern Streamable HTTP request, else nil

	wrong *rpcError // why it is not served at all

	http context.Context // of the HTTP request whose response is the answer; nil: the session's stream is

	target string            // what a call, a reading or a prompt asks for; set by begin
	seen   telemetry.Request // for the Observer
	failed bool              // it was answered with the result of a tool that has failed
	raw    json.RawMessage   // the result it was answered with, without what the hub says of it

	// Set by begin; ctx is nil if there was no room.
	ctx    context.Context
	stop   context.CancelCauseFunc
	call   *ledger.Call
	joined bool // another request has begun the call
	kept   bool // what becomes of it is kept
	isTask bool // the answer is a task
	// waiting gets something once the call, which may become a task, waits for a person; nil: it becomes none.
	waiting chan struct{}
}

// get returns a member of the parameters.
func (rq *request) get(key string) json.RawMessage { return rawjson.Get(rq.params, key) }

// accept sees to a message that is not to be answered, and returns nil, or returns
// it as a request.
func (s *Server) accept(ses *session, out *outbox, m message) *request {
	switch {
	case m.response:
		ses.answered(m)
	case m.id != nil:
		return newRequest(ses, out, m)
	case m.method == "notifications/cancelled":
		if m.params != nil {
			ses.cancelRequest(rawjson.Get(m.params, "requestId"))
		}
	case m.method == FarewellMethod && ses.outlives:
		ses.leaves()
	case m.method == "notifications/initialized", m.method == "initialized":
		ses.initialized()
	}
	return nil
}

// newRequest finds out which era a request is of and whether it has what that wants.
func newRequest(ses *session, out *outbox, m message) *request {
	rq := &request{message: m, ses: ses, out: out}
	rq.wrong = rq.classify()
	return rq
}

func (rq *request) classify() *rpcError {
	raw := rq.meta(metaVersion)
	if raw == nil {
		return nil
	}
	v, ok := rawjson.String(raw)
	switch {
	case !ok:
		return envelopeError("_meta " + metaVersion + " must be a string")
	case !mcp.IsValidProtocolVersion(v):
		return unsupportedVersion(v)
	case !mcp.IsModernProtocol(v):
		return nil
	}
	rq.modern = true
	if c := rq.meta(metaCapabilities); c == nil || c[0] != '{' {
		return envelopeError("_meta " + metaCapabilities + " is required: an object, {} at least")
	}
	return nil
}

// waits reports whether answering may have to wait for a page.
func (rq *request) waits() bool {
	if rq.wrong != nil {
		return false
	}
	switch rq.method {
	case "tools/call", "resources/read", "prompts/get", "completion/complete", "resources/subscribe", "resources/unsubscribe", methodListen:
		return true
	}
	return false
}

// begin has rq, if it waits, under way in the ledger. If its session has no room for it, ctx stays
// nil. answer ends what begin begins.
func (rq *request) begin() {
	ses := rq.ses
	if !rq.waits() || ses.full {
		return
	}
	ctx, stop := context.WithCancelCause(ses.values)
	what := rq.asked()
	a := ledger.Ask{Session: rq.session(), Method: rq.method, Tool: what, Hidden: what == "", Conn: ses, Stop: stop}
	if rq.method == methodListen {
		a.Conn = listening{ses}
	}
	if ses.id != "" {
		a.Request, a.Body, a.Stream, a.Max = idKey(rq.id), rq.params, ses.stream, ses.srv.opts.MaxInFlight
	}
	call, joined := ses.srv.hub.Ledger().Begin(a)
	if call == nil {
		stop(nil)
		return
	}
	rq.ctx, rq.stop, rq.call, rq.joined, rq.kept = ctx, stop, call, joined, what != ""
	ses.hook()
	if ses.ctx.Err() != nil { // interrupt may have been there
		stop(context.Cause(ses.ctx))
	}
}

// listening is the connection of the requests of a session that last until they are cancelled.
type listening struct{ *session }

// maxTool is how much of a name or URI is kept, in bytes.
const maxTool = 256

// asked returns what a request asks for, "" if nothing is kept of it.
func (rq *request) asked() string {
	member := "name"
	switch rq.method {
	case "resources/read":
		member = "uri"
	case "tools/call", "prompts/get":
	default:
		return ""
	}
	what, _ := rq.text(member)
	rq.target = what
	if len(what) > maxTool {
		what = strings.ToValidUTF8(what[:maxTool], "") + "…"
	}
	return what
}

// session names the session of a request, as far as its calls go.
func (rq *request) session() ledger.Session {
	id := rq.ses.id
	if id == "" {
		id = rq.agent(rq.clientName())
	}
	return rq.ses.identity.session(id)
}

// session names a session of the client, as far as its calls go.
func (of *identity) session(id string) ledger.Session {
	return ledger.Session{Client: consent.Party(of.who, of.bound), ID: id}
}

// answer answers rq within its session; ok is false if there is nothing to be said.
func (rq *request) answer() (f frame, ok bool) {
	f, _, ok = rq.ses.srv.answer(rq.ses.ctx, rq)
	return f, ok
}

// object returns a member of the parameters that must be an object if it is there.
func (rq *request) object(key string) (json.RawMessage, *rpcError) {
	v := rq.get(key)
	switch {
	case v == nil || string(v) == "null":
		return nil, nil
	case v[0] != '{':
		return nil, invalidParams(key + " must be an object")
	}
	return v, nil
}

// arguments returns those of a call of a tool: an object, which some clients send as text.
func (rq *request) arguments() (json.RawMessage, *rpcError) {
	text, ok := rawjson.String(rq.get("arguments"))
	if text = strings.TrimSpace(text); ok && strings.HasPrefix(text, "{") && rawjson.Valid([]byte(text), spec.MaxDepth) == nil {
		return json.RawMessage(text), nil
	}
	return rq.object("arguments")
}

// required returns a member of the parameters that must be a string; what says in an
// error what it is.
func (rq *request) required(key, what string) (string, *rpcError) {
	s, ok := rq.text(key)
	if !ok || s == "" {
		return "", invalidParams(key + " is required: the " + what + ", a string")
	}
	return s, nil
}

// name returns what a client calls itself, in a length that each line of the record may have.
func (rq *request) name(path ...string) string {
	name, _ := rq.text(path...)
	return describe.Clean(name, spec.MaxName)
}

// clientName returns the name of the client that asks.
func (rq *request) clientName() string {
	if rq.modern {
		return rq.name("_meta", metaClientInfo, "name")
	}
	rq.ses.mu.Lock()
	defer rq.ses.mu.Unlock()
	return rq.ses.client
}

// capabilities returns what the client has declared, nil if nothing.
func (rq *request) capabilities() json.RawMessage {
	if rq.modern {
		return rq.meta(metaCapabilities)
	}
	rq.ses.mu.Lock()
	defer rq.ses.mu.Unlock()
	return rq.ses.capabilities
}
