package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"tabhub/hub/telemetry"
)

// How long the end of a stream may take: calls under way when a client closes its
// end may still be answered (hosts that close stdin wait about two seconds before
// they kill), and a client that does not read is not waited for.
const (
	drainAtEOF = 1500 * time.Millisecond
	flushAtEnd = 300 * time.Millisecond
)

// stream is one newline-delimited connection.
type stream struct {
	srv *Server
	ses *session
	out *outbox

	watched bool // owned by read
}

// ServeStream serves one client over newline-delimited JSON-RPC, as stdio and
// /attach have it. It blocks until r ends, a write fails, ctx is done or the Server
// is closed. It returns nil at the end of r.
//
// At the end of r, calls under way have 1.5 s to be answered, then they are
// cancelled. When something else ends the stream, r is closed if it can be. A Read
// or Write that cannot be interrupted keeps its goroutine until it returns: close
// both ends of a connection after ServeStream.
func (s *Server) ServeStream(ctx context.Context, r io.Reader, w io.Writer) error {
	_, err := s.serveStream(ctx, Bridged{Session: rand.Text(), Began: time.Now()}, r, w, false)
	return err
}

// Bridged is the session of a client that a bridge connects to one hub after the other.
type Bridged struct {
	Session string // of the client's credential alone
	Began   time.Time
}

// FarewellMethod is a notification that a bridge sends as its last line when its client goes, so
// that the session does not wait for another connection.
const FarewellMethod = "tabhub/farewell"

// ServeBridge is ServeStream for a client that outlives the Server and finds another.
// A request that comes after Close has begun gets no answer instead of a refusal.
// settled reports whether all requests that were begun got theirs, so that the client
// can send what has none to another Server. The error is ErrClosing if the Server ends.
func (s *Server) ServeBridge(ctx context.Context, b Bridged, r io.Reader, w io.Writer) (settled bool, err error) {
	return s.serveStream(ctx, b, r, w, true)
}

func (s *Server) serveStream(ctx context.Context, b Bridged, r io.Reader, w io.Writer, outlives bool) (settled bool, err error) {
	if !s.streams.enter() {
		return true, ErrClosing
	}
	defer s.streams.leave()
	ses := s.newSession(ctx, identityOf(ctx))
	ses.id, ses.began, ses.outlives, ses.transport = b.Session, b.Began, outlives, telemetry.Stdio
	ses.stream = s.opened.Add(1)
	defer context.AfterFunc(s.ctx, func() { ses.cancel(ErrClosing) })()
	st := &stream{srv: s, ses: ses}
	st.out = newOutbox(&lineSink{bufio.NewWriterSize(w, 64<<10)}, ses.notices, func(err error) {
		ses.cancel(fmt.Errorf("%w: write: %w", errGone, err))
	})
	ses.out = st.out
	defer ses.end(errGone)

	read := make(chan error, 1)
	go func() { read <- st.read(r) }()
	select {
	case err := <-read:
		ses.endListens()
		if !outlives {
			ses.leaves()
		}
		settled, lost := st.finish(drainAtEOF)
		return settled, errors.Join(err, lost)
	case <-ses.ctx.Done():
		cause := context.Cause(ses.ctx)
		settled, _ := st.finish(flushAtEnd)
		if c, ok := r.(io.Closer); ok { // maybe the same connection as w
			_ = c.Close()
		}
		return settled, cause
	}
}

// finish waits for the answers of calls under way to be written, but no longer than
// limit. settled reports whether all of them were; the error is why those that there
// are could not be written.
func (st *stream) finish(limit time.Duration) (settled bool, err error) {
	finished := st.ses.finishCalls(limit)
	flushed := make(chan error, 1)
	go func() { flushed <- st.out.stop() }()
	select {
	case err := <-flushed:
		return finished && err == nil, err
	case <-time.After(flushAtEnd):
		st.out.abandon(errGone)
		return false, fmt.Errorf("%w: it does not read", errGone)
	}
}

// read handles one line after the other, until r ends.
func (st *stream) read(r io.Reader) error {
	lr := lineReader{r: r, max: int(st.srv.opts.MaxBody)}
	for first := true; ; first = false {
		st.out.waitRoom()
		line, err := lr.next()
		if first { // some clients begin with a byte order mark
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		switch {
		case errors.Is(err, errTooLong):
			st.out.put(errorFrame(nil, invalidRequest(tooBig(st.srv.opts.MaxBody))))
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read: %w", err)
		case st.ses.ctx.Err() != nil:
			return nil
		default:
			st.line(line)
		}
	}
}

func tooBig(limit int64) string { return fmt.Sprintf("a message has at most %d bytes", limit) }

func (st *stream) line(b []byte) {
	switch firstByte(b) {
	case 0:
		return
	case '[':
		if st.ses.calls.enter() {
			st.ses.spawn(st.out, st.srv.batch(st.ses, st.out, nil, b))
		}
		return
	}
	m, e := parseMessage(b)
	if e != nil {
		if m.method == "" || m.id != nil { // a notification is never answered
			st.out.put(errorFrame(m.id, e))
		}
		return
	}
	if rq := st.srv.accept(st.ses, st.out, m); rq != nil {
		st.request(rq)
	}
}

func (st *stream) request(rq *request) {
	if rq.modern && !st.watched { // a client of this era does not say when it begins
		st.watched = true
		st.srv.watchSession(st.ses, rq.sessionInfo(), rq.caller(nil, nil))
	}
	if !st.ses.calls.enter() {
		return // the session is at its end
	}
	rq.begin() // here and now, so that a cancellation on the next line finds it
	if rq.ctx != nil {
		st.ses.spawn(st.out, rq.answer)
		return
	}
	defer st.ses.calls.leave()
	if f, ok := rq.answer(); ok {
		st.out.put(f)
	}
}

// lineSink writes frames as lines.
type lineSink struct {
	w *bufio.Writer
}

func (s *lineSink) write(fs []frame) error {
	for i := range fs {
		for _, part := range [...][]byte{fs[i].head, fs[i].body, fs[i].tail} {
			if _, err := s.w.Write(part); err != nil {
				return err
			}
		}
		if err := s.w.WriteByte('\n'); err != nil {
			return err
		}
	}
	return s.w.Flush()
}
