package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"tabhub/hub"
	"tabhub/hub/builtin"
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
	progress := rq.progress(name)
	subject := name
	var ask func(context.Context) (json.RawMessage, error)
	if t := builtin.Find(s.opts.Builtin, name); t != nil {
		if progress == nil {
			progress = func(spec.Progress) {}
		}
		if t.Subject != nil {
			subject += " " + t.Subject(orEmpty(args))
		}
		ask = func(ctx context.Context) (json.RawMessage, error) {
			if r := t.Call(ctx, args, rq.clientName(), progress); r != nil {
				return r, nil
			}
			return nil, context.Cause(ctx)
		}
	} else {
		if rq.header != nil {
			if e := s.checkParamHeaders(rq, name, args); e != nil {
				return frame{}, e
			}
		}
		c := hub.Call{Name: name, Args: args, Client: rq.clientName(), Progress: progress}
		ask = func(ctx context.Context) (json.RawMessage, error) {
			return fromApp(rq, spec.KindTool, name, func(name string) (json.RawMessage, error) {
				c.Name = name
				return s.hub.Call(ctx, c)
			})
		}
	}
	r, err := s.withInput(ctx, rq, subject, ask)
	if f, ok := errors.AsType[*hub.Failure](err); ok {
		r, err = f.Result(), nil
	}
	if err != nil {
		return frame{}, err
	}
	return s.result(rq, r, ""), nil
}
