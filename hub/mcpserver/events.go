package mcpserver

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// timedWriter writes to a client, which is given up when it takes nothing for longer than the
// limit.
type timedWriter struct {
	w     http.ResponseWriter
	rc    *http.ResponseController
	limit time.Duration
}

func newTimedWriter(w http.ResponseWriter, limit time.Duration) timedWriter {
	return timedWriter{w, http.NewResponseController(w), limit}
}

// eventWriter writes frames as server-sent events.
type eventWriter struct {
	timedWriter
	gone context.Context // ends when the client has gone; nil: somebody else looks
}

// startEvents makes the response an event stream.
func (s *Server) startEvents(w http.ResponseWriter) *eventWriter {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return &eventWriter{timedWriter: newTimedWriter(w, s.opts.WriteLimit)}
}

var (
	eventStart = []byte("event: message\ndata: ")
	eventEnd   = []byte("\n\n")
)

// write implements sink.
func (e *eventWriter) write(fs []frame) error {
	if e.gone != nil && e.gone.Err() != nil {
		return errGone
	}
	defer e.rest()
	for i := range fs {
		parts := [][]byte{eventStart, fs[i].head, fs[i].body, fs[i].tail, eventEnd}
		if fs[i].raw {
			parts = [][]byte{fs[i].head}
		}
		for _, p := range parts {
			if err := e.writeAll(p); err != nil {
				return err
			}
		}
	}
	return e.rc.Flush()
}

// rest ends the time that the client has: the connection may be used again.
func (t *timedWriter) rest() { _ = t.rc.SetWriteDeadline(time.Time{}) }

// writeAll writes p in pieces, each of which has the full limit.
func (t *timedWriter) writeAll(p []byte) error {
	const piece = 256 << 10
	for len(p) > 0 {
		_ = t.rc.SetWriteDeadline(time.Now().Add(t.limit)) // a recorder has none
		n, err := t.w.Write(p[:min(piece, len(p))])
		if err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// eventStream is a response that stays open: GET of /mcp and of /sse.
type eventStream struct {
	srv  *Server
	r    *http.Request
	rc   *http.ResponseController
	out  *outbox
	quit chan struct{}
	once sync.Once
}

// newEventStream starts the response, of which nothing is sent yet.
func (s *Server) newEventStream(w http.ResponseWriter, r *http.Request, ses *session) *eventStream {
	st := &eventStream{srv: s, r: r, quit: make(chan struct{})}
	ew := s.startEvents(w)
	ew.gone = r.Context()
	st.rc = ew.rc
	st.out = newOutbox(ew, ses.notices, func(error) {
		ses.retell()
		st.close()
	})
	return st
}

// run keeps the response open until the client goes, close is called or the Server
// is closed.
func (st *eventStream) run() {
	stop := every(st.srv.opts.KeepAlive, func() { st.out.post(comment) })
	select {
	case <-st.r.Context().Done():
	case <-st.quit:
	case <-st.srv.ctx.Done():
	}
	stop()
}

// finish waits for what is being written, but not long.
func (st *eventStream) finish() {
	_ = st.rc.SetWriteDeadline(time.Now().Add(flushAtEnd))
	if st.out.stop() == nil {
		// A client that reads sees the end, however busy this machine is.
		_ = st.rc.SetWriteDeadline(time.Now().Add(10 * flushAtEnd))
	}
}

// close ends the response. It does not wait and is idempotent.
func (st *eventStream) close() { st.once.Do(func() { close(st.quit) }) }

// every calls f at each interval until stop is called.
func every(interval time.Duration, f func()) (stop func()) {
	var mu sync.Mutex
	var timer *time.Timer
	stopped := false
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(interval, func() {
		f()
		mu.Lock()
		defer mu.Unlock()
		if !stopped {
			timer.Reset(interval)
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}
