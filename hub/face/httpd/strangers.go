package httpd

import (
	ordered "container/list"
	"context"
	"net"
	"sync"
	"sync/atomic"
)

// maxStrangers is how many connections may be open on which no request has shown a credential.
const maxStrangers = 512

// strangers are these connections. Anybody who reaches the port can open them, so that the oldest
// yields to a new one: whoever has a credential shows it at once.
type strangers struct {
	mu    sync.Mutex
	conns ordered.List // of net.Conn, the oldest first
	at    map[net.Conn]*ordered.Element
}

// stranger is a connection that was one of them when it was opened.
type stranger struct {
	conn     net.Conn
	admitted atomic.Bool // it is none any more: only its first request needs the lock
}

type strangerKey struct{}

// add takes in a connection, whose context it returns.
func (s *strangers) add(ctx context.Context, conn net.Conn) context.Context {
	s.mu.Lock()
	if s.at == nil {
		s.at = map[net.Conn]*ordered.Element{}
	}
	var oldest net.Conn
	if s.at[conn] = s.conns.PushBack(conn); s.conns.Len() > maxStrangers {
		oldest = s.removeLocked(s.conns.Front())
	}
	s.mu.Unlock()
	if oldest != nil {
		go oldest.Close() // over TLS it may have something to say, for which nobody is to wait
	}
	return context.WithValue(ctx, strangerKey{}, &stranger{conn: conn})
}

// remove is for a connection that has shown a credential, or has ended. It may be called again.
func (s *strangers) remove(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.at[conn]; e != nil {
		s.removeLocked(e)
	}
}

func (s *strangers) removeLocked(e *ordered.Element) net.Conn {
	conn := s.conns.Remove(e).(net.Conn)
	delete(s.at, conn)
	return conn
}

// admit is remove for the connection of a request.
func (s *strangers) admit(ctx context.Context) {
	if c, ok := ctx.Value(strangerKey{}).(*stranger); ok && !c.admitted.Swap(true) {
		s.remove(c.conn)
	}
}
