package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/hub"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// request is a message that is to be answered.
type request struct {
	message
	ses    *session
	out    *outbox     // where its progress is told; nil: the client cannot be told
	modern bool        // of revision 2026-07-28
	header http.Header // of a modern Streamable HTTP request, else nil

	wrong *rpcError // why it is not served at all

	// Set by begin.
	ctx  context.Context
	done func()
}

// get returns a member of the parameters.
func (rq *request) get(key string) json.RawMessage {
	if rq.params == nil {
		return nil
	}
	return rawjson.Get(rq.params, key)
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

// envelopeError is what a request gets that lacks what each of its era must have.
func envelopeError(text string) *rpcError {
	e := invalidParams(text)
	e.status = http.StatusBadRequest
	return e
}

func unsupportedVersion(v string) *rpcError {
	data, _ := json.Marshal(mcp.UnsupportedProtocolVersionData{Supported: mcp.ValidProtocolVersions, Requested: v})
	return &rpcError{code: codeUnsupported, message: "Unsupported protocol version", data: data, status: http.StatusBadRequest}
}

// waits reports whether answering may have to wait for a page.
func (rq *request) waits() bool {
	if rq.wrong != nil {
		return false
	}
	switch rq.method {
	case "tools/call", "resources/read", "prompts/get", "resources/subscribe", "resources/unsubscribe", methodListen:
		return true
	}
	return false
}

// begin notes rq as under way in its session, which must have room for it: else ctx
// stays nil. It is for requests that wait, and answer ends what it begins.
func (rq *request) begin(parent context.Context) {
	if ctx, done, ok := rq.ses.start(parent, rq.id, rq.method == methodListen); ok {
		rq.ctx, rq.done = ctx, done
	}
}

// answer answers rq, which has begun if it waits. ok is false if there is nothing to
// be said, because the request was cancelled. status is the HTTP status of a modern
// request's answer.
func (s *Server) answer(ctx context.Context, rq *request) (f frame, status int, ok bool) {
	var err error
	switch {
	case rq.wrong != nil:
		err = rq.wrong
	case !rq.waits():
		f, err = s.serveNow(rq)
	case rq.ctx == nil:
		f, err = s.refuse(rq, &hub.Failure{Code: spec.FailQueueFull,
			Message: "too many requests of this client are under way: wait for answers first"})
	default:
		f, err = s.serveSlow(rq.ctx, rq)
		rq.done()
	}
	if err == nil {
		return f, http.StatusOK, true
	}
	if errors.Is(err, errSilent) {
		return frame{}, 0, false
	}
	e := s.rpcError(rq, err)
	if status = e.status; status == 0 {
		status = http.StatusOK
	}
	return errorFrame(rq.id, e), status, true
}

// errSilent says that a request gets no answer.
var errSilent = errors.New("no answer")

func (s *Server) serveNow(rq *request) (frame, error) {
	if rq.method != "initialize" && !rq.modern {
		rq.ses.initialized()
	}
	switch rq.method {
	case "tools/list", "resources/list", "resources/templates/list", "prompts/list":
		return fromRPC(s.list(rq))
	case "initialized":
		// Moonsurf's MCP over SSE has it as a request.
		if !rq.modern {
			return resultFrame(rq.id, "", json.RawMessage("{}")), nil
		}
	}
	return fromRPC(s.protocol(rq))
}

// serveSlow answers what may wait for a page. rq has begun.
func (s *Server) serveSlow(ctx context.Context, rq *request) (frame, error) {
	if rq.method == methodListen {
		return s.listen(ctx, rq)
	}
	if !s.active.enter() {
		return s.refuseLate(rq)
	}
	defer s.active.leave()
	f, err := s.ask(ctx, rq)
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return f, err
	case errors.Is(cause, errCancelled), errors.Is(cause, errGone):
		return frame{}, errSilent
	case err != nil:
		return s.refuse(rq, &hub.Failure{Code: spec.FailNotConnected, Message: "the hub is shutting down; the call may have taken effect"})
	}
	return f, err
}

