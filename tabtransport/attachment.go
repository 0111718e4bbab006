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
	page     bool   // a tab that has joined by itself: another document of it is another session
	link     Link
	resender Resender // nil if the peer does not resume

	messages sync.Mutex   // one Message at a time
	telling  sync.RWMutex // read-locked while the handler handles a message

	// Guarded by peers.mu.
	number int  // higher than that of each connection before
	ended  bool // it was left, replaced or given up; else it is the attachment of its peer
}

// Attach implements Attacher.
func (p *Peers) Attach(ctx context.Context, conn Conn, makeLink func(Accepted) Link) (Attachment, error) {
	select {
	case <-p.ready:
	case <-ctx.Done():
		return nil, fmt.Errorf("the hub is not ready: %w", context.Cause(ctx))
	}
	a, closed, why, err := p.admit(conn, makeLink)
	if err != nil {
		return nil, err
	}
	if closed != nil {
		closed.link.Close(why.code, why.reason)
		// What a connection that is replaced says last comes before what a says.
		defer closed.settle()
	}
	p.resend(a)
	for _, c := range p.takeCancels(a) {
		a.link.Cancel(c.tab, c.id, c.reason)
	}
	return a, nil
}

// admit asks the handler about a connection and puts it in its place. It returns which
// attachment is to be closed for it, if any, and why.
func (p *Peers) admit(conn Conn, makeLink func(Accepted) Link) (a, closed *attachment, why dismissal, err error) {
	p.order.Lock()
	defer p.order.Unlock()
	asking := &asking{done: make(chan struct{}), dismissed: make(map[spec.PeerID]dismissal)}
	defer close(asking.done)
	p.mu.Lock()
	p.asking = asking
	p.mu.Unlock()
	acc, err := p.handler.Connect(conn)
	if err == nil {
		a = newAttachment(p, acc, conn.Hello, makeLink(acc))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asking = nil
	if err != nil {
		return nil, nil, dismissal{}, err
	}
	closed, why = p.installLocked(a, asking)
	return a, closed, why, nil
}

func newAttachment(p *Peers, acc Accepted, hello *spec.Hello, link Link) *attachment {
	a := &attachment{peers: p, peer: acc.Peer, epoch: acc.Epoch, link: link}
	if hello != nil {
		a.session = hello.Session
		a.page = hello.BrowserID == "" && hello.TabKey != ""
		if a.session != "" && slices.Contains(hello.Capabilities, spec.CapResume) {
			a.resender, _ = link.(Resender)
		}
	}
	return a
}

// installLocked puts a in its place. It returns which attachment is to be closed: the
// one that a replaces, or a itself if its peer was given up meanwhile.
func (p *Peers) installLocked(a *attachment, asking *asking) (closed *attachment, why dismissal) {
	if why, ok := asking.dismissed[a.peer]; ok {
		a.ended = true
		return a, why
	}
	p.numbers++
	a.number = p.numbers
	now := &peer{session: a.session, attachment: a}
	if was := p.peers[a.peer]; was != nil {
		if closed = was.attachment; closed != nil {
			closed.ended = true
		}
		if was.session == a.session {
			now.cancels = was.cancels
		} else {
			p.loseLocked(spec.TabAddr{Peer: a.peer}, true)
		}
		if closed != nil && a.session == "" {
			p.loseOverLocked(closed)
		}
	}
	p.peers[a.peer] = now
	return closed, dismissal{spec.CloseReplaced, "another connection took this identity"}
}

// takeCancels returns the cancellations that the peer of a has not got yet.
func (p *Peers) takeCancels(a *attachment) []cancel {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.ended {
		return nil
	}
	owed := p.peers[a.peer].cancels
	p.peers[a.peer].cancels = nil
	return owed
}

// Peer implements Attachment.
func (a *attachment) Peer() spec.PeerID { return a.peer }

// Epoch implements Attachment.
func (a *attachment) Epoch() spec.Epoch { return a.epoch }

// Message implements Attachment.
func (a *attachment) Message(tab int64, id json.RawMessage, msg spec.Inbound) {
	if resume, ok := msg.(*spec.ResumeCall); ok {
		a.resumeCall(id, resume.RequestID)
		return
	}
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

// settle waits for the handler to return from the messages that it is handling.
func (a *attachment) settle() {
	a.telling.Lock()
	defer a.telling.Unlock()
}

// Leave implements Attachment.
func (a *attachment) Leave(cause error) {
	if cause == nil {
		cause = errClosed
	}
	a.detach(cause)
	if a.session == "" {
		a.peers.mu.Lock()
		defer a.peers.mu.Unlock()
		a.peers.loseOverLocked(a)
	}
}

// Retire implements Attachment.
func (a *attachment) Retire(ctx context.Context) {
	a.detach(errRetired)
	if a.resender != nil {
		return // its next connection brings the answers
	}
	for _, q := range a.peers.sentOver(a) {
		select {
		case <-q.done:
		case <-ctx.Done():
			return
		}
	}
}

// detach takes the connection from its peer and notifies the handler.
func (a *attachment) detach(cause error) {
	a.telling.Lock()
	defer a.telling.Unlock()
	p := a.peers
	p.order.Lock()
	defer p.order.Unlock()
	if p.detach(a) {
		p.handler.Disconnected(a.peer, cause)
	}
}

// detach reports whether the handler must be notified.
func (p *Peers) detach(a *attachment) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.ended {
		return false
	}
	a.ended = true
	p.peers[a.peer].attachment = nil
	return true
}

var (
	errClosed  = errors.New("connection closed")
	errRetired = errors.New("the connection is about to end")
)
