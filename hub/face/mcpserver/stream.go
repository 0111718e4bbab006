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

	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/face/mcpserver/methods"
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
	ses *methods.Session
	out *jsonrpc.Outbox
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

// ServeBridge is ServeStream for a client that outlives the Server and finds another.
// A request that comes after Close has begun gets no answer instead of a refusal.
// settled reports whether all requests that were begun got theirs, so that the client
// can send what has none to another Server. The error is ErrClosing if the Server ends.
func (s *Server) ServeBridge(ctx context.Context, b Bridged, r io.Reader, w io.Writer) (settled bool, err error) {
	return s.serveStream(ctx, b, r, w, true)
}

func (s *Server) serveStream(ctx context.Context, b Bridged, r io.Reader, w io.Writer, outlives bool) (settled bool, err error) {
	if !s.streams.Enter() {
		return true, methods.ErrClosing
	}
	defer s.streams.Leave()
	ses := s.methods.NewSession(ctx, methods.IdentityOf(ctx))
	ses.ID, ses.Began, ses.Outlives, ses.Transport = b.Session, b.Began, outlives, telemetry.Stdio
	ses.Stream = s.opened.Add(1)
	defer context.AfterFunc(s.ctx, func() { ses.Cancel(methods.ErrClosing) })()
	st := &stream{srv: s, ses: ses}
	st.out = jsonrpc.NewOutbox(&lineSink{bufio.NewWriterSize(w, 64<<10)}, ses.Notices, func(err error) {
		ses.Cancel(fmt.Errorf("%w: write: %w", methods.ErrGone, err))
	})
	ses.Connect(st.out)
	defer ses.End(methods.ErrGone)

	read := make(chan error, 1)
	go func() { read <- st.read(r) }()
	select {
	case err := <-read:
		ses.EndListens()
		if !outlives {
			ses.Leave()
		}
		settled, lost := st.finish(drainAtEOF)
		return settled, errors.Join(err, lost)
	case <-ses.Ctx.Done():
		cause := context.Cause(ses.Ctx)
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
	finished := st.ses.FinishCalls(limit)
	flushed := make(chan error, 1)
	go func() { flushed <- st.out.Stop() }()
	select {
	case err := <-flushed:
		return finished && err == nil, err
	case <-time.After(flushAtEnd):
		st.out.Abandon(methods.ErrGone)
		return false, fmt.Errorf("%w: it does not read", methods.ErrGone)
	}
}

// read handles one line after the other, until r ends.
func (st *stream) read(r io.Reader) error {
	lr := jsonrpc.LineReader{R: r, Max: int(st.srv.opts.MaxBody)}
	for first := true; ; first = false {
		st.out.WaitRoom()
		line, err := lr.Next()
		if first { // some clients begin with a byte order mark
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		switch {
		case errors.Is(err, jsonrpc.ErrTooLong):
			st.out.Put(jsonrpc.Failure(nil, jsonrpc.InvalidRequest(tooBig(st.srv.opts.MaxBody))))
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read: %w", err)
		case st.ses.Ctx.Err() != nil:
			return nil
		default:
			st.line(line)
		}
	}
}

func tooBig(limit int64) string { return fmt.Sprintf("a message has at most %d bytes", limit) }

func (st *stream) line(b []byte) {
	if jsonrpc.FirstByte(b) == 0 {
		return
	}
	m, e := st.ses.Receive(st.out, b, true)
	if e != nil && (m.Method == "" || m.ID != nil) { // a notification is never answered
		st.out.Put(jsonrpc.Failure(m.ID, e))
	}
}

// lineSink writes frames as lines.
type lineSink struct {
	w *bufio.Writer
}

func (s *lineSink) WriteFrames(fs []jsonrpc.Frame) error {
	for i := range fs {
		for _, part := range [...][]byte{fs[i].Head, fs[i].Body, fs[i].Tail} {
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
