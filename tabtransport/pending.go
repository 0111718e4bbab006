package tabtransport

import (
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"tabhub/spec"
)

// pending is a request that waits for its answer (the request manager of
// spec/docs/RULES.md, "Transport"). It has a random UUID, which only the peer that it is
// sent to may answer. It is in Peers.pending until it has ended, which it has when
// SendRequest returns: there is nothing stale to clean. These methods, each one step
// under Peers.mu, are all that changes its state:
//
//	method          from       to         when                                        outcome
//	open            -          queued     there is a connection to send it over
//	resume          -          sent       another process has sent it
//	resume          -          ended      the same, and its peer has forgotten it             ErrLost
//	Sending         queued     sent       the wire is about to write it
//	Sending         queued     ended      the same, but its connection has ended      ErrNotConnected
//	Unsent          queued     ended      the wire will not write it                  ErrNotConnected
//	takeOver        sent       sent       a newer connection is about to send it again
//	answered        others     ended      the tab has answered                        its answer
//	loseLocked      queued     ended      the tab or the peer's session has gone      ErrNotConnected
//	loseLocked      others     between    the same, and it continues
//	loseLocked      others     ended      the same, and it does not                   ErrLost
//	resumeCall      others     continued  it continues, and a document asks for it
//	continueLocked  between    ended      none has, in spec.ContinueWait              ErrNotContinued
//	abandon         any        ended      SendRequest waits no longer                 SendRequest's
//
// A tool's call continues once its page has said so: for spec.ContinueWait, or until a document
// resumes it, which may be the same one.
//
// Who ends a request, but for abandon, then sets its outcome and closes done.
type pending struct {
	// Static after construction.
	peers      *Peers
	id         string
	to         spec.TabAddr
	req        spec.Request
	client     string // whose request it is, "" the hub's own
	start      time.Time
	done       chan struct{} // closed once outcome is set
	progressed chan struct{} // capacity 1; nil if nobody wants progress
	outcome    outcome       // read after done

	// Guarded by peers.mu.
	state     state
	over      *attachment // of the document that has it, as far as is known; nil: of another process
	resending int         // goroutines that are about to send it again, or to let a document resume it
	cancel    *string     // why the last of them is to cancel it, nil if it is not to
	progress  []spec.Progress
	continues *time.Timer // until it does not continue any more; nil if it does not
}

type state int

const (
	queued    state = iota // given to a link, which has not written it
	sent                   // it may have reached the tab
	between                // the document that had it has gone, and it continues
	continued              // a document has resumed it, which is not sent it again
	ended                  // not in Peers.pending any more
)

// outcome is how a request ended.
type outcome struct {
	resp spec.Response
	err  error
}

// open adds a request that is about to be given to a.
func (p *Peers) open(a *attachment, tab int64, req spec.Request, start time.Time, wait Wait) *pending {
	q := p.newPending(spec.TabAddr{Peer: a.peer, Tab: tab}, newID(), req, start, wait)
	q.over = a
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending[q.id] = q
	return q
}

// resume adds a call that was sent before, without its connection. What stands for its peer is
// a peer that is away, so that the next connection is one after another.
func (p *Peers) resume(to spec.TabAddr, by Sent, wait Wait) *pending {
	// What has no name no page has: who does not know the id finds nothing to run.
	q := p.newPending(to, by.ID, &spec.ExecuteTool{Args: json.RawMessage("{}")}, by.At, wait)
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.peers[to.Peer]
	if at == nil && by.Session != "" {
		at = &peer{session: by.Session}
		p.peers[to.Peer] = at
	}
	if by.Session == "" || at.session != by.Session || at.attachment != nil || p.pending[q.id] != nil {
		q.state = ended
		q.tell(outcome{err: ErrLost})
		return q
	}
	q.state, p.pending[q.id] = sent, q
	return q
}

func (p *Peers) newPending(to spec.TabAddr, id string, req spec.Request, start time.Time, wait Wait) *pending {
	q := &pending{peers: p, id: id, to: to, req: req, client: wait.For, start: start, done: make(chan struct{})}
	if wait.Max > wait.Timeout || wait.Person > 0 || wait.Progress != nil {
		q.progressed = make(chan struct{}, 1)
	}
	return q
}

func (q *pending) outgoing() Outgoing {
	return Outgoing{ID: q.id, Tab: q.to.Tab, Request: q.req, For: q.client, Claim: q}
}

// Sending implements Claim.
func (q *pending) Sending() bool {
	q.peers.mu.Lock()
	defer q.peers.mu.Unlock()
	if q.over.ended {
		q.unsentLocked()
	}
	if q.state != queued {
		return false
	}
	q.state = sent
	return true
}

