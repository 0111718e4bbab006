package tabtransport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tabhub/spec"
)

// Link is the wire to one connected peer, as Peers uses it. No method blocks for
// longer than it takes to queue or write one frame; all are safe for concurrent
// use and may be called after the wire was lost.
type Link interface {
	// Send queues or writes the request, calling p.Sending just before the bytes
	// leave. If the wire is lost while it is queued, the link calls p.Unsent. The
	// error is ErrNotConnected, ErrBusy or ErrUnsupported.
	Send(p *Pending) error
	// Cancel tells the tab that the request id is no longer waited for.
	Cancel(tab int64, id, reason string)
	// Respond answers a message of the tab.
	Respond(tab int64, id json.RawMessage, result any, err *spec.Error)
	// Close ends the connection. It does not wait, and may be called twice.
	Close(code spec.CloseCode, reason string)
}

// Resender is a Link whose peer may have spec.CapResume.
type Resender interface {
	// Resend sends a request again that was first sent so long ago, over an earlier
	// connection. If that fails, the next connection is the next chance.
	Resend(p *Pending, ago time.Duration)
}

// Peers are the connected browsers and tabs of one user. It is a TabHubTransport
// over any mixture of wires: what they have in common (who is connected, the open
// requests, the order in which the handler is told) is here, and a wire adds a Link
// for each connection. Tabs inside this process are added with Join.
type Peers struct {
	table   Table
	handler Handler
	ready   chan struct{} // closed once handler is set

	// turn keeps Connect and Disconnected apart, so that a connection that is
	// replaced while it is being lost is told of exactly once, and what is sent again
	// goes to the latest. It is held during these calls and never needed by what a
	// handler may call in them. Messages do not wait for it: one that takes long to
	// read delays only its own peer.
	turn sync.Mutex

	mu    sync.Mutex
	peers map[spec.PeerID]*peer
	// dismissed are the peers given up while the handler is asked about a
	// connection, nil at other times: the answer may name one of them.
	dismissed map[spec.PeerID]dismissal
}

// dismissal is how a peer was given up.
type dismissal struct {
	code   spec.CloseCode
	reason string
}

// peer outlives its connections: it goes when the handler gives it up.
type peer struct {
	session string // of the last hello
	seat    *Seat  // nil while it has no connection
}

var _ TabHubTransport = (*Peers)(nil)

// NewPeers returns a transport to which nobody has connected.
func NewPeers() *Peers {
	return &Peers{ready: make(chan struct{}), peers: make(map[spec.PeerID]*peer)}
}

// Handle implements TabHubTransport. Connections that were made before it wait.
func (p *Peers) Handle(h Handler) {
	p.handler = h
	close(p.ready)
}

// SendRequest implements TabHubTransport.
func (p *Peers) SendRequest(ctx context.Context, to spec.TabAddr, req spec.Request, wait Wait) (spec.Response, error) {
	seat := p.seat(to.Peer)
	if seat == nil {
		// The handler, and the peer, may know of the connection a moment before it
		// is in its place: Attach holds turn until it is.
		p.turn.Lock()
		seat = p.seat(to.Peer)
		p.turn.Unlock()
	}
	if seat == nil {
		return spec.Response{}, ErrNotConnected
	}
	return p.table.Do(ctx, seat, to.Tab, req, wait, func(id, reason string) {
		// The peer may have come back over another wire.
		if seat := p.seat(to.Peer); seat != nil {
			seat.link.Cancel(to.Tab, id, reason)
		}
	})
}

// Respond implements TabHubTransport.
func (p *Peers) Respond(to spec.TabAddr, id json.RawMessage, result any, err *spec.Error) {
	if seat := p.seat(to.Peer); seat != nil {
		seat.link.Respond(to.Tab, id, result, err)
	}
}

// Disconnect implements TabHubTransport.
func (p *Peers) Disconnect(to spec.TabAddr, code spec.CloseCode, reason string) {
	if to.Tab != 0 {
		p.table.Lose(func(owner spec.TabAddr) bool { return owner == to })
		return
	}
	p.mu.Lock()
	if p.dismissed != nil && code != 0 {
		p.dismissed[to.Peer] = dismissal{code, reason}
	}
	var seat *Seat
	if gone := p.peers[to.Peer]; gone != nil && (code != 0 || gone.seat == nil) {
		seat = gone.seat
		delete(p.peers, to.Peer)
	}
	back := seat == nil && p.peers[to.Peer] != nil
	p.mu.Unlock()
	if back {
		return // its requests may be of the connection that it has by now
	}
	if seat != nil {
		seat.gone.Store(true)
		seat.link.Close(code, reason)
	}
	p.losePeer(to.Peer)
}

// InFlight returns how many requests wait for an answer.
func (p *Peers) InFlight() int { return p.table.Len() }

// Connected returns how many peers have a connection.
func (p *Peers) Connected() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, peer := range p.peers {
		if peer.seat != nil {
			n++
		}
	}
	return n
}

// Attach adds a connection: it asks the handler who it is, makes its link and lets
// it take part, replacing an earlier connection of the same peer. makeLink is
// called before anything can be sent over the link, so what it sends comes first;
// it must not block. Attach waits until Handle was called, or ctx is done. The
// error is the handler's refusal, or ctx's.
func (p *Peers) Attach(ctx context.Context, conn Conn, makeLink func(Accepted) Link) (*Seat, error) {
	select {
	case <-p.ready:
	case <-ctx.Done():
		return nil, fmt.Errorf("the hub is not ready: %w", context.Cause(ctx))
	}
	seat, old, err := p.admit(conn, makeLink)
	if old != nil {
		// What it said last comes before what the new one says.
		old.telling.Lock()
		defer old.telling.Unlock()
	}
	return seat, err
}

