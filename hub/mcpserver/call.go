package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/consent"
	"tabhub/hub/tasks"
	"tabhub/spec"
)

// call serves tools/call.
func (s *Server) call(ctx context.Context, rq *request) (frame, error) {
	name, e := rq.required("name", "name of a tool")
	if e != nil {
		return frame{}, e
	}
	args, e := rq.object("arguments")
	if e != nil {
		return frame{}, e
	}
	subject := name
	t := builtin.Find(s.opts.Builtin, name)
	if t == nil && rq.header != nil {
		if e := s.checkParamHeaders(rq, name, args); e != nil {
			return frame{}, e
		}
	}
	if t != nil && t.Subject != nil {
		subject += " " + t.Subject(orEmpty(args))
	}
	work := func(ctx context.Context) (json.RawMessage, error) {
		return s.withInput(ctx, rq, subject, rq.task.progress(rq.progress(name)), func(by *consent.Caller) (json.RawMessage, error) {
			if t != nil {
				return t.Call(ctx, by, args)
			}
			return fromApp(rq, by, spec.KindTool, name, func(by *consent.Caller, name string) (json.RawMessage, error) {
				c := hub.Call{Name: name, Args: args, By: by}
				if rq.task != nil {
					c.Sending = rq.task.sending
				}
				return s.hub.Call(ctx, c)
			})
		})
	}
	var r json.RawMessage
	var err error
	if rq.takesTasks() {
		r, err = s.callOrTask(ctx, rq, tasks.Call{Tool: name, Own: t != nil}, work)
	} else {
		r, err = work(ctx)
	}
	if f, ok := errors.AsType[*hub.Failure](err); ok {
		r, err = f.Result(), nil
	}
	if err != nil {
		return frame{}, err
	}
	return s.result(rq, r, ""), nil
}
