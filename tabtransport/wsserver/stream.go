package wsserver

import (
	"bufio"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// patience is how long a caller may be kept by the write of its own frame.
const patience = 50 * time.Millisecond

// stream is the network connection under a WebSocket. It lets a goroutine that has
// other things to do out of a write that stalls: while the stream is lent, what a
// write leaves at its deadline is kept, and the write counts as done. Whoever lent
// the stream has settle write the rest. What is written meanwhile follows it.
type stream struct {
	net.Conn

	mu   sync.Mutex
	lent bool
	owes bool   // there is a rest, or settle is writing it
	rest []byte // not written yet
}

// under returns a ResponseWriter whose connection is a stream once it is hijacked.
// With TLS there is none: a TLS connection is lost with the first write that does not
// end in time.
type under struct {
	http.ResponseWriter
	stream *stream
}

// Hijack implements http.Hijacker.
func (u *under) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if _, secure := conn.(*tls.Conn); err != nil || secure {
		return conn, rw, err
	}
	u.stream = &stream{Conn: conn}
	return u.stream, rw, nil
}

var errUnread = errors.New("the peer does not read its messages")

// Write implements net.Conn.
func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	if s.owes {
		defer s.mu.Unlock()
		if len(s.rest)+len(b) > 2*maxDirect {
			return 0, errUnread
		}
		s.rest = append(s.rest, b...)
		return len(b), nil
	}
	s.mu.Unlock()
	n, err := s.Conn.Write(b)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.lent {
		return n, err
	}
	s.owes = true
	s.rest = append(s.rest, b[n:]...)
	return len(b), nil
}

// SetWriteDeadline implements net.Conn. It does not concern the rest of an earlier
// write.
func (s *stream) SetWriteDeadline(t time.Time) error {
	s.mu.Lock()
	owes := s.owes
	s.mu.Unlock()
	if owes {
		return nil
	}
	return s.Conn.SetWriteDeadline(t)
}

// lend lets writes leave a rest.
func (s *stream) lend() {
	s.mu.Lock()
	s.lent = true
	s.mu.Unlock()
}

// recall ends what lend began. It reports whether there is something to settle.
func (s *stream) recall() (owes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lent = false
	return s.owes
}

// settle writes the rest.
func (s *stream) settle() error {
	for {
		s.mu.Lock()
		b := s.rest
		s.rest = nil
		s.owes = len(b) > 0
		s.mu.Unlock()
		if len(b) == 0 {
			return nil
		}
		s.Conn.SetWriteDeadline(writeDeadline(len(b)))
		if _, err := s.Conn.Write(b); err != nil {
			return err
		}
	}
}