// admit is Attach's turn. It returns the seat that was replaced, too.
func (p *Peers) admit(conn Conn, makeLink func(Accepted) Link) (seat, old *Seat, err error) {
	session, resumes := "", false
	if conn.Hello != nil {
		session = conn.Hello.Session
		resumes = session != "" && slices.Contains(conn.Hello.Capabilities, spec.CapResume)
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	p.mu.Lock()
	p.dismissed = make(map[spec.PeerID]dismissal)
	p.mu.Unlock()
	acc, err := p.handler.Connect(conn)
	if err != nil {
		p.mu.Lock()
		p.dismissed = nil
		p.mu.Unlock()
		return nil, nil, err
	}
	seat = &Seat{peers: p, peer: acc.Peer, link: makeLink(acc)}
	if resumes {
		seat.resender, _ = seat.link.(Resender)
	}
	lost := false
	p.mu.Lock()
	gone, dismissed := p.dismissed[acc.Peer]
	p.dismissed = nil
	if was := p.peers[acc.Peer]; was != nil {
		old = was.seat
		lost = was.session != session
		was.seat, was.session = seat, session
	} else {
		p.peers[acc.Peer] = &peer{session: session, seat: seat}
	}
	p.mu.Unlock()
	if old != nil {
		old.gone.Store(true)
		old.link.Close(spec.CloseReplaced, "another connection took this identity")
	}
	if lost {
		p.losePeer(acc.Peer)
	}
	if dismissed {
		p.Disconnect(spec.TabAddr{Peer: acc.Peer}, gone.code, gone.reason)
	}
	p.resend(acc.Peer)
	return seat, old, nil
}

// resend sends again what a peer that resumes was sent over earlier connections: it
// may not have got it. Nobody knows until when an earlier connection takes requests,
// so this is called whenever it may have taken the last. The caller holds turn: a
// connection that is lost meanwhile must not get what a later one has by then.
func (p *Peers) resend(id spec.PeerID) {
	seat := p.seat(id)
	if seat == nil || seat.resender == nil {
		return
	}
	for _, pending := range p.table.move(seat) {
		seat.resender.Resend(pending, time.Since(pending.start))
		pending.again.Unlock()
	}
}

func (p *Peers) losePeer(id spec.PeerID) {
	p.table.Lose(func(owner spec.TabAddr) bool { return owner.Peer == id })
}

// seat returns the connection of a peer, nil if it is away.
func (p *Peers) seat(id spec.PeerID) *Seat {
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer := p.peers[id]; peer != nil {
		return peer.seat
	}
	return nil
}

// Seat is a connection's part in Peers: what the wire reports goes in here. Take
// and Progress are safe for concurrent use.
type Seat struct {
	peers    *Peers
	peer     spec.PeerID
	link     Link
	resender Resender     // nil if the peer does not resume
	telling  sync.RWMutex // read-locked while the handler is told something
	order    sync.Mutex   // one Message at a time
	gone     atomic.Bool  // left, replaced or given up: nothing more is told
}

// send sends a request over the connection.
func (s *Seat) send(p *Pending) error {
	err := s.link.Send(p)
	if err == nil && s.gone.Load() {
		s.peers.turn.Lock()
		defer s.peers.turn.Unlock()
		s.peers.resend(s.peer)
	}
	return err
}

// Peer returns whom the handler took the connection for.
func (s *Seat) Peer() spec.PeerID { return s.peer }

// Message passes a message on to the handler. One from a connection that was
// replaced or given up is dropped.
func (s *Seat) Message(tab int64, id json.RawMessage, msg spec.Inbound) {
	s.order.Lock()
	defer s.order.Unlock()
	s.tell(tab, id, msg)
}

// Register is Message for a registration that may take long to read: messages do not
// wait for it. The caller sees to it that those of one tab come one at a time.
func (s *Seat) Register(tab int64, id json.RawMessage, msg *spec.Register) {
	s.tell(tab, id, msg)
}

func (s *Seat) tell(tab int64, id json.RawMessage, msg spec.Inbound) {
	s.telling.RLock()
	defer s.telling.RUnlock()
	if !s.gone.Load() {
		s.peers.handler.Message(spec.TabAddr{Peer: s.peer, Tab: tab}, id, msg)
	}
}

// Take returns the request that the peer, or one tab of it, answers, for the caller
// to End; tab may be AnyTab. It is nil if there is no such request: the answer
// comes too late or is forged. One to a request that went out again over a later
// connection is looked for there.
func (s *Seat) Take(tab int64, id string) *Pending {
	return s.peers.table.Take(s, tab, id)
}

// Progress passes on progress of a request, if the peer owns it.
func (s *Seat) Progress(tab int64, msg spec.Progress) bool {
	return s.peers.table.Progress(spec.TabAddr{Peer: s.peer, Tab: tab}, msg)
}

// Leave says that the connection is lost. The wire calls it once, after its last
// Message. A nil cause stands for a connection that was closed in good order.
func (s *Seat) Leave(cause error) {
	if cause == nil {
		cause = errClosed
	}
	p := s.peers
	s.telling.Lock()
	defer s.telling.Unlock()
	p.turn.Lock()
	defer p.turn.Unlock()
	if s.gone.Swap(true) {
		p.resend(s.peer)
		return
	}
	p.mu.Lock()
	if peer := p.peers[s.peer]; peer != nil && peer.seat == s {
		peer.seat = nil
	}
	p.mu.Unlock()
	p.handler.Disconnected(s.peer, cause)
}

var errClosed = errors.New("connection closed")
