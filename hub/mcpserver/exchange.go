package mcpserver

import (
	"context"
	"net/http"
)

// exchange is the response to one POST. It is a JSON object unless something has to
// be said before the answer; then it becomes an event stream.
type exchange struct {
	// static after construction
	srv    *Server
	w      http.ResponseWriter
	ctx    context.Context // of the request: ends when the client has gone
	out    *outbox         // writes to this
	object bool            // the client takes a JSON object
	stream bool            // the client takes an event stream

	// owned by who writes
	events *eventWriter // nil until the response is an event stream
	status int          // of the answer
}

func newExchange(s *Server, w http.ResponseWriter, r *http.Request, object, stream bool) *exchange {
	x := &exchange{srv: s, w: w, ctx: r.Context(), object: object, stream: stream, status: http.StatusOK}
	x.out = newOutbox(x, nil, nil)
	return x
}

// write implements sink.
func (x *exchange) write(fs []frame) error {
	if x.ctx.Err() != nil {
		return errGone
	}
	if len(fs) == 1 && fs[0].final && x.events == nil && x.object {
		return writeJSON(x.w, x.srv.opts.WriteLimit, x.status, fs[0])
	}
	if x.events == nil {
		x.events = x.srv.startEvents(x.w)
	}
	return x.events.write(fs)
}

// finish sends the answer. status is for one that is a JSON object.
func (x *exchange) finish(f frame, status int) {
	x.out.mu.Lock()
	x.status = status
	x.out.mu.Unlock()
	f.final = true
	x.out.put(f)
	_ = x.out.stop()
}

// answerWith sends what answer returns.
func (x *exchange) answerWith(answer func() (frame, bool)) {
	defer x.keepAlive()()
	if f, ok := answer(); ok {
		x.finish(f, http.StatusOK)
		return
	}
	_ = x.out.stop()
	if x.events == nil {
		x.w.WriteHeader(http.StatusAccepted)
	}
}

// silent ends the response to a request that gets no answer: an event stream
// without one.
func (x *exchange) silent() {
	_ = x.out.stop()
	switch {
	case x.events != nil:
	case x.stream:
		x.events = x.srv.startEvents(x.w)
	default:
		x.w.WriteHeader(http.StatusAccepted)
	}
}

// keepAlive sends a comment now and then until stop is called, so that nobody on
// the way takes a long call for a dead connection.
func (x *exchange) keepAlive() (stop func()) {
	if !x.stream {
		return func() {}
	}
	return every(x.srv.opts.KeepAlive, func() { x.out.post(comment) })
}
