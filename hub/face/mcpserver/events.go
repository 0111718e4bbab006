package mcpserver

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/face/mcpserver/methods"
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
	gone   context.Context // ends when the client has gone
	stream *eventStream    // whose connection it is; nil: the response to a POST

	log   *eventLog // stores what it writes; nil: nothing is stored, and its events have no ids
	prime bool      // the client is to learn the id of the stream before there is an event

	// owned by the writing goroutine
	last  int // the number of the last event
	start []byte
}

// startEvents makes the response an event stream.
func (s *Server) startEvents(w http.ResponseWriter, gone context.Context) *eventWriter {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return &eventWriter{timedWriter: newTimedWriter(w, s.opts.WriteLimit), gone: gone}
}

var (
	eventStart = []byte("event: message\ndata: ")
	eventEnd   = []byte("\n\n")
)

// WriteFrames implements jsonrpc.Sink.
func (e *eventWriter) WriteFrames(fs []jsonrpc.Frame) error {
	if e.log == nil {
		return e.send(fs)
	}
	fs, err := e.log.add(e, fs)
	if err != nil {
		return err
	}
	before := e.last
	if err := e.send(fs); err != nil {
		e.log.failed(e, before, fs)
		return err
	}
	for i := range fs {
		if to := fs[i].To; to != nil {
			to.Taken()
			fs[i].To = nil
		}
	}
	if e.stream != nil && e.log.ended(e.last) {
		e.stream.close()
	}
	return nil
}

func (e *eventWriter) send(fs []jsonrpc.Frame) error {
	if e.gone.Err() != nil {
		return methods.ErrGone
	}
	defer e.rest()
	if e.prime {
		e.prime = false
		if err := e.writeAll(append(e.appendID(nil), "data: \n\n"...)); err != nil {
			return err
		}
	}
	for i := range fs {
		parts := [][]byte{eventStart, fs[i].Head, fs[i].Body, fs[i].Tail, eventEnd}
		if fs[i].Raw {
			parts = [][]byte{fs[i].Head}
		} else if e.log != nil {
			e.last++
			e.start = append(e.appendID(e.start[:0]), eventStart...)
			parts[0] = e.start
		}
		for _, p := range parts {
			if err := e.writeAll(p); err != nil {
				return err
			}
		}
	}
	return e.rc.Flush()
}

// appendID appends the id of the last event.
func (e *eventWriter) appendID(b []byte) []byte {
	b = append(append(append(b, "id: "...), e.log.name...), '-')
	return append(strconv.AppendInt(b, int64(e.last), 10), '\n')
}

// wake has the stream write what the log has.
func (e *eventWriter) wake() {
	if e != nil && e.stream != nil {
		e.stream.out.Post(jsonrpc.Comment)
	}
}

// end ends the stream.
func (e *eventWriter) end() {
	if e != nil && e.stream != nil {
		e.stream.close()
	}
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
	srv    *Server
	r      *http.Request
	events *eventWriter
	out    *jsonrpc.Outbox
	quit   chan struct{}
	once   sync.Once
}

// newEventStream starts the response, of which nothing is sent yet. notices and lost are the
// outbox's.
func (s *Server) newEventStream(w http.ResponseWriter, r *http.Request, notices func() []jsonrpc.Frame, lost func(*eventStream, error)) *eventStream {
	st := &eventStream{srv: s, r: r, events: s.startEvents(w, r.Context()), quit: make(chan struct{})}
	st.events.stream = st
	st.out = jsonrpc.NewOutbox(st.events, notices, func(err error) {
		lost(st, err)
		st.close()
	})
	return st
}

// run keeps the response open until the client goes, close is called or the Server
// is closed.
func (st *eventStream) run() {
	alive := every(st.srv.opts.KeepAlive, st.srv.opts.KeepAlive, st.out)
	defer alive.stop()
	select {
	case <-st.r.Context().Done():
	case <-st.quit:
	case <-st.srv.ctx.Done():
	}
}

// finish waits for what is being written, but not long.
func (st *eventStream) finish() {
	rc := st.events.rc
	_ = rc.SetWriteDeadline(time.Now().Add(flushAtEnd))
	if st.out.Stop() == nil {
		// A client that reads sees the end, however busy this machine is.
		_ = rc.SetWriteDeadline(time.Now().Add(10 * flushAtEnd))
	}
}

// close ends the response. It does not wait and is idempotent.
func (st *eventStream) close() { st.once.Do(func() { close(st.quit) }) }

// keepAlive posts a comment now and then, so that no proxy takes a waiting connection for a
// dead one.
type keepAlive struct {
	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

// every posts a comment to out after first, and then at each interval, until stop is called.
func every(first, interval time.Duration, out *jsonrpc.Outbox) *keepAlive {
	k := &keepAlive{}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.timer = time.AfterFunc(first, func() {
		out.Post(jsonrpc.Comment)
		k.mu.Lock()
		defer k.mu.Unlock()
		if !k.stopped {
			k.timer.Reset(interval)
		}
	})
	return k
}

// stop is nothing on nil.
func (k *keepAlive) stop() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stopped = true
	k.timer.Stop()
}
