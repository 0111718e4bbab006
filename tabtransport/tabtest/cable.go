package tabtest

import (
	"bytes"
	"net"
	"sync"
	"testing"

	"tabhub/spec"
)

// Cable is a port for one server after the other, as a hub has that is restarted, and
// what lies between them and their clients. The port is taken all the time: nobody else
// can get it while no server runs. Connections can end as they do when a cable is cut or
// a far end dies: without a word, and with what was sent last.
type Cable struct {
	port net.Listener
	mu   sync.Mutex
	plug *plug // the server's end; nil: none runs

	conns []net.Conn
	lost  chan struct{} // closed with the first call that is lost; nil: none is
}

// NewCable returns a Cable on a free port, until the test ends.
func NewCable(t testing.TB) *Cable {
	t.Helper()
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { port.Close() })
	c := &Cable{port: port}
	go c.accept()
	return c
}

// accept gives connections to the server that runs. Where none does they end at once.
func (c *Cable) accept() {
	for {
		conn, err := c.port.Accept()
		if err != nil {
			return
		}
		c.mu.Lock()
		p := c.plug
		c.mu.Unlock()
		if p == nil {
			conn.Close()
			continue
		}
		select {
		case p.conns <- conn:
		case <-p.closed:
			conn.Close()
		}
	}
}

// Addr is the address of the port.
func (c *Cable) Addr() string { return c.port.Addr().String() }

// Listen returns the listener of the next server.
func (c *Cable) Listen() net.Listener {
	p := &plug{cable: c, conns: make(chan net.Conn), closed: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.plug = p
	return p
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

// plug is the listener of one server.
type plug struct {
	cable  *Cable
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Accept implements net.Listener.
func (p *plug) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		c := p.cable
		c.mu.Lock()
		defer c.mu.Unlock()
		c.conns = append(c.conns, conn)
		return &wire{Conn: conn, cable: c}, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *plug) Close() error {
	p.once.Do(func() {
		c := p.cable
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.plug == p {
			c.plug = nil
		}
		close(p.closed)
	})
	return nil
}

// Addr implements net.Listener.
func (p *plug) Addr() net.Addr { return p.cable.port.Addr() }

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
