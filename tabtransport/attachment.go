package tabtransport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"tabhub/spec"
)

// attachment is one connection of a peer: the Attachment of Peers.
//
// Two locks order what the handler is told. Both are held while it is told, so it must
// not wait for what needs them; neither is needed to send a request or to answer one.
//   - Peers.order keeps Connect and Disconnected apart: whose connection it is, only the
//     answer to Connect tells, so that a peer's own order cannot be kept by itself.
//   - attachment.telling keeps Messages and the end of their connection apart. One that
//     takes long to read delays only its own peer.
//
// They are taken in the order telling, order, Peers.mu.
type attachment struct {
	// Static after construction.
	peers    *Peers
	peer     spec.PeerID
	epoch    spec.Epoch
	session  string // of the hello
	link     Link
	resender Resender // nil if the peer does not resume

	messages sync.Mutex   // one Message at a time
	telling  sync.RWMutex // read-locked while the handler is told of a message

	// ended is guarded by peers.mu: it was left, replaced or given up. Else it is the
	// attachment of its peer.
	ended bool
}

// Attach implements Attacher.
func (p *Peers) Attach(ctx context.Context, conn Conn, makeLink func(Accepted) Link) (Attachment, error) {
	select {
	case <-p.ready:
	case <-ctx.Done():
		return nil, fmt.Errorf("the hub is not ready: %w", context.Cause(ctx))
	}
	a, in, err := p.admit(conn, makeLink)
	if err != nil {
		return nil, err
	}
	if in.old != nil {
		in.old.link.Close(spec.CloseReplaced, "another connection took this identity")
	}
	if in.dismissed != nil {
		a.link.Close(in.dismissed.code, in.dismissed.reason)
	}
	tell(in.lost)
	p.resend(a)
	if in.old != nil {
		// What it said last comes before what the new one says.
		in.old.telling.Lock()
		defer in.old.telling.Unlock()
	}
	return a, nil
}

// installed is what is left to do after a connection was put in its place.
type installed struct {
	old       *attachment // which it has replaced
	lost      []ended     // requests of an earlier session
	dismissed *dismissal  // the peer was given up meanwhile
}

// admit asks the handler about a connection and puts it in its place.
func (p *Peers) admit(conn Conn, makeLink func(Accepted) Link) (*attachment, installed, error) {
	p.order.Lock()
	defer p.order.Unlock()
	asking := &asking{done: make(chan struct{}), dismissed: make(map[spec.PeerID]dismissal)}
	defer close(asking.done)
	p.mu.Lock()
	p.asking = asking
	p.mu.Unlock()
	acc, err := p.handler.Connect(conn)
	if err != nil {
		p.mu.Lock()
		p.asking = nil
		p.mu.Unlock()
		return nil, installed{}, err
	}
	a := &attachment{peers: p, peer: acc.Peer, epoch: acc.Epoch, link: makeLink(acc)}
	if conn.Hello != nil {
		a.session = conn.Hello.Session
		if a.session != "" && slices.Contains(conn.Hello.Capabilities, spec.CapResume) {
			a.resender, _ = a.link.(Resender)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asking = nil
	return a, p.installLocked(a, asking), nil
}

// installLocked puts a connection that the handler has accepted in its place.
func (p *Peers) installLocked(a *attachment, asking *asking) (in installed) {
	if d, ok := asking.dismissed[a.peer]; ok {
		a.ended = true
		return installed{dismissed: &d}
	}
	was := p.peers[a.peer]
	if was != nil && was.session != a.session {
		in.lost = p.loseLocked(func(at spec.TabAddr) bool { return at.Peer == a.peer })
	}
	if was != nil && was.attachment != nil {
		in.old = was.attachment
		in.old.ended = true
	}
	p.peers[a.peer] = &peer{session: a.session, attachment: a}
	return in
}

// Peer implements Attachment.
func (a *attachment) Peer() spec.PeerID { return a.peer }

// Epoch implements Attachment.
func (a *attachment) Epoch() spec.Epoch { return a.epoch }

// Message implements Attachment.
func (a *attachment) Message(tab int64, id json.RawMessage, msg spec.Inbound) {
	a.messages.Lock()
	defer a.messages.Unlock()
	a.tell(tab, id, msg)
}

// Register implements Attachment.
func (a *attachment) Register(tab int64, id json.RawMessage, msg *spec.Register) {
	a.tell(tab, id, msg)
}

func (a *attachment) tell(tab int64, id json.RawMessage, msg spec.Inbound) {
	a.telling.RLock()
	defer a.telling.RUnlock()
	a.peers.mu.Lock()
	ended := a.ended
	a.peers.mu.Unlock()
	if !ended {
		a.peers.handler.Message(spec.TabAddr{Peer: a.peer, Tab: tab}, id, msg)
	}
}

// Leave implements Attachment.
func (a *attachment) Leave(cause error) {
	if cause == nil {
		cause = errClosed
	}
	a.telling.Lock()
	defer a.telling.Unlock()
	p := a.peers
	p.order.Lock()
	defer p.order.Unlock()
	if p.leave(a) {
		p.handler.Disconnected(a.peer, cause)
	}
}

// leave is Leave's change of state. It reports whether the handler is to be told.
func (p *Peers) leave(a *attachment) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.ended {
		return false
	}
	a.ended = true
	p.peers[a.peer].attachment = nil
	return true
}

var errClosed = errors.New("connection closed")
