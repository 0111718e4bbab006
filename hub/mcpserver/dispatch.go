package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"tabhub/hub"
	"tabhub/hub/auth"
	"tabhub/hub/item"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// answer answers rq, which has begun if it waits. ok is false if there is nothing to
// be said, because the request was cancelled. status is the HTTP status of a modern
// request's answer.
func (s *Server) answer(ctx context.Context, rq *request) (f frame, status int, ok bool) {
	if rq.ctx != nil {
		ctx = rq.ctx
		defer rq.done()
	}
	ctx, told := s.observe(ctx, rq)
	f, err := s.serve(ctx, rq)
	if err == nil {
		told(nil, false)
		return f, http.StatusOK, true
	}
	if errors.Is(err, errSilent) {
		told(nil, true)
		return frame{}, 0, false
	}
	e := s.rpcError(rq, err)
	told(e, false)
	if status = e.status; status == 0 {
		status = http.StatusOK
	}
	return errorFrame(rq.id, e), status, true
}

func (s *Server) serve(ctx context.Context, rq *request) (frame, error) {
	switch {
	case rq.wrong != nil:
		return frame{}, rq.wrong
	case !rq.waits():
		return s.serveNow(rq)
	case rq.ctx == nil:
		return s.refuse(rq, &hub.Failure{Code: spec.FailQueueFull,
			Message: "too many requests of this client are under way: wait for answers first"})
	}
	return s.serveSlow(ctx, rq)
}

// errSilent says that a request gets no answer.
var errSilent = errors.New("no answer")

func (s *Server) serveNow(rq *request) (frame, error) {
	if rq.method != "initialize" && !rq.modern {
		rq.ses.initialized()
	}
	switch rq.method {
	case "tools/list", "resources/list", "resources/templates/list", "prompts/list":
		return s.list(rq)
	case "initialized":
		// Some clients send it as a request (spec/docs/RULES.md, "MCP over SSE").
		if !rq.modern {
			return resultFrame(rq.id, "", json.RawMessage("{}")), nil
		}
	}
	return s.protocol(rq)
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
		why := errClosing
		if errors.Is(cause, auth.ErrEnded) {
			why = auth.ErrEnded
		}
		return s.refuse(rq, &hub.Failure{Code: spec.FailNotConnected, Message: why.Error() + "; the call may have taken effect"})
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
	case "completion/complete":
		return s.complete(ctx, rq)
	}
	if rq.modern {
		return s.protocol(rq) // resources/subscribe is not of this era: it says so
	}
	return s.subscribe(ctx, rq)
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
	rq.failed = rq.method == "tools/call" && saysError(raw)
	if !rq.modern {
		return resultFrame(rq.id, "", raw)
	}
	raw = bytes.TrimSpace(raw)
	var extra []string
	if !hasMember(raw, "resultType") {
		extra = append(extra, resultComplete)
	}
	if hints != "" && !hasMember(raw, "ttlMs") {
		extra = append(extra, hints)
	}
	switch {
	case bytes.HasPrefix(raw, labelStart):
		// What the hub says of itself and of the result is one member.
		extra = append(extra, strings.TrimSuffix(s.serverRef, "}"))
		raw = raw[len(`{"_meta":`):]
	case !hasMember(raw, "_meta"):
		extra = append(extra, s.serverRef)
	}
	return resultFrame(rq.id, strings.Join(extra, ","), raw)
}

// labelStart begins a result that says where it is from.
var labelStart = []byte(`{"_meta":{"` + item.SourceKey + `":`)

// hasMember reports whether an object has a member. The object may be large, most
// have none, and a search for the bytes is faster than any reading of JSON.
func hasMember(object json.RawMessage, key string) bool {
	return bytes.Contains(object, []byte(key)) && rawjson.Get(object, key) != nil
}
