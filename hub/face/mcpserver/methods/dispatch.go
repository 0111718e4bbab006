package methods

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"tabhub/hub/core"
	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/telemetry"
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
	return rq.receives(f), true
}

func (s *Server) serve(ctx context.Context, rq *Request) (jsonrpc.Frame, error) {
	if rq.Wrong != nil {
		return jsonrpc.Frame{}, rq.Wrong
	}
	if !rq.Modern && rq.Method != methodInitialize {
		rq.ses.initialized()
	}
	m, err := rq.method()
	switch {
	case err != nil:
		return jsonrpc.Frame{}, err
	case !m.waits:
		return m.serve(s, ctx, rq)
	case rq.ctx == nil:
		return s.refuse(rq, &core.Failure{Code: spec.FailQueueFull,
			Message: "too many requests of this client are under way: wait for answers first"})
	case rq.Method == MethodListen:
		return s.listen(ctx, rq)
	case !s.active.Enter():
		return s.refuseLate(rq)
	}
	defer s.active.Leave()
	if rq.joined {
		return s.join(ctx, rq)
	}
	f, err := m.serve(s, ctx, rq)
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return f, err
	case errors.Is(cause, ErrCancelled), errors.Is(cause, ErrGone):
		return jsonrpc.Frame{}, errSilent
	case err != nil:
		rq.call.Failed()
		if _, said := errors.AsType[*core.Failure](err); !said {
			return s.cutShort(ctx, rq)
		}
	}
	return f, err
}

// errSilent says that a request gets no answer.
var errSilent = errors.New("no answer")

// refuseLate refuses a request that comes when the Server is being closed.
func (s *Server) refuseLate(rq *Request) (jsonrpc.Frame, error) {
	if rq.ses.Outlives {
		return jsonrpc.Frame{}, errSilent
	}
	return s.refuse(rq, &core.Failure{Code: spec.FailNotConnected, Message: "the hub is shutting down; nothing was sent to a page"})
}

// refuse answers with a failure of the hub: a tool call with a result, so that the
// model sees it, anything else with an error.
func (s *Server) refuse(rq *Request, f *core.Failure) (jsonrpc.Frame, error) {
	if rq.Method == methodCall {
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
	if e != nil && rq.stored {
		named := *e
		named.Data = withCall(e.Data, rq.call.ID())
		e, fault = &named, named.Append(nil)
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
		rq.call.Taken() // no client waits for it
	}
}

// receives returns f with the call of rq as its receiver, if the ledger stores that.
func (rq *Request) receives(f jsonrpc.Frame) jsonrpc.Frame {
	if rq.stored {
		f.To = rq.call
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

// otherMethod stands for all methods that there are not: a client can send as many as it likes.
const otherMethod = "_OTHER"

// observe notes that rq is about to be served.
func (rq *Request) observe() {
	rq.seen = telemetry.Request{Method: rq.Method, Transport: rq.ses.Transport, Began: time.Now()}
	if table[rq.Method] == nil {
		rq.seen.Method = otherMethod
	}
}

// observed tells the Observer how a request has ended.
func (rq *Request) observed(e *jsonrpc.Error, silent bool) {
	if e != nil {
		rq.seen.Code = e.Code
	}
	// That its client ends it is how a listen is meant to end.
	rq.seen.Cancelled, rq.seen.ToolError = silent && rq.Method != MethodListen, rq.failed
	rq.ses.srv.opts.Telemetry.EndRequest(&rq.seen)
}

// traced returns a context with the client's span for which it has sent the request (SEP-414).
func (rq *Request) traced(ctx context.Context) context.Context {
	if !bytes.Contains(rq.Params, []byte("traceparent")) {
		return ctx // without reading arguments that may be large
	}
	traceparent, _ := rawjson.String(rawjson.Get(jsonrpc.OrEmpty(rq.get("_meta")), "traceparent"))
	return telemetry.WithTraceparent(ctx, traceparent)
}

// saysError reports whether the result of a tool says that the tool has failed.
func saysError(result json.RawMessage) bool {
	return bytes.Contains(result, []byte(`"isError"`)) && string(rawjson.Get(result, "isError")) == "true"
}
