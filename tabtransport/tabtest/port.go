package tabtest

import (
	"bytes"
	"net"
	"sync"
	"testing"

	"tabhub/spec"
)

// Port is a TCP port on which one server listens after the other, like a hub that restarts.
// It stays reserved: while no server runs, connections to it end at once. It can end
// connections as the death of a peer does, without a close, and lose what was sent last.
type Port struct {
	listener net.Listener

	mu     sync.Mutex
	server *portListener // nil: none runs
	conns  []net.Conn
	lost   chan struct{} // closed with the first call that is lost; nil: none is
}

// NewPort takes a free port until the test ends.
func NewPort(t testing.TB) *Port {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p := &Port{listener: l}
	go p.accept()
	return p
}

// accept gives connections to the server that runs.
func (p *Port) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		server := p.server
		p.mu.Unlock()
		if server == nil {
			conn.Close()
			continue
		}
		select {
		case server.conns <- conn:
		case <-server.closed:
			conn.Close()
		}
	}
}

// Addr is the address of the port.
func (p *Port) Addr() string { return p.listener.Addr().String() }

// Listen returns the listener of the next server.
func (p *Port) Listen() net.Listener {
	l := &portListener{port: p, conns: make(chan net.Conn), closed: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server = l
	return l
}

// Cut ends all connections.
func (p *Port) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.conns {
		conn.Close()
	}
	p.conns = nil
}

// Lose loses the next call that the hub sends, and what it sends later over the same
// connection. The channel is closed when that has happened.
func (p *Port) Lose() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = make(chan struct{})
	return p.lost
}

// portListener is the listener of one server.
type portListener struct {
	port   *Port
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Accept implements net.Listener.
func (l *portListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		p := l.port
		p.mu.Lock()
		defer p.mu.Unlock()
		p.conns = append(p.conns, conn)
		return &portConn{Conn: conn, port: p}, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *portListener) Close() error {
	l.once.Do(func() {
		p := l.port
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.server == l {
			p.server = nil
		}
		close(l.closed)
	})
	return nil
}

// Addr implements net.Listener.
func (l *portListener) Addr() net.Addr { return l.port.listener.Addr() }

// portConn is the server's end of a connection.
type portConn struct {
	net.Conn
	port *Port
	lost bool // what is written; guarded by port.mu
}

func (c *portConn) Write(b []byte) (int, error) {
	if c.port.loses(c, b) {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// loses reports whether b, which the server writes to c, is lost.
func (p *Port) loses(c *portConn, b []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost != nil && bytes.Contains(b, []byte(spec.MethodExecuteTool)) {
		c.lost = true
		close(p.lost)
		p.lost = nil
	}
	return c.lost
}
