package mcpserver

import (
	"context"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
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
	ses    *session        // in which the client can go on with an event stream; nil: it cannot

	// owned by who writes
	events *eventWriter // nil until the response is an event stream
	status int          // of the answer
}

func newExchange(s *Server, w http.ResponseWriter, r *http.Request, object, stream bool) *exchange {
	x := &exchange{srv: s, w: w, ctx: r.Context(), object: object, stream: stream, status: http.StatusOK}
	x.out = newOutbox(x, nil, nil)
	return x
}

// write implements sink. An event stream with a log has no errors: what could not be written is in
// the log.
func (x *exchange) write(fs []frame) error {
	if x.events == nil {
		switch {
		case x.ctx.Err() != nil:
			return errGone
		case len(fs) == 1 && fs[0].final && x.object:
			return writeJSON(x.w, x.srv.opts.WriteLimit, x.status, fs[0])
		}
		x.events = x.srv.startEvents(x.w, x.ctx)
		if x.ses != nil {
			x.events.log, _ = x.srv.replays.begin(x.ses, x.events, false)
			x.events.prime = x.events.log != nil && x.ses.takesPrimer()
		}
	}
	if err := x.events.write(fs); x.events.log == nil {
		return err
	}
	return nil
}

// end lets nothing else in.
func (x *exchange) end() {
	_ = x.out.stop()
	if x.events != nil && x.events.log != nil {
		x.events.log.leave(x.events)
		x.events.log.end()
	}
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
	defer x.keepAlive().stop()
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

// takesPrimer reports whether the client takes an event without data, which is how it learns
// an id before there is a message. Clients before 2025-11-25 fail on one.
func (ses *session) takesPrimer() bool {
	return ses.agreedVersion() >= mcp.ProtocolVersion20251125
}
