package methods

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"tabhub/hub"
	"tabhub/hub/call/ledger"
	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/offer/item"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Answer answers rq, which has begun if it waits. ok is false if there is nothing to
// be said, because the request was cancelled.
func (rq *Request) Answer() (f jsonrpc.Frame, ok bool) {
	s, ctx := rq.ses.srv, rq.ses.Ctx
	if rq.ctx != nil {
		ctx = rq.ctx
		defer func() {
			if !rq.isTask {
				rq.stop(nil)
			}
		}()
	}
	ctx = rq.traced(ctx)
	rq.observe()
	f, err := s.serve(ctx, rq)
	if errors.Is(err, errSilent) {
		rq.endSilent()
		rq.observed(nil, true)
		return jsonrpc.Frame{}, false
	}
	var e *jsonrpc.Error
	if err != nil {
		e = s.rpcError(rq, err)
	}
	e = rq.end(e)
	rq.observed(e, false)
	if e != nil {
		f = jsonrpc.Failure(rq.ID, e)
	}
	return rq.owns(f), true
}

func (s *Server) serve(ctx context.Context, rq *Request) (jsonrpc.Frame, error) {
	switch {
	case rq.Wrong != nil:
		return jsonrpc.Frame{}, rq.Wrong
	case !rq.Waits():
		return s.serveNow(ctx, rq)
	case rq.ctx == nil:
		return s.refuse(rq, &hub.Failure{Code: spec.FailQueueFull,
			Message: "too many requests of this client are under way: wait for answers first"})
	}
	return s.serveSlow(ctx, rq)
}

// errSilent says that a request gets no answer.
var errSilent = errors.New("no answer")

func (s *Server) serveNow(ctx context.Context, rq *Request) (jsonrpc.Frame, error) {
	if rq.Method != "initialize" && !rq.Modern {
		rq.ses.initialized()
	}
	switch rq.Method {
	case "tools/list", "resources/list", "resources/templates/list", "prompts/list":
		f, err := s.list(rq)
		if err == nil {
			err = s.hub.Settled(ctx)
		}
		return f, err
	case "initialized":
		// Some clients send it as a request (spec/docs/RULES.md, "MCP over SSE").
		if !rq.Modern {
			return jsonrpc.Result(rq.ID, "", json.RawMessage("{}")), nil
		}
	}
	return s.protocol(rq)
}

// serveSlow answers what may wait for a page. rq has begun.
func (s *Server) serveSlow(ctx context.Context, rq *Request) (jsonrpc.Frame, error) {
	if rq.Method == MethodListen {
		return s.listen(ctx, rq)
	}
	if !s.active.Enter() {
		return s.refuseLate(rq)
	}
	defer s.active.Leave()
	if rq.joined {
		return s.join(ctx, rq)
	}
	f, err := s.ask(ctx, rq)
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return f, err
	case errors.Is(cause, ErrCancelled), errors.Is(cause, ErrGone):
		return jsonrpc.Frame{}, errSilent
	case err != nil:
		rq.call.Failed()
		if _, said := errors.AsType[*hub.Failure](err); !said {
			return s.cutShort(ctx, rq)
		}
	}
	return f, err
}

func (s *Server) ask(ctx context.Context, rq *Request) (jsonrpc.Frame, error) {
	if !rq.Modern {
		rq.ses.initialized()
	}
	switch rq.Method {
	case "tools/call":
		return s.call(ctx, rq)
	case "resources/read":
		return s.read(ctx, rq)
	case "prompts/get":
		return s.prompt(ctx, rq)
	case "completion/complete":
		return s.complete(ctx, rq)
	}
	if rq.Modern {
		return s.protocol(rq) // resources/subscribe is not of this era: it says so
	}
	return s.subscribe(ctx, rq)
}

// refuseLate refuses a request that comes when the Server is being closed.
func (s *Server) refuseLate(rq *Request) (jsonrpc.Frame, error) {
	if rq.ses.Outlives {
		return jsonrpc.Frame{}, errSilent
	}
	return s.refuse(rq, &hub.Failure{Code: spec.FailNotConnected, Message: "the hub is shutting down; nothing was sent to a page"})
}

// refuse answers with a failure of the hub: a tool call with a result, so that the
// model sees it, anything else with an error.
func (s *Server) refuse(rq *Request, f *hub.Failure) (jsonrpc.Frame, error) {
	if rq.Method == "tools/call" {
		return s.result(rq, f.Result(), ""), nil
	}
	return jsonrpc.Frame{}, f
}

// end ends the call that a request is; e is the error that it is answered with, nil if none. It
// returns that as the client gets it.
func (rq *Request) end(e *jsonrpc.Error) *jsonrpc.Error {
	if rq.call == nil {
		return e
	}
	var fault json.RawMessage
	if e != nil && rq.kept {
		told := *e
		told.Data = withCall(e.Data, rq.call.ID())
		e, fault = &told, told.Append(nil)
	}
	if !rq.joined && !rq.isTask {
		rq.call.End(rq.raw, fault)
	}
	rq.raw = nil // which the call may forget
	return e
}

