package delivery

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
)

// socket is a connection of a listener.
type socket struct {
	net.Conn
	of Conn
}

type listener struct{ net.Listener }

// Listen returns a listener that accepts what inner does, and notes what becomes of it: see
// WithConn.
func Listen(inner net.Listener) net.Listener { return listener{inner} }

func (l listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	s := &socket{Conn: conn}
	s.of.peek = func() seen { return peek(conn) }
	return s, nil
}

type key struct{}

// WithConn returns a context that FromContext finds a Conn in, if conn is one of Listen, or TLS over
// one. It is for http.Server.ConnContext.
func WithConn(ctx context.Context, conn net.Conn) context.Context {
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secure.NetConn()
	}
	if s, ok := conn.(*socket); ok {
		return context.WithValue(ctx, key{}, &s.of)
	}
	return ctx
}

// FromContext returns what is known of the connection of a request, nil if that is nothing.
func FromContext(ctx context.Context) *Conn {
	c, _ := ctx.Value(key{}).(*Conn)
	return c
}

// Hijacker is a response of which who takes over the connection gets the system's own: it does
// more than one of Listen, such as writing several buffers at once.
type Hijacker struct{ http.ResponseWriter }

// Unwrap is for http.ResponseController.
func (h Hijacker) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// Hijack implements http.Hijacker.
func (h Hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if s, ok := conn.(*socket); ok {
		conn = s.Conn
	}
	return conn, rw, err
}

// CloseWrite ends what can be written, if the connection can do so.
func (s *socket) CloseWrite() error {
	if half, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Read implements net.Conn.
func (s *socket) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		s.of.end(isReset(err))
	}
	return n, err
}

// Write implements net.Conn.
func (s *socket) Write(b []byte) (int, error) {
	s.of.sent.Add(uint64(len(b))) // before the client can have it
	n, err := s.Conn.Write(b)
	s.of.sent.Add(-uint64(len(b) - n))
	return n, err
}

// Close implements net.Conn. What the client has not read by now nobody will know.
func (s *socket) Close() error {
	s.of.end(false)
	return s.Conn.Close()
}
