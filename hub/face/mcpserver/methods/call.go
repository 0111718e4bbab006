package methods

import (
	"context"
	"encoding/json"
	"errors"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/call/ledger"
	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/trust/consent"
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
	if f, ok := errors.AsType[*hub.Failure](err); ok {
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
		call := hub.Call{Name: c.name, Args: c.args, By: by}
		if rq.waiting != nil {
			call.Sending = rq.call.WillSend
		}
		return s.hub.Call(ctx, call)
	})
}