// endSilent is end for a request that is not answered.
func (rq *Request) endSilent() {
	rq.end(nil)
	switch {
	case rq.joined: // another request may want it
	case rq.ctx != nil && errors.Is(context.Cause(rq.ctx), ErrGone):
		rq.call.Lost()
	default:
		rq.call.Taken() // nobody wants it
	}
}

// owns returns a frame that answers rq.
func (rq *Request) owns(f jsonrpc.Frame) jsonrpc.Frame {
	if rq.kept {
		f.Of = rq.call
	}
	return f
}

// withCall returns the data of an error with the call's id, unless the data is no object.
func withCall(data json.RawMessage, id string) json.RawMessage {
	if len(data) > 0 && data[0] != '{' {
		return data
	}
	out := rawjson.AppendStringMember([]byte{'{'}, "call", id)
	for key, v := range rawjson.Members(data) {
		if key != "call" {
			out = rawjson.AppendMember(out, key, v)
		}
	}
	return append(out, '}')
}

// resultComplete is what each result of revision 2026-07-28 says.
const resultComplete = `"resultType":"complete"`

// result answers rq with a raw result, an object. It adds which call it is the answer to and,
// for a modern client, what that revision wants and the result does not say itself; hints are
// more such members.
func (s *Server) result(rq *Request, raw json.RawMessage, hints string) jsonrpc.Frame {
	rq.failed = rq.Method == "tools/call" && saysError(raw)
	rq.raw = raw
	body := bytes.TrimSpace(raw)
	head := make([]byte, 0, 90+len(rq.ID)+len(hints)+s.hubSize(rq))
	head = append(append(append(head, jsonrpc.FrameStart...), rq.ID...), `,"result":{`...)
	if rq.Modern && !hasMember(body, "resultType") {
		head = append(head, resultComplete+","...)
	}
	if rq.Modern && hints != "" && !hasMember(body, "ttlMs") {
		head = append(append(head, hints...), ',')
	}
	// What the hub says of itself, of the call and of the result is one member.
	head = append(head, metaStart...)
	began := len(head)
	meta := 0 // where the result's own begins
	if !bytes.HasPrefix(body, labelStart) {
		meta = indexMeta(body)
	}
	if rq.Modern && meta <= 0 {
		head = append(append(head, s.serverRef...), ',')
	}
	if rq.kept {
		head = rq.appendCall(head)
	}
	switch added := head[began:]; {
	case meta == 0:
		body = body[len(`{"_meta":{`):] // a member follows
	case meta > 0 && len(added) > 0:
		// It stays where it is.
		b := append(make([]byte, 0, len(body)+len(added)), body[1:meta+1]...)
		if b = append(b, added...); bytes.TrimLeft(body[meta+1:], jsonSpace)[0] == '}' {
			b = b[:len(b)-1]
		}
		head, body = head[:began-len(metaStart)], append(b, body[meta+1:]...)
	case len(added) == 0:
		head, body = head[:began-len(metaStart)], body[1:]
	default:
		head, body = append(head[:len(head)-1], "},"...), body[1:]
	}
	if last := len(head) - 1; head[last] == ',' {
		if body = bytes.TrimLeft(body, jsonSpace); body[0] == '}' {
			head = head[:last]
		}
	}
	return jsonrpc.Frame{Head: head, Body: jsonrpc.OneLine(body), Tail: jsonrpc.FrameEnd}
}

// The keys of a result's _meta that say which call it is the answer to, and that a request with the
// same id in the same session has asked for it before.
const (
	MetaCall     = ledger.MetaKey
	MetaRepeated = "tabhub/repeated"
)

// appendCall appends what _meta says of the call that rq is, two members at most, and a comma.
func (rq *Request) appendCall(out []byte) []byte {
	id := rq.call.ID()
	out = append(append(append(out, `"`+MetaCall+`":"`...), id...), `",`...)
	if rq.joined {
		out = append(append(append(out, `"`+MetaRepeated+`":"`...), id...), `",`...)
	}
	return out
}

// hubSize is what a result says of the hub, in bytes.
func (s *Server) hubSize(rq *Request) int {
	if rq.Modern {
		return len(s.serverRef) + len(resultComplete)
	}
	return 0
}

const jsonSpace = " \t\r\n"

// metaStart begins the member of a result that holds what the hub says of it.
const metaStart = `"_meta":{`

// indexMeta returns where the _meta of a result begins, -1 if it has none that is an object.
func indexMeta(result json.RawMessage) int {
	if !bytes.Contains(result, []byte(`"_meta"`)) {
		return -1
	}
	i := rawjson.Index(result, "_meta")
	if i >= 0 && result[i] != '{' {
		return -1
	}
	return i
}

// labelStart begins a result that says where it is from.
var labelStart = []byte(`{"_meta":{"` + item.SourceKey + `":`)

// hasMember reports whether an object has a member. The object may be large, most
// have none, and a search for the bytes is faster than any reading of JSON.
func hasMember(object json.RawMessage, key string) bool {
	return bytes.Contains(object, []byte(key)) && rawjson.Get(object, key) != nil
}
