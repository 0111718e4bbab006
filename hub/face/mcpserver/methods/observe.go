package methods

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/telemetry"
	"tabhub/spec/rawjson"
)

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
