package tabtransport

import (
	"context"
	"encoding/json"
	"sync"

	"tabhub/spec"
)

// Peers are the connected browsers and tabs of one user. It is the hub's
// TabHubTransport and an Attacher for any mixture of wires.
//
// The mutex guards which peers are connected and which requests are pending; no handler, link or
// caller is called under it. Two more locks order the calls of the handler, see attachment.go.
type Peers struct {
	handler Handler
	ready   chan struct{} // closed once handler is set
	order   sync.Mutex    // see attachment.go

	mu      sync.Mutex
	peers   map[spec.PeerID]*peer
	pending map[string]*pending // by id
	asking  *asking             // nil unless the handler is asked about a connection
	numbers int                 // of connections until now
}

// peer outlives its connections: it goes when the handler gives it up.
type peer struct {
	session    string      // of the last hello
	attachment *attachment // nil while it has no connection
	cancels    []cancel    // to be sent when it is back
}

// cancel is the cancellation of a request that is no longer pending.
type cancel struct {
	tab        int64
	id, reason string
}

// maxCancels is how many are kept for a peer that is away; beyond it the oldest is dropped.
const maxCancels = 1024

// asking is what happens while the handler decides about a connection.
type asking struct {
	done chan struct{} // closed when the connection is in its place, or refused
	// dismissed are the peers that are given up meanwhile: the handler may name one.
	dismissed map[spec.PeerID]dismissal
}

// dismissal is how a peer was given up.
type dismissal struct {
	code   spec.CloseCode
	reason string
}

var (
	_ TabHubTransport = (*Peers)(nil)
	_ Attacher        = (*Peers)(nil)
)

// NewPeers returns a transport without peers.
func NewPeers() *Peers {
	return &Peers{ready: make(chan struct{}), peers: make(map[spec.PeerID]*peer), pending: make(map[string]*pending)}
}

// Handle implements TabHubTransport. Connections that were made before it wait.
func (p *Peers) Handle(h Handler) {
	p.handler = h
	close(p.ready)
}

// IsHandled reports whether Handle was called.
func (p *Peers) IsHandled() bool {
	select {
	case <-p.ready:
		return true
	default:
		return false
	}
}

// Respond implements TabHubTransport.
func (p *Peers) Respond(to spec.TabAddr, id json.RawMessage, result any, err *spec.Error) {
	p.mu.Lock()
	a := p.attachedLocked(to.Peer)
	p.mu.Unlock()
	if a != nil {
		a.link.Respond(to.Tab, id, result, err)
	}
}

// Disconnect implements TabHubTransport.
func (p *Peers) Disconnect(to spec.TabAddr, code spec.CloseCode, reason string) {
	if a := p.giveUp(to, dismissal{code, reason}); a != nil {
		a.link.Close(code, reason)
	}
}

// giveUp is Disconnect's change of state. It returns the attachment to close, if any.
func (p *Peers) giveUp(to spec.TabAddr, why dismissal) *attachment {
	p.mu.Lock()
	defer p.mu.Unlock()
	if to.Tab != 0 {
		p.loseLocked(to, why.code == 0)
		return nil
	}
	a := p.attachedLocked(to.Peer)
	if why.code == 0 && a != nil {
		return nil
	}
	if why.code != 0 && p.asking != nil {
		p.asking.dismissed[to.Peer] = why
	}
	if a != nil {
		a.ended = true
	}
	delete(p.peers, to.Peer)
	p.loseLocked(to, why.code == 0)
	return a
}

// InFlight returns how many requests wait for an answer.
func (p *Peers) InFlight() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pending)
}

// attachedLocked returns the connection of a peer, nil if it is away.
func (p *Peers) attachedLocked(id spec.PeerID) *attachment {
	if peer := p.peers[id]; peer != nil {
		return peer.attachment
	}
	return nil
}

// attached is attachedLocked, but while the handler is asked about a connection it
// waits for the answer: the handler may know of the connection, and send to it, a
// moment before it is in its place. The error is ErrNotConnected, or ctx's.
func (p *Peers) attached(ctx context.Context, id spec.PeerID) (*attachment, error) {
	p.mu.Lock()
	a, asking := p.attachedLocked(id), p.asking
	p.mu.Unlock()
	if a == nil && asking != nil {
		select {
		case <-asking.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		p.mu.Lock()
		a = p.attachedLocked(id)
		p.mu.Unlock()
	}
	if a == nil {
		return nil, ErrNotConnected
	}
	return a, nil
}

// successor returns the connection that has taken the place of a in the same session,
// nil if there is none.
func (p *Peers) successor(a *attachment) *attachment {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.attachedLocked(a.peer)
	if next == nil || next == a || next.session != a.session {
		return nil
	}
	return next
}
