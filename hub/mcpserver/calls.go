package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"tabhub/hub"
	"tabhub/hub/auth"
	"tabhub/hub/item"
	"tabhub/hub/ledger"
	"tabhub/hub/record"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// The keys of a result's _meta that say which call it is the answer to, and that a request with the
// same id in the same session has asked for it before.
const (
	metaCall     = ledger.MetaKey
	metaRepeated = "tabhub/repeated"
)

// repeatedText is what a model reads below an answer that its client has had already.
const repeatedText = "The request has the id of one that was answered before, so this is that answer: the call was not made again. A new call needs a new id."

// join answers a request with the answer of the call that it asks for again.
func (s *Server) join(ctx context.Context, rq *request) (frame, error) {
	had := rq.call.WasTaken()
	var left <-chan struct{}
	if rq.http != nil {
		left = rq.http.Done()
	}
	select {
	case <-rq.call.Done():
	case <-left:
		return frame{}, errSilent
	case <-ctx.Done():
		if cause := context.Cause(ctx); errors.Is(cause, errCancelled) || errors.Is(cause, errGone) {
			return frame{}, errSilent
		}
		return s.cutShort(ctx, rq)
	}
	e := rq.caller(nil, nil).Entry(record.Repeated, time.Now())
	e.Call, e.Outcome = rq.call.ID(), "ok"
	if e.Tool = rq.name("name"); e.Tool == "" {
		e.Tool = rq.name("uri")
	}
	s.hub.Record(e)
	result, fault := rq.call.Answer()
	task, isTask := rq.call.Task()
	switch {
	case isTask:
		result = taskResult(&task)
	case fault != nil:
		return frame{}, faultOf(fault)
	case result == nil && !rq.call.Acted():
		return s.refuse(rq, &hub.Failure{Code: spec.FailNotConnected, Message: "the call with this id was made before, and has ended without an answer or an effect: it can be made again"})
	case result == nil:
		return s.refuse(rq, &hub.Failure{Code: spec.FailNotConnected, Message: "the call with this id was made before, and its answer is not kept; it may have taken effect"})
	}
	if had && rawjson.Get(result, "content") != nil { // a page that asks back, and a task, have none
		result = item.AddText(result, repeatedText)
	}
	return s.result(rq, result, ""), nil
}

// cutShort answers what its owner, the end of the hub, or that of the client's credential has ended.
func (s *Server) cutShort(ctx context.Context, rq *request) (frame, error) {
	if f := hub.StoppedByOwner(context.Cause(ctx)); f != nil {
		return s.refuse(rq, f)
	}
	why := ErrClosing
	if errors.Is(context.Cause(ctx), auth.ErrEnded) {
		why = auth.ErrEnded
	}
	return s.refuse(rq, &hub.Failure{Code: spec.FailNotConnected, Message: why.Error() + "; the call may have taken effect"})
}

// end ends the call that a request is; e is the error that it is answered with, nil if none. It
// returns that as the client gets it.
func (rq *request) end(e *rpcError) *rpcError {
	if rq.call == nil {
		return e
	}
	var fault json.RawMessage
	if e != nil && rq.kept {
		told := *e
		told.data = withCall(e.data, rq.call.ID())
		e, fault = &told, told.append(nil)
	}
	if !rq.joined && !rq.isTask {
		rq.call.End(rq.raw, fault)
	}
	rq.raw = nil // which the call may forget
	return e
}

// endSilent is end for a request that is not answered.
func (rq *request) endSilent() {
	rq.end(nil)
	switch {
	case rq.joined: // another request may want it
	case rq.ctx != nil && errors.Is(context.Cause(rq.ctx), errGone):
		rq.call.Lost()
	default:
		rq.call.Taken() // nobody wants it
	}
}

// owns returns a frame that answers rq.
func (rq *request) owns(f frame) frame {
	if rq.kept {
		f.of = rq.call
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

// appendCall appends what _meta says of the call that rq is, two members at most, and a comma.
func (rq *request) appendCall(out []byte) []byte {
	id := rq.call.ID()
	out = append(append(append(out, `"`+metaCall+`":"`...), id...), `",`...)
	if rq.joined {
		out = append(append(append(out, `"`+metaRepeated+`":"`...), id...), `",`...)
	}
	return out
}
