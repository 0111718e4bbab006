package mcpserver

import (
	"context"
	"net/http"
	"time"

	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/face/mcpserver/methods"
)

// exchange is the response to one POST. It is a JSON object unless something has to
// be said before the answer; then it becomes an event stream.
type exchange struct {
	// static after construction
	srv    *Server
	w      http.ResponseWriter
	ctx    context.Context // of the request: ends when the client has gone
	out    *jsonrpc.Outbox // writes to this
	object bool            // the client takes a JSON object
	stream bool            // the client takes an event stream
	ses    *webSession     // in which the client can go on with an event stream; nil: it cannot

	// owned by the writing goroutine
	events *eventWriter // nil until the response is an event stream
}

func newExchange(s *Server, w http.ResponseWriter, r *http.Request, object, stream bool) *exchange {
	x := &exchange{srv: s, w: w, ctx: r.Context(), object: object, stream: stream}
	x.out = jsonrpc.NewOutbox(x, nil, nil)
	return x
}

// WriteFrames implements jsonrpc.Sink. An event stream with a log has no errors: what could not be written is in
// the log.
func (x *exchange) WriteFrames(fs []jsonrpc.Frame) error {
	if x.events == nil {
		switch {
		case x.ctx.Err() != nil:
			return methods.ErrGone
		case len(fs) == 1 && fs[0].Final && x.object:
			return writeJSON(x.w, x.srv.opts.WriteLimit, fs[0])
		}
		x.events = x.srv.startEvents(x.w, x.ctx)
		if x.ses != nil {
			x.events.log, _ = x.srv.replays.begin(x.ses, x.events, false)
			x.events.prime = x.events.log != nil && x.ses.takesPrimer()
		}
	}
	if err := x.events.WriteFrames(fs); x.events.log == nil {
		return err
	}
	return nil
}

// end lets nothing else in.
func (x *exchange) end() {
	_ = x.out.Stop()
	if x.events != nil && x.events.log != nil {
		x.events.log.leave(x.events)
		x.events.log.end()
	}
}

// finish sends the answer.
func (x *exchange) finish(f jsonrpc.Frame) {
	f.Final = true
	x.out.Put(f)
	_ = x.out.Stop()
}

// answerWith sends what answer returns.
func (x *exchange) answerWith(answer func() (jsonrpc.Frame, bool)) {
	defer x.keepAlive().stop()
	if f, ok := answer(); ok {
		f.Status = 0
		x.finish(f)
		return
	}
	_ = x.out.Stop()
	if x.events == nil {
		x.w.WriteHeader(http.StatusAccepted)
	}
}

// silent ends the response to a request that gets no answer: an event stream
// without one.
func (x *exchange) silent() {
	_ = x.out.Stop()
	switch {
	case x.events != nil:
	case x.stream:
		x.events = x.srv.startEvents(x.w, x.ctx)
	default:
		x.w.WriteHeader(http.StatusAccepted)
	}
}

// primeAfter is how long a call may take until its response is an event stream, so that the client
// knows how to go on with it.
const primeAfter = 2 * time.Second

// keepAlive keeps the connection alive until it is stopped.
func (x *exchange) keepAlive() *keepAlive {
	if !x.stream {
		return nil
	}
	first := x.srv.opts.KeepAlive
	if x.ses != nil && x.ses.takesPrimer() {
		first = min(first, primeAfter)
	}
	return every(first, x.srv.opts.KeepAlive, x.out)
}
