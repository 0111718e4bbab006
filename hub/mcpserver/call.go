package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/consent"
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
	var ask func(*consent.Caller) (json.RawMessage, error)
	if t := builtin.Find(s.opts.Builtin, name); t != nil {
		if t.Subject != nil {
			subject += " " + t.Subject(orEmpty(args))
		}
		ask = func(by *consent.Caller) (json.RawMessage, error) { return t.Call(ctx, by, args) }
	} else {
		if rq.header != nil {
			if e := s.checkParamHeaders(rq, name, args); e != nil {
				return frame{}, e
			}
		}
		ask = func(by *consent.Caller) (json.RawMessage, error) {
			return fromApp(rq, by, spec.KindTool, name, func(by *consent.Caller, name string) (json.RawMessage, error) {
				return s.hub.Call(ctx, hub.Call{Name: name, Args: args, By: by})
			})
		}
	}
	r, err := s.withInput(ctx, rq, subject, rq.progress(name), ask)
	if f, ok := errors.AsType[*hub.Failure](err); ok {
		r, err = f.Result(), nil
	}
	if err != nil {
		return frame{}, err
	}
	return s.result(rq, r, ""), nil
}
