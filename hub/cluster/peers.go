package cluster

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
)

// peers are the connections that other nodes have made to this one. The zero value has none.
type peers struct {
	mu    sync.Mutex
	conns map[*peer]struct{}
}

// peer is the connection of a node.
type peer struct {
	*net.TCPConn
	of *peers
	id string // of the node; set once, under of.mu
}

// Close implements net.Conn.
func (p *peer) Close() error {
	p.of.mu.Lock()
	delete(p.of.conns, p)
	p.of.mu.Unlock()
	return p.TCPConn.Close()
}

// add notes the node that a connection is from.
func (ps *peers) add(p *peer, id string) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.conns == nil {
		ps.conns = map[*peer]struct{}{}
	}
	p.id = id
	ps.conns[p] = struct{}{}
}

// Listen returns a listener that gives out the connections of members alone, by TLS as of ServerTLS.
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
	config := l.n.ServerTLS()
	config.VerifyConnection = func(s tls.ConnectionState) error {
		m, err := l.n.verify(&s)
		if err != nil {
			return err
		}
		l.n.peers.add(p, m.ID())
		if !l.n.Alive(m.ID()) { // CloseFrom may have come before
			return errors.New("the lease of the peer has ended")
		}
		return nil
	}
	return tls.Server(p, config), nil
}

// CloseFrom ends the connections that a node has made to this one: its lease has ended, and what
// it still asks is not for it to ask.
func (n *Node) CloseFrom(id string) {
	n.peers.mu.Lock()
	var gone []*peer
	for p := range n.peers.conns {
		if p.id == id {
			gone = append(gone, p)
		}
	}
	n.peers.mu.Unlock()
	for _, p := range gone {
		p.Close()
	}
}
