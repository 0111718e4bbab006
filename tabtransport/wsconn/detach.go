package wsconn

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
)

// errDetached is why a connection ends that another handler serves from now on.
var errDetached = errors.New("served by another process")

// Detach has the connection of a peer that is not admitted served by h, which gets r, the
// request that has opened it. To h the WebSocket has just been asked for: it answers the
// request by taking the connection over, with all that the peer has sent since. The peer does not
// see this second answer. openings is how many frames h does not send again. If the hub has sent
// more than these, it has answered all frames but the one that is being handled, and h gets that
// one alone. It is for the reader, whose Read returns then; h
// is called when nothing else of the connection is left, in its goroutine.
func (c *Conn) Detach(h http.Handler, r *http.Request, openings int) {
	if c.recorder == nil || c.recorder.off {
		c.Close(spec.CloseTooFast, "too much was said before the first message that shows a credential; come back later")
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed != nil {
		return
	}
	c.closed = errDetached
	c.pong, c.pingDue = nil, false
	c.stopTimersLocked()
	early := c.recorder.early
	if c.early > openings {
		early = early[c.recorder.frame:]
	}
	w := &detached{conn: c.recorder.Conn, early: early, subprotocol: c.ws.Subprotocol(), header: http.Header{}}
	c.recorder.stop()
	r = r.WithContext(context.WithoutCancel(r.Context()))
	c.handOver = func() {
		if w.conn.SetDeadline(time.Time{}) != nil {
			w.conn.Close()
			return
		}
		defer func() { // how a handler of net/http ends an answer in the middle
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				panic(p)
			}
		}()
		h.ServeHTTP(w, r)
	}
}

// hold says how large the buffer of a frame is; see unadmitted.hold.
func (c *Conn) hold(size int) bool {
	all := size
	if c.recorder != nil {
		all += cap(c.recorder.early)
	}
	if !c.srv.unadmitted.hold(c, all) {
		return false
	}
	c.buffered = size
	return true
}

// recordedHijacker gives out the connection as one that is recorded.
type recordedHijacker struct {
	http.ResponseWriter
	recorder *recorder
}

// Hijack implements http.Hijacker.
func (h recordedHijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buf, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err == nil {
		h.recorder.Conn, h.recorder.buffer = conn, buf.Reader
	}
	return h.recorder, buf, err
}

// recorder remembers what is read of a connection until its peer is admitted. It belongs to
// the reader.
type recorder struct {
	net.Conn
	conn   *Conn
	buffer *bufio.Reader // that reads from it
	early  []byte
	frame  int  // in early: where the frame begins that is being read
	off    bool // nothing is remembered any more
}

// begin marks all that was read so far as handled, except what is in the buffer.
func (r *recorder) begin() { r.frame = len(r.early) - r.buffer.Buffered() }

// Read implements net.Conn.
func (r *recorder) Read(b []byte) (int, error) {
	n, err := r.Conn.Read(b)
	if n > 0 && !r.off {
		r.add(b[:n])
	}
	return n, err
}

// add remembers what was read, unless it is more than a first frame or there is no memory.
func (r *recorder) add(b []byte) {
	if int64(len(r.early)+len(b)) > r.conn.srv.config.MaxFirstFrame+firstBuffer {
		r.stop()
		return
	}
	r.early = append(r.early, b...)
	if !r.conn.hold(r.conn.buffered) {
		r.stop()
	}
}

func (r *recorder) stop() { r.early, r.off = nil, true }

// detached is the answer to a request that has had one.
type detached struct {
	conn        net.Conn
	early       []byte
	subprotocol string // sent to the peer
	header      http.Header
}

// Hijack implements http.Hijacker. What was read is in the buffer. What is written there must be
// the answer to the request, with the same choices as that which the peer has had.
func (d *detached) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	from := bufio.NewReaderSize(bytes.NewReader(d.early), len(d.early))
	_, _ = from.Peek(len(d.early))
	conn := d.conn
	d.conn, d.early = nil, nil
	return conn, bufio.NewReadWriter(from, bufio.NewWriter(sameAnswer(d.subprotocol))), nil
}

// sameAnswer takes the answer that accepts a WebSocket with a subprotocol.
type sameAnswer string

// Write implements io.Writer. It gets the answer at once: no answer is larger than the buffer.
func (s sameAnswer) Write(b []byte) (int, error) {
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(b)), nil)
	if err != nil {
		return 0, err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols || resp.Header.Get("Sec-Websocket-Protocol") != string(s) || resp.Header["Sec-Websocket-Extensions"] != nil {
		return 0, errors.New("the other process has answered in another way")
	}
	return len(b), nil
}

// Header implements http.ResponseWriter.
func (d *detached) Header() http.Header { return d.header }

// WriteHeader closes the WebSocket of a peer that could not be served, which comes back later.
func (d *detached) WriteHeader(int) {
	if d.conn == nil {
		return
	}
	reason := websocket.FormatCloseMessage(int(spec.CloseGoingAway), "your hub cannot be reached now; come back in a moment")
	d.conn.SetDeadline(time.Now().Add(lingerTimeout))
	_, _ = d.conn.Write(append([]byte{0x80 | websocket.CloseMessage, byte(len(reason))}, reason...))
	_, _ = io.CopyN(io.Discard, d.conn, maxSkipped<<20) // or what was written may be lost
	d.conn.Close()
	d.conn = nil
}

// Write implements http.ResponseWriter.
func (d *detached) Write(b []byte) (int, error) {
	d.WriteHeader(http.StatusServiceUnavailable)
	return len(b), nil
}