// Unsent implements Claim.
func (q *pending) Unsent() {
	q.peers.mu.Lock()
	defer q.peers.mu.Unlock()
	q.unsentLocked()
}

func (q *pending) unsentLocked() {
	if q.state == queued {
		q.endLocked()
		q.tell(outcome{err: ErrNotConnected})
	}
}

// abandon ends a request for which nobody waits any longer, and returns the state that
// it was in. If it was sent, the tab is to be told to cancel it: by the caller, over the
// connection that abandon returns, or by whoever is about to send it again, so that it
// is not sent again afterwards. A peer that is away is told when it is back. One that is
// left is not cancelled.
func (q *pending) abandon(reason string, left bool) (was state, over *attachment) {
	q.peers.mu.Lock()
	defer q.peers.mu.Unlock()
	was = q.state
	switch {
	case was == queued || was == ended || left:
	case q.resending > 0:
		q.cancel = &reason
	default:
		over = q.cancelOverLocked(reason)
	}
	q.endLocked()
	return was, over
}

// cancelOverLocked returns the connection over which the caller is to cancel the request.
// For a peer that is away it notes that it is to be told, and returns nil.
func (q *pending) cancelOverLocked(reason string) *attachment {
	peer := q.peers.peers[q.to.Peer]
	if peer == nil {
		return nil
	}
	if peer.attachment != nil {
		return peer.attachment
	}
	if len(peer.cancels) == maxCancels {
		peer.cancels = peer.cancels[1:]
	}
	peer.cancels = append(peer.cancels, cancel{q.to.Tab, q.id, reason})
	return nil
}

// takeOver returns what the peer was sent over earlier connections than a, for a to
// send again. Each is given back with wasResent.
func (p *Peers) takeOver(a *attachment) (again []*pending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.ended || a.resender == nil {
		return nil
	}
	for _, q := range p.pending {
		if q.to.Peer == a.peer && q.over != a && q.state == sent && spec.IsCall(q.req) {
			q.over = a
			q.resending++
			again = append(again, q)
		}
	}
	return again
}

// resend sends again, over a, what its peer was sent over earlier connections and may
// not have got. Nothing more is sent over those: Sending sees to it.
func (p *Peers) resend(a *attachment) {
	for _, q := range p.takeOver(a) {
		a.resender.Resend(q.outgoing(), time.Since(q.start))
		q.wasResent()
	}
}

// wasResent ends what takeOver or takeUp began, and cancels the request if it was abandoned
// meanwhile: only now the tab knows it.
func (q *pending) wasResent() {
	if over, reason := q.endResending(); over != nil {
		over.link.Cancel(q.to.Tab, q.id, reason)
	}
}

// endResending is wasResent's change of state. It returns the connection over which the caller is
// to cancel the request, if any.
func (q *pending) endResending() (over *attachment, reason string) {
	q.peers.mu.Lock()
	defer q.peers.mu.Unlock()
	q.resending--
	if q.resending > 0 || q.cancel == nil {
		return nil, ""
	}
	return q.cancelOverLocked(*q.cancel), *q.cancel
}

// Answer implements Attachment.
func (a *attachment) Answer(tab int64, id string, read func(spec.Request) (spec.Response, error)) bool {
	q := a.answered(tab, id)
	if q == nil {
		return false
	}
	resp, err := read(q.req)
	q.tell(outcome{resp, err})
	return true
}

// answered ends the request id, for which an answer has come, and returns it.
func (a *attachment) answered(tab int64, id string) *pending {
	a.peers.mu.Lock()
	defer a.peers.mu.Unlock()
	q := a.findLocked(tab, id)
	if q != nil {
		q.endLocked()
	}
	return q
}

// loseLocked ends all requests to a tab, or for Tab 0 to all tabs of a peer; those that continue
// only if the peer cannot come back.
func (p *Peers) loseLocked(to spec.TabAddr, mayReturn bool) {
	for _, q := range p.pending {
		if q.to.Peer != to.Peer || to.Tab != 0 && q.to.Tab != to.Tab {
			continue
		}
		q.unsentLocked()
		switch {
		case q.state == ended:
		case q.continues != nil && mayReturn:
			q.state = between
		default:
			q.endLocked()
			q.tell(outcome{err: ErrLost})
		}
	}
}

func (q *pending) endLocked() {
	q.state = ended
	q.stopContinuingLocked()
	delete(q.peers.pending, q.id)
}

// tell tells SendRequest the outcome. Whoever has ended the request calls it once.
func (q *pending) tell(o outcome) {
	q.outcome = o
	close(q.done)
}

// maxQueuedProgress is how many progress messages may wait for a slow Wait.Progress;
// beyond it the newest replaces the one before.
const maxQueuedProgress = 64

