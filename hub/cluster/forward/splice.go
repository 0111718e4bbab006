package forward

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	upgradeTimeout = 15 * time.Second // for a node to answer that it speaks another protocol
	// lingerTimeout is how long a client may take to end its side when the node has ended its.
	lingerTimeout = 5 * time.Second
	// idleBuffer is what a direction of a splice holds while nothing comes; what is larger is
	// copied with a buffer that all share.
	idleBuffer = 2 << 10
	bulkBuffer = 32 << 10
)

// upgrade passes on a request for another protocol, and then copies what both sides say. The
// node has done nothing until it has answered, so it is asked again until one does.
func (t *target) upgrade(w http.ResponseWriter, r *http.Request) {
	var far *link
	var resp *http.Response
	var from *bufio.Reader
	err := t.each(r.Context(), func(node string) (err error) {
		if far, err = t.f.dial(r.Context(), node); err != nil {
			return err
		}
		from = bufio.NewReaderSize(far, idleBuffer)
		if resp, err = ask(far, from, r); err != nil {
			far.Close()
			return &unansweredError{node, err}
		}
		if err = misdirected(resp); err != nil {
			far.Close()
		}
		return err
	}, true)
	if err != nil {
		t.fail(w, r, err)
		return
	}
	t.f.stats.ok.Add(1)
	if resp.StatusCode != http.StatusSwitchingProtocols {
		defer far.Close()
		defer resp.Body.Close()
		copyAnswer(w, resp)
		return
	}
	near, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		far.Close()
		writeError(w, http.StatusInternalServerError, "the connection cannot be taken over")
		return
	}
	if err := begin(near, buf, far, from, resp); err != nil {
		near.Close()
		far.Close()
		return
	}
	t.f.splice(near, far)
}

// ask sends a request for another protocol to a node and reads the head of its answer.
func ask(far net.Conn, from *bufio.Reader, r *http.Request) (*http.Response, error) {
	defer context.AfterFunc(r.Context(), func() { far.Close() })()
	far.SetDeadline(time.Now().Add(upgradeTimeout))
	out := r.Clone(r.Context())
	whole(out, r)
	out.Header.Set("Connection", "Upgrade")
	out.Header["Upgrade"] = r.Header["Upgrade"]
	out.Body, out.Close = nil, false
	if err := out.Write(far); err != nil {
		return nil, err
	}
	return http.ReadResponse(from, out)
}

// copyAnswer answers with what a node has refused a request with.
func copyAnswer(w http.ResponseWriter, resp *http.Response) {
	for _, name := range []string{"Connection", "Keep-Alive", "Transfer-Encoding"} {
		resp.Header.Del(name)
	}
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(&boundedWriter{ResponseWriter: w, rc: http.NewResponseController(w)}, resp.Body)
}

// begin tells the client that the node speaks its protocol, and passes on what either has said
// already.
func begin(near net.Conn, buf *bufio.ReadWriter, far net.Conn, from *bufio.Reader, resp *http.Response) error {
	if err := near.SetDeadline(time.Now().Add(upgradeTimeout)); err != nil {
		return err
	}
	_, _ = buf.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	_ = resp.Header.Write(buf)
	_, _ = buf.WriteString("\r\n")
	if err := buf.Flush(); err != nil {
		return err
	}
	if err := flushTo(near, from); err != nil {
		return err
	}
	if err := flushTo(far, buf.Reader); err != nil {
		return err
	}
	far.SetDeadline(time.Time{})
	return near.SetDeadline(time.Time{})
}

// flushTo writes what a reader has read ahead.
func flushTo(to net.Conn, from *bufio.Reader) error {
	b, _ := from.Peek(from.Buffered())
	if len(b) == 0 {
		return nil
	}
	_, err := to.Write(b)
	return err
}

// splice copies both ways until either side breaks off, or both have ended, in two goroutines
// of its own.
func (f *Forwarder) splice(near net.Conn, far *link) {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		near.Close()
		far.Close()
		return
	}
	f.copying.Add(2)
	far.near = near
	f.mu.Unlock()
	f.stats.splices.Add(1)
	s := &spliced{near: near, far: far, f: f}
	s.open.Store(2)
	go s.copy(far, near)
	go s.copy(near, far)
}

type spliced struct {
	near net.Conn
	far  *link
	f    *Forwarder
	open atomic.Int32 // directions
}

// copy copies one way until from ends, and says so to the other side.
func (s *spliced) copy(to, from net.Conn) {
	defer s.f.copying.Done()
	err := copyAll(to, from)
	if err == nil {
		err = closeWrite(to)
	}
	if err == nil && from == net.Conn(s.far) {
		err = s.near.SetReadDeadline(time.Now().Add(lingerTimeout))
	}
	left := s.open.Add(-1)
	if left == 0 || err != nil {
		s.far.Close() // and with it near
	}
	if left == 0 {
		s.f.stats.splices.Add(-1)
	}
}

var buffers = &pool{sync.Pool{New: func() any { return new([bulkBuffer]byte) }}}

// pool implements httputil.BufferPool.
type pool struct{ p sync.Pool }

// Get returns a buffer of bulkBuffer bytes.
func (p *pool) Get() []byte { return p.p.Get().(*[bulkBuffer]byte)[:] }

// Put takes one back.
func (p *pool) Put(b []byte) { p.p.Put((*[bulkBuffer]byte)(b[:bulkBuffer])) }

// copyAll is io.Copy with a small buffer while little comes. A reader that takes nothing for
// writeTimeout ends it.
func copyAll(to, from net.Conn) error {
	idle := make([]byte, idleBuffer)
	for {
		n, err := copyOnce(to, from, idle)
		if n == len(idle) && err == nil {
			err = copyBulk(to, from)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// copyBulk copies as long as there is as much as fits a large buffer.
func copyBulk(to, from net.Conn) error {
	b := buffers.Get()
	defer buffers.Put(b)
	for {
		if n, err := copyOnce(to, from, b); err != nil || n < len(b) {
			return err
		}
	}
}

func copyOnce(to, from net.Conn, b []byte) (int, error) {
	n, err := from.Read(b)
	if n > 0 {
		to.SetWriteDeadline(time.Now().Add(writeTimeout))
		if _, err := to.Write(b[:n]); err != nil {
			return n, err
		}
	}
	return n, err
}

// closeWrite tells the other side that nothing more comes. Where that cannot be said alone, it
// returns an error, and the connection is to be closed.
func closeWrite(c net.Conn) error {
	if l, ok := c.(*link); ok {
		c = l.Conn
	}
	half, ok := c.(interface{ CloseWrite() error })
	if !ok {
		return net.ErrClosed
	}
	return half.CloseWrite()
}
