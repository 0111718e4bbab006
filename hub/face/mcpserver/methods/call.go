package methods

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"tabhub/describe"
	"tabhub/hub/builtin"
	"tabhub/hub/call"
	"tabhub/hub/call/ledger"
	"tabhub/hub/core"
	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/offer/item"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// call serves tools/call.
func (s *Server) call(ctx context.Context, rq *Request) (jsonrpc.Frame, error) {
	name := rq.target
	if name == "" {
		return jsonrpc.Frame{}, jsonrpc.InvalidParams("name is required: the name of a tool, a string")
	}
	args, e := rq.arguments()
	if e != nil {
		return jsonrpc.Frame{}, e
	}
	subject := name
	t := builtin.Find(s.opts.Builtin, name)
	if t == nil && rq.header != nil {
		if e := rq.checkParamHeaders(name, args); e != nil {
			return jsonrpc.Frame{}, e
		}
	}
	if t != nil && t.Subject != nil {
		subject += " " + t.Subject(jsonrpc.OrEmpty(args))
	}
	c := toolCall{rq, t, name, subject, args}
	var r json.RawMessage
	var err error
	if rq.takesTasks() {
		r, err = s.callOrTask(ctx, rq, ledger.TaskOf{Tool: name, Own: t != nil}, c.run)
	} else {
		r, err = c.run(ctx)
	}
	if f, ok := errors.AsType[*core.Failure](err); ok {
		r, err = f.Result(), nil
	}
	if err != nil {
		return jsonrpc.Frame{}, err
	}
	return s.result(rq, r, ""), nil
}

// toolCall is what a tools/call asks for.
type toolCall struct {
	rq      *Request
	builtin *builtin.Tool // nil: a tab's
	name    string
	subject string // name, and of a tool of the hub what it is to do
	args    json.RawMessage
}

// run calls the tool and returns its raw result. ctx may outlast the request.
func (c toolCall) run(ctx context.Context) (json.RawMessage, error) {
	rq, s := c.rq, c.rq.ses.srv
	return s.withInput(ctx, rq, c.subject, rq.taskProgress(rq.progress(c.name)), func(by *consent.Caller) (json.RawMessage, error) {
		if c.builtin != nil {
			result, err := c.builtin.Call(ctx, by, c.args)
			_ = s.hub.Settled(ctx) // it may show names; what was done is reported in any case
			return result, err
		}
		call := call.Request{Name: c.name, Args: c.args, By: by}
		if rq.waiting != nil {
			call.Sending = rq.call.WillSend
		}
		return s.hub.Call(ctx, call)
	})
}

// RepeatedText is what a model reads below an answer that its client has had already.
const RepeatedText = "The request has the id of one that was answered before, so this is that answer: the call was not made again. A new call needs a new id."

// join answers a request with the answer of the call that it asks for again.
func (s *Server) join(ctx context.Context, rq *Request) (jsonrpc.Frame, error) {
	had := rq.call.WasTaken()
	select {
	case <-rq.call.Done():
	case <-rq.Gone:
		return jsonrpc.Frame{}, errSilent
	case <-ctx.Done():
		if cause := context.Cause(ctx); errors.Is(cause, ErrCancelled) || errors.Is(cause, ErrGone) {
			return jsonrpc.Frame{}, errSilent
		}
		return s.cutShort(ctx, rq)
	}
	e := rq.caller(nil, nil).Entry(record.Repeated, time.Now())
	e.Call, e.Tool, e.Outcome = rq.call.ID(), describe.Clean(rq.target, spec.MaxName), "ok"
	s.hub.Record(e)
	result, fault := rq.call.Answer()
	task, isTask := rq.call.Task()
	switch {
	case isTask:
		result = taskResult(&task)
	case fault != nil:
		return jsonrpc.Frame{}, jsonrpc.ReadError(fault)
	case result == nil && !rq.call.Acted():
		return s.refuse(rq, &core.Failure{Code: spec.FailNotConnected, Message: "the call with this id was made before, and has ended without an answer or an effect: it can be made again"})
	case result == nil:
		return s.refuse(rq, &core.Failure{Code: spec.FailNotConnected, Message: "the call with this id was made before, and its answer is not stored; it may have taken effect"})
	}
	if had && rawjson.Get(result, "content") != nil { // a page that asks back, and a task, have none
		result = item.AddText(result, RepeatedText)
	}
	return s.result(rq, result, ""), nil
}

// cutShort answers what its owner, the end of the hub, or that of the client's credential has ended.
func (s *Server) cutShort(ctx context.Context, rq *Request) (jsonrpc.Frame, error) {
	if f := call.StoppedByOwner(context.Cause(ctx)); f != nil {
		return s.refuse(rq, f)
	}
	why := ErrClosing
	if errors.Is(context.Cause(ctx), auth.ErrEnded) {
		why = auth.ErrEnded
	}
	return s.refuse(rq, &core.Failure{Code: spec.FailNotConnected, Message: why.Error() + "; the call may have taken effect"})
}