// Progress implements Attachment.
func (a *attachment) Progress(tab int64, msg spec.Progress) bool {
	a.peers.mu.Lock()
	q := a.findLocked(tab, msg.RequestID)
	if q != nil {
		// What another process has sent is not known here, so that no document could go on with it.
		call, ok := q.req.(*spec.ExecuteTool)
		if msg.Continues && ok && call.ToolName != "" && a.page && !a.ended {
			q.over = a
			q.continueLocked()
		}
		msg.Continues = q.continues != nil
		q.progressLocked(msg)
	}
	a.peers.mu.Unlock()
	if q != nil {
		q.tellProgress()
	}
	return q != nil
}

func (q *pending) progressLocked(msg spec.Progress) {
	if q.progressed == nil {
		return
	}
	if n := len(q.progress); n == maxQueuedProgress {
		q.progress[n-1] = msg
	} else {
		q.progress = append(q.progress, msg)
	}
}

// tellProgress tells SendRequest that there is progress.
func (q *pending) tellProgress() {
	select {
	case q.progressed <- struct{}{}:
	default: // it knows, or does not want to
	}
}

// resumeCall answers a document that asks for the call callID. A request without an id cannot be
// answered: the document would not know that the call is its own.
func (a *attachment) resumeCall(id json.RawMessage, callID string) {
	if id == nil {
		return
	}
	q, err := a.takeUp(callID)
	if err != nil {
		a.link.Respond(0, id, nil, err)
		return
	}
	q.tellProgress()
	call := q.req.(*spec.ExecuteTool) // nothing else continues
	result := spec.ResumeCallResult{ToolName: call.ToolName, Args: call.Args}
	if len(result.Args) == 0 {
		result.Args = json.RawMessage("{}")
	}
	a.link.Respond(0, id, result, nil)
	q.wasResent()
}

// takeUp makes a call that continues one of the document that is connected by a. It is given back
// with wasResent.
func (a *attachment) takeUp(id string) (*pending, *spec.Error) {
	a.peers.mu.Lock()
	defer a.peers.mu.Unlock()
	q := a.peers.pending[id]
	switch {
	case a.ended || q == nil || q.to.Peer != a.peer:
		return nil, spec.Errorf(spec.CodeTabNotFound, "nobody waits for this call any more")
	case q.continues == nil && q.state == continued:
		return nil, spec.Errorf(spec.CodeTabNotFound, "another document has resumed this call")
	case q.continues == nil:
		return nil, spec.Errorf(spec.CodeTabNotFound, "the document that has this call has not left it to another, or too long ago")
	}
	q.stopContinuingLocked()
	q.state, q.over = continued, a
	q.resending++
	// It has its time anew.
	q.progressLocked(spec.Progress{RequestID: id, Message: "the tool goes on"})
	return q, nil
}

// continueLocked has the request continue, from now on.
func (q *pending) continueLocked() {
	q.stopContinuingLocked()
	var t *time.Timer
	t = time.AfterFunc(spec.ContinueWait, func() {
		q.peers.mu.Lock()
		defer q.peers.mu.Unlock()
		if q.continues != t {
			return
		}
		q.continues = nil
		if q.state == between {
			q.endLocked()
			q.tell(outcome{err: ErrNotContinued})
		}
	})
	q.continues = t
}

func (q *pending) stopContinuingLocked() {
	if q.continues != nil {
		q.continues.Stop()
		q.continues = nil
	}
}

// takeProgress returns the progress that has come and was not taken.
func (q *pending) takeProgress() []spec.Progress {
	q.peers.mu.Lock()
	defer q.peers.mu.Unlock()
	msgs := q.progress
	q.progress = nil
	return msgs
}

// findLocked returns the request id to a tab of the peer, or to AnyTab, if what is said of it over
// this connection counts.
func (a *attachment) findLocked(tab int64, id string) *pending {
	q := a.peers.pending[id]
	if q == nil || q.to.Peer != a.peer || tab != AnyTab && tab != q.to.Tab || !q.countsLocked(a) {
		return nil
	}
	return q
}

// countsLocked reports whether what is said over a counts: not over a connection before that of the
// document which has the request, nor while a later document may only resume it.
func (q *pending) countsLocked(a *attachment) bool {
	switch {
	case q.over == nil:
		return true
	case q.state == between:
		return a == q.over || a.session != "" && a.session == q.over.session
	}
	return q.state != queued && a.number >= q.over.number
}

// newID returns a random (version 4) UUID. The runtime's ChaCha8 generator makes it
// unguessable without a system call for each.
func newID() string {
	var id uuid.UUID
	binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}
