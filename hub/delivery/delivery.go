// Package delivery tells whether an answer that was written to a connection has reached its
// client. To have written it says little: it may lie in the buffers of the system, unread, when
// the client is killed. But then the system resets the connection, instead of closing it. Linux
// and Windows do so; elsewhere what was written counts as delivered.
//
// It also looks at once whether a client is gone, for who cannot wait to be told: on another
// connection it may have asked again already. On Windows it can not.
package delivery

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// within is how long after an answer was written a reset connection says that it was not read.
// Until then nobody knows, unless the client asks for something else over the connection.
const within = 10 * time.Second

// Answer is what is written. One of its methods is called, once, by any goroutine, and must not
// block.
type Answer interface {
	Delivered()
	Lost()
}

// Conn is a connection of a Listener. Its methods are safe for concurrent use.
type Conn struct {
	net.Conn

	mu    sync.Mutex
	known []*written // of which nobody knows yet, the oldest first
	reset bool
	ended bool // there is nothing more to read
	late  *time.Timer
}

// written is an answer on a connection.
type written struct {
	answer Answer
	at     time.Time // zero: it is being written
	late   bool      // its client had left by then
	told   bool      // or is about to be
}

type listener struct{ net.Listener }

// Listen returns a listener that accepts what inner does, as Conns.
func Listen(inner net.Listener) net.Listener { return listener{inner} }

func (l listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: conn}, nil
}

type key struct{}

// WithConn returns a context that FromContext finds conn in, if that is a Conn, or TLS over one.
// It is for http.Server.ConnContext.
func WithConn(ctx context.Context, conn net.Conn) context.Context {
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secure.NetConn()
	}
	if c, ok := conn.(*Conn); ok {
		return context.WithValue(ctx, key{}, c)
	}
	return ctx
}

// FromContext returns the connection of a request, nil if it is no Conn.
func FromContext(ctx context.Context) *Conn {
	c, _ := ctx.Value(key{}).(*Conn)
	return c
}

// Hijacker is a response of which who takes over the connection gets the system's own: it does
// more than a Conn, such as writing several buffers at once.
type Hijacker struct{ http.ResponseWriter }

// Unwrap is for http.ResponseController.
func (h Hijacker) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// Hijack implements http.Hijacker.
func (h Hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if c, ok := conn.(*Conn); ok {
		conn = c.Conn
	}
	return conn, rw, err
}

// CloseWrite ends what can be written, if the connection can do so.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil && !isTimeout(err) {
		c.end(isReset(err))
	}
	return n, err
}

// Close implements net.Conn. What the client has not read by now nobody will know.
func (c *Conn) Close() error {
	c.end(false)
	return c.Conn.Close()
}

func (c *Conn) end(reset bool) {
	c.mu.Lock()
	c.reset = c.reset || reset
	c.look()
	c.ended = true
	c.mu.Unlock()
	c.settle(0)
}

// Writing says that an answer is about to be written. Wrote or Failed must follow.
func (c *Conn) Writing(a Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = append(c.known, &written{answer: a, late: c.ended})
}

// Asked says that the client asks for something else over the connection, which it does when it
// has read all that was written. It does nothing for a nil Conn.
func (c *Conn) Asked() {
	if c == nil {
		return
	}
	c.mu.Lock()
	waits := len(c.known) > 0
	c.mu.Unlock()
	if waits {
		c.settle(0)
	}
}

// Wrote says that an answer was written, and has it told what becomes of it: when the client asks
// for something else, when the connection ends, or in 10 s.
func (c *Conn) Wrote(a Answer) {
	c.mu.Lock()
	if w := c.find(a); w != nil {
		w.at = time.Now()
	}
	over := c.look()
	switch {
	case over:
	case c.late == nil:
		c.late = time.AfterFunc(within, func() { c.settle(within) })
	default:
		c.late.Reset(within)
	}
	c.mu.Unlock()
	if over {
		c.settle(0)
	}
}

// Failed says that an answer could not be written, which it knows.
func (c *Conn) Failed(a Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = slices.DeleteFunc(c.known, func(w *written) bool { return w.answer == a })
}

// IsLost reports whether an answer was written, or is, that its client does not read.
func (c *Conn) IsLost(a Answer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.find(a)
	if w == nil {
		return false
	}
	left := c.look()
	return w.at.IsZero() && left || w.isLost(c.reset, time.Now())
}

// IsGone reports whether the client has left, and will read nothing.
func (c *Conn) IsGone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.look()
}

// look finds out what the system knows, before who reads is told. It reports whether the client
// has left, as far as that can be seen. The caller holds the lock.
func (c *Conn) look() (left bool) {
	if !c.reset {
		left, c.reset = peek(c.Conn)
	}
	return left || c.ended || c.reset
}

func (c *Conn) find(a Answer) *written {
	for _, w := range c.known {
		if w.answer == a {
			return w
		}
	}
	return nil
}

// isLost reports whether an answer that was written was not read.
func (w *written) isLost(reset bool, now time.Time) bool {
	return w.late || reset && now.Sub(w.at) < within
}

// settle tells the answers that were written so long ago what has become of them.
func (c *Conn) settle(age time.Duration) {
	now := time.Now()
	var tell []*written
	c.mu.Lock()
	reset := c.reset
	for _, w := range c.known {
		if !w.told && !w.at.IsZero() && now.Sub(w.at) >= age {
			w.told = true
			tell = append(tell, w)
		}
	}
	c.mu.Unlock()
	for _, w := range tell {
		if w.isLost(reset, now) {
			w.answer.Lost()
		} else {
			w.answer.Delivered()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// Until they were told, IsLost knows of them.
	c.known = slices.DeleteFunc(c.known, func(w *written) bool { return w.told && slices.Contains(tell, w) })
	if len(c.known) > 0 && c.late != nil && !c.ended {
		c.late.Reset(within)
	}
}

func isTimeout(err error) bool {
	t, ok := errors.AsType[net.Error](err)
	return ok && t.Timeout()
}
