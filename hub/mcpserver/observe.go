package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"tabhub/hub/telemetry"
	"tabhub/spec/rawjson"
)

// observed are the methods that an Observer hears of by name. A client can send any other,
// and as many as it likes.
var observed = []string{
	"initialize", "ping", "server/discover", "logging/setLevel", "completion/complete", methodListen,
	"tools/list", "tools/call", "prompts/list", "prompts/get",
	"resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
}

// otherMethod stands for all methods that are not in observed.
const otherMethod = "_OTHER"

// observe tells the Observer that rq is about to be served with ctx. It is served with the
// context that observe returns, and told is called with how that has ended.
func (s *Server) observe(ctx context.Context, rq *request) (_ context.Context, told func(e *rpcError, silent bool)) {
	o := s.opts.Telemetry
	r := &telemetry.Request{Method: rq.method, Transport: rq.ses.transport, Began: time.Now()}
	if !slices.Contains(observed, rq.method) {
		r.Method = otherMethod
	}
	if rq.modern {
		r.Version, _ = rq.text("_meta", metaVersion)
	} else {
		r.Version = rq.ses.agreedVersion()
	}
	if o.Details() {
		rq.describe(r)
	}
	if p, ok := rq.parent(); ok {
		ctx = telemetry.WithParent(ctx, p)
	}
	ctx = o.BeginRequest(ctx, r)
	return ctx, func(e *rpcError, silent bool) {
		if e != nil {
			r.Code = e.code
		}
		if r.Version == "" {
			r.Version = rq.ses.agreedVersion() // by this request
		}
		// That its client ends it is how a listen is meant to end.
		r.Cancelled, r.ToolError = silent && rq.method != methodListen, rq.failed
		o.EndRequest(ctx, r)
	}
}

// describe notes what the request names.
func (rq *request) describe(r *telemetry.Request) {
	text := func(key string) string {
		v, _ := rq.text(key)
		return short(v)
	}
	switch rq.method {
	case "tools/call":
		r.Tool = text("name")
	case "prompts/get":
		r.Prompt = text("name")
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		r.URI = text("uri")
	}
	id, ok := rawjson.String(rq.id)
	if !ok {
		id = string(rq.id)
	}
	r.ID, r.Session = short(id), rq.ses.id
}

// short returns the beginning of what a client has said.
func short(text string) string {
	if len(text) > telemetry.MaxDetail {
		text = string([]rune(text[:telemetry.MaxDetail]))
	}
	return text
}

// parent returns the client's span for which it has sent the request (SEP-414).
func (rq *request) parent() (telemetry.Parent, bool) {
	if !bytes.Contains(rq.params, []byte("traceparent")) {
		return telemetry.Parent{}, false // without reading arguments that may be large
	}
	meta := orEmpty(rq.get("_meta"))
	traceparent, ok := rawjson.String(rawjson.Get(meta, "traceparent"))
	if !ok {
		return telemetry.Parent{}, false
	}
	tracestate, _ := rawjson.String(rawjson.Get(meta, "tracestate"))
	return telemetry.ParseParent(traceparent, tracestate)
}

// saysError reports whether the result of a tool says that the tool has failed.
func saysError(result json.RawMessage) bool {
	return bytes.Contains(result, []byte(`"isError"`)) && string(rawjson.Get(result, "isError")) == "true"
}