func (s *Server) ask(ctx context.Context, rq *request) (frame, error) {
	if !rq.modern {
		rq.ses.initialized()
	}
	switch rq.method {
	case "tools/call":
		return s.call(ctx, rq)
	case "resources/read":
		return s.read(ctx, rq)
	case "prompts/get":
		return s.prompt(ctx, rq)
	}
	if rq.modern {
		return fromRPC(s.protocol(rq)) // resources/subscribe is not of this era: it says so
	}
	return s.subscribe(ctx, rq)
}

// fromRPC keeps a nil *rpcError from becoming an error that is not nil.
func fromRPC(f frame, e *rpcError) (frame, error) {
	if e != nil {
		return frame{}, e
	}
	return f, nil
}

// refuseLate refuses a request that comes when the Server is being closed.
func (s *Server) refuseLate(rq *request) (frame, error) {
	if rq.ses.outlives {
		return frame{}, errSilent
	}
	return s.refuse(rq, &hub.Failure{Code: spec.FailNotConnected, Message: "the hub is shutting down; nothing was sent to a page"})
}

// refuse answers with a failure of the hub: a tool call with a result, so that the
// model sees it, anything else with an error.
func (s *Server) refuse(rq *request, f *hub.Failure) (frame, error) {
	if rq.method == "tools/call" {
		return s.result(rq, f.Result(), ""), nil
	}
	return frame{}, f
}

// resultComplete is what each result of revision 2026-07-28 says.
const resultComplete = `"resultType":"complete"`

// result answers rq with a raw result. To a modern client it adds what that
// revision wants and the result does not say itself; hints are more such members.
func (s *Server) result(rq *request, raw json.RawMessage, hints string) frame {
	if !rq.modern {
		return resultFrame(rq.id, "", raw)
	}
	raw = bytes.TrimSpace(raw)
	extra := ""
	for _, m := range []struct{ key, member string }{
		{"resultType", resultComplete}, {"ttlMs", hints}, {"_meta", s.serverRef},
	} {
		if m.member != "" && !hasMember(raw, m.key) {
			if extra != "" {
				extra += ","
			}
			extra += m.member
		}
	}
	return resultFrame(rq.id, extra, raw)
}

// hasMember reports whether an object has a member. The object may be large, most
// have none, and a search for the bytes is faster than any reading of JSON.
func hasMember(object json.RawMessage, key string) bool {
	return bytes.Contains(object, []byte(key)) && rawjson.Get(object, key) != nil
}

// rpcError returns the JSON-RPC error for err.
func (s *Server) rpcError(rq *request, err error) *rpcError {
	if e, ok := errors.AsType[*rpcError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*hub.UnknownError](err); ok {
		code, member := spec.CodeInvalidParams, "name"
		if e.Kind == spec.KindResource {
			member = "uri"
			if !rq.modern {
				code = codeResourceNotFound
			}
		}
		data, _ := json.Marshal(map[string]any{member: e.Name, "nearest": append([]string{}, e.Nearest...)})
		return &rpcError{code: code, message: e.Error(), data: data}
	}
	if f, ok := errors.AsType[*hub.Failure](err); ok {
		code := spec.CodeInternal
		if f.Code == spec.FailInvalidArguments {
			code = spec.CodeInvalidParams
		}
		data, _ := json.Marshal(map[string]spec.FailureCode{"code": f.Code})
		return &rpcError{code: code, message: f.Message, data: data}
	}
	if e, ok := errors.AsType[*spec.Error](err); ok {
		// Codes between are MCP's to define: a page's must not be taken for them.
		if e.Code >= -32099 && e.Code <= -32000 {
			return &rpcError{code: spec.CodeInternal, message: e.Message, data: e.Data}
		}
		return &rpcError{code: e.Code, message: e.Message, data: e.Data}
	}
	s.log.Error("request failed", "method", rq.method, "err", err)
	return &rpcError{code: spec.CodeInternal, message: "internal error"}
}
