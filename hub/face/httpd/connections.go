package httpd

import (
	ordered "container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// maxUnproved is how many connections may be open on which no request has shown a credential.
const maxUnproved = 512

// connections are the Server's connections that need attention: those on which nothing has come yet,
// and those on which no request has shown a credential. Every program that reaches the port can open
// the latter, so the oldest is closed for a new one: a client that has a credential shows it at once.
type connections struct {
	bound bool     // whether the latter are bounded: not if the hub asks for no credential
	fresh sync.Map // of net.Conn: those on which nothing has come. Browsers open connections in advance

	mu       sync.Mutex
	unproved ordered.List // of net.Conn, the oldest first
	at       map[net.Conn]*ordered.Element
}

// connection is one that has to show a credential.
type connection struct {
	conn   net.Conn
	proved atomic.Bool // only the first request that shows a credential needs the lock
}

type connectionKey struct{}

// add takes in a connection, whose context it returns.
func (c *connections) add(ctx context.Context, conn net.Conn) context.Context {
	if isOwner(ctx) || !c.bound {
		return ctx
	}
	c.mu.Lock()
	if c.at == nil {
		c.at = map[net.Conn]*ordered.Element{}
	}
	var oldest net.Conn
	if c.at[conn] = c.unproved.PushBack(conn); c.unproved.Len() > maxUnproved {
		oldest = c.removeLocked(c.unproved.Front())
	}
	c.mu.Unlock()
	if oldest != nil {
		go oldest.Close() // over TLS it may write first, which can block
	}
	return context.WithValue(ctx, connectionKey{}, &connection{conn: conn})
}

// prove notes that a request on a connection, whose context it has, has shown a credential.
func (c *connections) prove(ctx context.Context) {
	if of, ok := ctx.Value(connectionKey{}).(*connection); ok && !of.proved.Swap(true) {
		c.remove(of.conn)
	}
}

func (c *connections) remove(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.at[conn]; e != nil {
		c.removeLocked(e)
	}
}

func (c *connections) removeLocked(e *ordered.Element) net.Conn {
	conn := c.unproved.Remove(e).(net.Conn)
	delete(c.at, conn)
	return conn
}

// change follows http.Server.ConnState.
func (c *connections) change(conn net.Conn, state http.ConnState) {
	if c.bound && (state == http.StateClosed || state == http.StateHijacked) {
		c.remove(conn)
	}
	switch state {
	case http.StateNew:
		c.fresh.Store(conn, nil)
	case http.StateIdle: // it was active before
	default:
		c.fresh.Delete(conn)
	}
}

// closeFresh closes the connections on which nothing has come: net/http would wait for them for five
// seconds.
func (c *connections) closeFresh() {
	for conn := range c.fresh.Range {
		conn.(net.Conn).Close()
	}
}
