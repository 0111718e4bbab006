package natstest

import (
	"net"
	"strings"
	"sync"
	"testing"
)

// Proxy is a TCP proxy whose connections can be cut. It stands for the network between a client
// and a server: data arrives later or never. Its methods are safe for concurrent use.
type Proxy struct {
	// Static after construction.
	listener net.Listener
	target   string
	wg       sync.WaitGroup // of all its goroutines

	mu     sync.Mutex
	gates  [2]chan struct{} // by direction; nil or closed: bytes pass
	closed bool             // refuses connections
	conns  map[net.Conn]bool
}

// The directions of a Proxy's bytes.
const (
	toServer = iota
	toClient
)

// NewProxy starts a proxy to a server, whose URL or host and port it is given. It ends with the
// test.
func NewProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, target: strings.TrimPrefix(server, "nats://"), conns: make(map[net.Conn]bool)}
	p.wg.Go(p.run)
	t.Cleanup(func() {
		l.Close()
		p.Break()
		p.Mend() // lets the goroutines see it
		p.Break()
		p.wg.Wait()
	})
	return p
}

// Addr returns the host and port where the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// URL returns where the proxy is, for a NATS client.
func (p *Proxy) URL() string { return "nats://" + p.Addr() }

// Cut lets nothing pass, without a word to either end, until Mend. Connections stay open.
func (p *Proxy) Cut() { p.cut(toServer, toClient) }

// CutReplies is Cut for the server's data only: the client's arrives.
func (p *Proxy) CutReplies() { p.cut(toClient) }

// CutRequests is Cut for the client's data only.
func (p *Proxy) CutRequests() { p.cut(toServer) }

func (p *Proxy) cut(directions ...int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range directions {
		if p.gates[d] == nil {
			p.gates[d] = make(chan struct{})
		}
	}
}

// Break closes all connections, loses the bytes in flight, and refuses new ones until Mend.
func (p *Proxy) Break() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for c := range p.conns {
		c.Close()
	}
}

// Mend ends a Cut or Break. The bytes that a Cut has delayed arrive.
func (p *Proxy) Mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = false
	for d, gate := range p.gates {
		if gate != nil {
			close(gate)
			p.gates[d] = nil
		}
	}
}

// run takes connections until the listener is closed.
func (p *Proxy) run() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		if p.closed {
			client.Close()
			server.Close()
		} else {
			p.conns[client], p.conns[server] = true, true
			p.wg.Go(func() { p.copy(server, client, toServer) })
			p.wg.Go(func() { p.copy(client, server, toClient) })
		}
		p.mu.Unlock()
	}
}

// copy copies until one of the two is closed, and closes both.
func (p *Proxy) copy(to, from net.Conn, direction int) {
	defer func() {
		to.Close()
		from.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, from)
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		gate := p.gates[direction]
		p.mu.Unlock()
		if gate != nil {
			<-gate
		}
		if err != nil {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
