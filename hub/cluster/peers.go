package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"tabhub/tabtransport"
)

// peers are the connections that other nodes have made to this one. The zero value has none.
type peers struct {
	mu    sync.Mutex
	conns map[*peer]struct{}
}

// peer is the connection of a node.
type peer struct {
	*net.TCPConn
	of     *peers
	id     string // of the node; set once, under of.mu
	ending context.Context
	end    context.CancelFunc // of ending: the node shuts down, and the connection with it
}

// Close implements net.Conn.
func (p *peer) Close() error {
	p.of.mu.Lock()
	delete(p.of.conns, p)
	p.of.mu.Unlock()
	return p.TCPConn.Close()
}

// add notes which node has made a connection.
func (ps *peers) add(p *peer, id string) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.conns == nil {
		ps.conns = map[*peer]struct{}{}
	}
	p.id = id
	ps.conns[p] = struct{}{}
}

// NewServer returns a server for a listener of Listen.
func NewServer(h http.Handler, errorLog *log.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ConnContext:       withEnding,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10, // the client's headers, and those of the other node
		ErrorLog:          errorLog,
	}
}

// withEnding tells a forwarded socket when the node that forwards it shuts down, so that its peer
// connects again by another path in time.
func withEnding(ctx context.Context, conn net.Conn) context.Context {
	if secure, ok := conn.(*tls.Conn); ok {
		if p, ok := secure.NetConn().(*peer); ok {
			return tabtransport.WithEnding(ctx, p.ending)
		}
	}
	return ctx
}

// Listen returns a listener that accepts only members, by TLS as in ServerTLS.
func (n *Node) Listen(ln *net.TCPListener) net.Listener { return &memberListener{ln, n} }

type memberListener struct {
	*net.TCPListener
	n *Node
}

// Accept implements net.Listener.
func (l *memberListener) Accept() (net.Conn, error) {
	conn, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	p := &peer{TCPConn: conn, of: &l.n.peers}
	p.ending, p.end = context.WithCancel(context.Background())
	config := l.n.ServerTLS()
	config.VerifyConnection = func(s tls.ConnectionState) error {
		m, err := l.n.verify(&s)
		if err != nil {
			return err
		}
		l.n.peers.add(p, m.ID())
		if !l.n.Alive(m.ID()) { // close may have come before
			return errors.New("the lease of the peer has ended")
		}
		if m, _ := l.n.Member(m.ID()); m.Leaving { // retire may have come before
			p.end()
		}
		return nil
	}
	return tls.Server(p, config), nil
}

// retire makes the sockets that a node has forwarded to this one connect again by another path, because
// that node shuts down.
func (ps *peers) retire(id string) {
	for _, p := range ps.from(id) {
		p.end()
	}
}

// close closes the connections that a node has made to this one. Its lease has ended, so it may forward
// nothing more.
func (ps *peers) close(id string) {
	for _, p := range ps.from(id) {
		p.Close()
	}
}

// from returns the connections of a node.
func (ps *peers) from(id string) (all []*peer) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for p := range ps.conns {
		if p.id == id {
			all = append(all, p)
		}
	}
	return all
}
