package tabtransport

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"tabhub/spec"
)

// AnyTab stands for every tab of a peer in the address that an answer comes from.
const AnyTab int64 = -1

// maxQueuedProgress is how many progress messages may wait for a slow Wait.Progress;
// beyond it the newest replaces the one before.
const maxQueuedProgress = 64

// Table holds the requests that wait for an answer (the request manager of
// spec/docs/RULES.md, "Transport"). Each has a random UUID and an owner, the only one
// who may answer it or report its progress. A request is in the table exactly as
// long as its Do runs, so there is nothing stale to clean. The zero value is ready
// to use; all methods are safe for concurrent use.
type Table struct {
	mu      sync.Mutex
	pending map[uuid.UUID]*Pending // and the progress and the carrier of each
}

// Pending is a request on its way. The wire that carries it calls Sending at the
// moment it hands the request over, or Unsent if it never will.
type Pending struct {
	id         uuid.UUID
	owner      spec.TabAddr
	req        spec.Request
	start      time.Time
	carrier    *Seat      // the connection that it went out over last
	resent     bool       // only the carrier's answer counts
	again      sync.Mutex // held while it is sent again
	state      atomic.Int32
	done       chan outcome  // capacity 1
	progressed chan struct{} // capacity 1; nil if nobody wants progress
	progress   []spec.Progress
}

type outcome struct {
	resp spec.Response
	err  error
}

// The states of a Pending. Only the first changes.
const (
	stateQueued int32 = iota
	stateSent
	stateAbandoned
)

// ID returns the request's id.
func (p *Pending) ID() string { return p.id.String() }

// Tab returns the number of the tab that the request is for.
func (p *Pending) Tab() int64 { return p.owner.Tab }

// Request returns what is asked.
func (p *Pending) Request() spec.Request { return p.req }

// Sending marks the request as sent. It returns false if the request was given up
// before: then it must not be sent. From here on the request counts as one that
// may have reached the tab.
func (p *Pending) Sending() bool { return p.state.CompareAndSwap(stateQueued, stateSent) }

// Unsent ends the request with ErrNotConnected, unless it was sent.
func (p *Pending) Unsent() {
	if p.state.CompareAndSwap(stateQueued, stateAbandoned) {
		p.end(outcome{err: ErrNotConnected})
	}
}

// End gives the request its answer: resp, or err if that is not nil. Of several
// only the first counts.
func (p *Pending) End(resp spec.Response, err error) { p.end(outcome{resp, err}) }

func (p *Pending) end(o outcome) {
	select {
	case p.done <- o:
	default:
	}
}

// Do registers a request to a tab, sends it over a connection and waits as SendRequest
// says. An error of the link is returned as it is; it must not return one after it has
// called Sending. cancel is called if a sent request is given up.
func (t *Table) Do(ctx context.Context, over *Seat, tab int64, req spec.Request, wait Wait, cancel func(id, reason string)) (spec.Response, error) {
	if err := context.Cause(ctx); err != nil {
		return spec.Response{}, err
	}
	timeout := wait.Timeout
	if timeout <= 0 {
		timeout = spec.ControlTimeout
	}
	p := &Pending{id: newID(), owner: spec.TabAddr{Peer: over.peer, Tab: tab}, req: req, start: time.Now(), carrier: over, done: make(chan outcome, 1)}
	if wait.Progress != nil || wait.Max > timeout {
		p.progressed = make(chan struct{}, 1)
	}
	t.add(p)
	defer t.remove(p)

	timer := time.NewTimer(timeout)
	defer timer.Stop()

	if err := over.send(p); err != nil {
		return spec.Response{}, err
	}
	for {
		select {
		case o := <-p.done:
			t.report(p, wait)
			return o.resp, o.err
		case <-p.progressed:
			t.report(p, wait)
			if wait.Max > timeout {
				timer.Reset(min(timeout, wait.Max-time.Since(p.start)))
			}
		case <-timer.C:
			return t.giveUp(p, wait, ErrBusy, ErrTimeout, func() { cancel(p.ID(), "the hub has waited long enough") })
		case <-ctx.Done():
			err := context.Cause(ctx)
			return t.giveUp(p, wait, err, err, func() { cancel(p.ID(), err.Error()) })
		}
	}
}

