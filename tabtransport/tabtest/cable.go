package tabtest

import (
	"bytes"
	"net"
	"sync"

	"tabhub/spec"
)

// Cable is a listener whose connections end as they do when a cable is cut or a far
// end dies: without a word, and with what was sent last.
type Cable struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
	lost  chan struct{} // closed with the first call that is lost; nil: none is
}

// Accept implements net.Listener.
func (c *Cable) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = append(c.conns, conn)
	return &wire{Conn: conn, cable: c}, nil
}

// Cut ends all connections.
func (c *Cable) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}

// Lose loses the next call that the hub sends, and what it sends later over the same
// connection. The channel is closed when that has happened.
func (c *Cable) Lose() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = make(chan struct{})
	return c.lost
}

// wire is one connection of a Cable.
type wire struct {
	net.Conn
	cable  *Cable
	broken bool // guarded by cable.mu
}

func (w *wire) Write(b []byte) (int, error) {
	c := w.cable
	c.mu.Lock()
	if c.lost != nil && bytes.Contains(b, []byte(spec.MethodExecuteTool)) {
		w.broken = true
		close(c.lost)
		c.lost = nil
	}
	broken := w.broken
	c.mu.Unlock()
	if broken {
		return len(b), nil
	}
	return w.Conn.Write(b)
}
