package methods

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"tabhub/hub/builtin"
	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/lists"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
)

// read serves resources/read.
func (s *Server) read(ctx context.Context, rq *Request) (jsonrpc.Frame, error) {
	uri, e := rq.required("uri", "URI of a resource")
	if e != nil {
		return jsonrpc.Frame{}, e
	}
	r, err := s.withInput(ctx, rq, uri, nil, func(by *consent.Caller) (json.RawMessage, error) {
		return s.hub.ReadResource(ctx, by, uri)
	})
	if err != nil {
		return jsonrpc.Frame{}, err
	}
	hints := uncached
	if builtin.AsksBack(r) {
		hints = ""
	}
	return s.result(rq, r, hints), nil
}

// prompt serves prompts/get.
func (s *Server) prompt(ctx context.Context, rq *Request) (jsonrpc.Frame, error) {
	name, e := rq.required("name", "name of a prompt")
	if e != nil {
		return jsonrpc.Frame{}, e
	}
	args, e := rq.object("arguments")
	if e != nil {
		return jsonrpc.Frame{}, e
	}
	r, err := s.withInput(ctx, rq, name, nil, func(by *consent.Caller) (json.RawMessage, error) {
		return s.hub.GetPrompt(ctx, by, name, args)
	})
	if err != nil {
		return jsonrpc.Frame{}, err
	}
	return s.result(rq, r, ""), nil
}

// complete serves completion/complete, also where no page was open at initialize that could
// complete anything and the capability was not declared.
func (s *Server) complete(ctx context.Context, rq *Request) (jsonrpc.Frame, error) {
	kind, member := spec.KindPrompt, "name"
	switch of, _ := rq.Text("ref", "type"); of {
	case "ref/prompt":
	case "ref/resource":
		kind, member = spec.KindResource, "uri"
	default:
		return jsonrpc.Frame{}, jsonrpc.InvalidParams("ref is required, of type ref/prompt or ref/resource: what to complete an argument of")
	}
	name, _ := rq.Text("ref", member)
	argument, e := rq.object("argument")
	if e == nil && argument == nil {
		e = jsonrpc.InvalidParams("argument is required: what to complete")
	}
	if e != nil {
		return jsonrpc.Frame{}, e
	}
	given, e := rq.object("context")
	if e != nil {
		return jsonrpc.Frame{}, e
	}
	r, err := s.hub.Complete(ctx, rq.caller(nil, nil), kind, name, argument, given)
	if unknown, ok := errors.AsType[*lists.UnknownError](err); ok {
		return jsonrpc.Frame{}, jsonrpc.InvalidParams(unknown.Error())
	}
	if err != nil {
		return jsonrpc.Frame{}, err
	}
	return s.result(rq, r, ""), nil
}

// maxSubscriptions is how many resources one session may follow.
const maxSubscriptions = 1000

// subscribe serves resources/subscribe.
func (s *Server) subscribe(ctx context.Context, rq *Request) (jsonrpc.Frame, error) {
	uri, e := rq.required("uri", "URI of a resource")
	if e != nil {
		return jsonrpc.Frame{}, e
	}
	ses, done := rq.ses, jsonrpc.Result(rq.ID, "", json.RawMessage("{}"))
	ses.mu.Lock()
	_, have := ses.subs[uri]
	full := len(ses.subs) >= maxSubscriptions
	ses.mu.Unlock()
	switch {
	case have:
		return done, nil
	case full:
		return jsonrpc.Frame{}, jsonrpc.InvalidParams("too many subscriptions: unsubscribe from some first")
	}
	if err := ses.follow(ctx, rq.caller(nil, nil), uri); err != nil {
		return jsonrpc.Frame{}, err
	}
	ses.saveChange()
	return done, nil
}

// unsubscribe serves resources/unsubscribe.
func (s *Server) unsubscribe(_ context.Context, rq *Request) (jsonrpc.Frame, error) {
	uri, e := rq.required("uri", "URI of a resource")
	if e != nil {
		return jsonrpc.Frame{}, e
	}
	ses := rq.ses
	ses.mu.Lock()
	stop := ses.subs[uri]
	delete(ses.subs, uri)
	n := len(ses.missing)
	ses.missing = slices.DeleteFunc(ses.missing, func(m string) bool { return m == uri })
	changed := stop != nil || len(ses.missing) < n
	ses.mu.Unlock()
	if stop != nil {
		stop()
	}
	if changed {
		ses.saveChange()
	}
	return jsonrpc.Result(rq.ID, "", json.RawMessage("{}")), nil
}

// follow has the client notified of updates of a resource. It blocks as Hub.SubscribeResource
// does.
func (ses *Session) follow(ctx context.Context, by *consent.Caller, uri string) error {
	stop, err := ses.srv.hub.SubscribeResource(ctx, by, uri)
	if err != nil {
		return err
	}
	ses.mu.Lock()
	_, have := ses.subs[uri] // another request was faster
	add := !have && !ses.ended
	if add {
		if ses.subs == nil {
			ses.subs = map[string]func(){}
		}
		ses.subs[uri] = stop
	}
	ses.mu.Unlock()
	if !add {
		stop()
	}
	return nil
}