// giveUp ends the wait for p with the error unsent or sent, as it may be, unless
// its outcome arrived in the same moment.
func (t *Table) giveUp(p *Pending, wait Wait, unsent, sent error, cancel func()) (spec.Response, error) {
	if p.state.CompareAndSwap(stateQueued, stateAbandoned) {
		return spec.Response{}, unsent
	}
	select {
	case o := <-p.done:
		t.report(p, wait)
		return o.resp, o.err
	default:
		// It is not sent again after the tab was told to cancel it.
		t.remove(p)
		p.again.Lock()
		defer p.again.Unlock()
		cancel()
		return spec.Response{}, sent
	}
}

// Take takes the request id from the table, for the caller to End, when an answer to
// it comes over a connection. It returns nil if the tab does not own such a request, so
// that the answer comes too late or is forged, or if the request was sent again over
// another connection.
func (t *Table) Take(over *Seat, tab int64, id string) *Pending {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.findLocked(spec.TabAddr{Peer: over.peer, Tab: tab}, id)
	if p == nil || p.resent && p.carrier != over && over.resender != nil {
		return nil
	}
	delete(t.pending, p.id)
	return p
}

// move returns the calls that were sent to the peer of a connection over others, and
// notes that they go out over this one now. The caller unlocks their again when they
// have.
func (t *Table) move(to *Seat) []*Pending {
	t.mu.Lock()
	defer t.mu.Unlock()
	var moved []*Pending
	for _, p := range t.pending {
		if p.owner.Peer == to.peer && p.carrier != to && p.state.Load() == stateSent && spec.IsCall(p.req) {
			p.again.Lock() // nobody else has it: who gives p up takes it out first
			p.carrier, p.resent = to, true
			moved = append(moved, p)
		}
	}
	return moved
}

// Progress reports progress of the request msg.RequestID. It returns false if from
// does not own such a request.
func (t *Table) Progress(from spec.TabAddr, msg spec.Progress) bool {
	t.mu.Lock()
	p := t.findLocked(from, msg.RequestID)
	if p != nil && p.progressed != nil {
		if len(p.progress) == maxQueuedProgress {
			p.progress = p.progress[:len(p.progress)-1]
		}
		p.progress = append(p.progress, msg)
		select {
		case p.progressed <- struct{}{}:
		default:
		}
	}
	t.mu.Unlock()
	return p != nil
}

// Lose ends with ErrLost all requests of the owners that match.
func (t *Table) Lose(match func(owner spec.TabAddr) bool) {
	var lost []*Pending
	t.mu.Lock()
	for id, p := range t.pending {
		if match(p.owner) {
			delete(t.pending, id)
			lost = append(lost, p)
		}
	}
	t.mu.Unlock()
	for _, p := range lost {
		if p.state.CompareAndSwap(stateQueued, stateAbandoned) {
			p.end(outcome{err: ErrNotConnected})
		} else {
			p.end(outcome{err: ErrLost})
		}
	}
}

// Len returns how many requests wait.
func (t *Table) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pending)
}

// report calls wait.Progress for what has arrived.
func (t *Table) report(p *Pending, wait Wait) {
	if wait.Progress == nil {
		return
	}
	t.mu.Lock()
	msgs := p.progress
	p.progress = nil
	t.mu.Unlock()
	for _, m := range msgs {
		wait.Progress(m)
	}
}

func (t *Table) add(p *Pending) {
	t.mu.Lock()
	if t.pending == nil {
		t.pending = make(map[uuid.UUID]*Pending)
	}
	t.pending[p.id] = p
	t.mu.Unlock()
}

func (t *Table) remove(p *Pending) {
	t.mu.Lock()
	delete(t.pending, p.id)
	t.mu.Unlock()
}

func (t *Table) findLocked(from spec.TabAddr, id string) *Pending {
	key, err := uuid.Parse(id)
	if err != nil {
		return nil
	}
	p := t.pending[key]
	if p == nil || p.owner.Peer != from.Peer || (from.Tab != AnyTab && from.Tab != p.owner.Tab) {
		return nil
	}
	return p
}

// newID returns a random (version 4) UUID. The runtime's ChaCha8 generator makes it
// unguessable without a system call for each.
func newID() uuid.UUID {
	var id uuid.UUID
	binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}
