package tabtransport

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"tabhub/spec"
)

// pending is a request that waits for its answer (the request manager of
// spec/PROTOCOL.md, "Transport"). It has a random UUID, which only the peer that it is
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
//	loseOverLocked  as loseLocked         the connection of a peer without a session has ended
//	loseLocked      others     between    the same, and it continues
//	loseLocked      others     ended      the same, and it does not                   ErrLost
//	resumeCall      others     continued  it continues, and a document asks for it
//	continueLocked  between    ended      none has, in spec.ContinueWait              ErrNotContinued
//	abandon         any        ended      SendRequest waits no longer                 SendRequest's
//
// A tool's call continues once its page has said so: for spec.ContinueWait, or until a document
// resumes it, which may be the same one.
//
// What ends a request then sets its outcome, but for abandon, and closes done.
type pending struct {
	// Static after construction.
	peers      *Peers
	id         string
	to         spec.TabAddr
	req        spec.Request
	client     string // whose request it is, "" the hub's own
	start      time.Time
	sentAt     *time.Time    // Wait.SentAt; what it leads to is guarded by peers.mu
	done       chan struct{} // closed once it has ended and outcome is set
	progressed chan struct{} // capacity 1; nil if the caller wants no progress
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

// SendRequest implements TabHubTransport.
func (p *Peers) SendRequest(ctx context.Context, to spec.TabAddr, req spec.Request, wait Wait) (spec.Response, error) {
	if err := context.Cause(ctx); err != nil {
		return spec.Response{}, err
	}
	a, err := p.attached(ctx, to.Peer)
	if err != nil {
		return spec.Response{}, err
	}
	if wait.Timeout <= 0 {
		wait.Timeout = spec.ControlTimeout
	}
	start := time.Now()
	for {
		resp, err := p.requestOver(ctx, a, to.Tab, req, start, wait)
		if !errors.Is(err, ErrNotConnected) {
			return resp, err
		}
		// It was not sent. The connection may have been replaced before it could be.
		if a = p.successor(a); a == nil {
			return spec.Response{}, err
		}
	}
}

// requestOver sends a request over one connection and waits for its answer, over this
// one or a later one.
func (p *Peers) requestOver(ctx context.Context, a *attachment, tab int64, req spec.Request, start time.Time, wait Wait) (spec.Response, error) {
	q := p.open(a, tab, req, start, wait)
	if wait.Sending != nil {
		if err := wait.Sending(Sent{ID: q.id, Session: a.session, At: start}); err != nil {
			q.abandon("", false)
			return spec.Response{}, err
		}
	}
	if err := a.link.Send(q.outgoing()); err != nil {
		q.abandon("", false)
		return spec.Response{}, err
	}
	return q.wait(ctx, start, wait)
}

// wait blocks until q has ended or the wait for it, which began at start, is over.
func (q *pending) wait(ctx context.Context, start time.Time, wait Wait) (spec.Response, error) {
	limit := timeLimit{wait: wait, start: start}
	timer := time.NewTimer(wait.Timeout - time.Since(start))
	defer timer.Stop()
	for {
		select {
		case <-q.done:
			return q.result(wait)
		case <-q.progressed:
			msgs := q.report(wait)
			if len(msgs) == 0 {
				continue // it was reported with what came before
			}
			if left, ok := limit.progress(msgs[len(msgs)-1]); ok {
				timer.Reset(left)
			}
		case <-timer.C:
			return q.stop(wait, ErrBusy, ErrTimeout, "the hub has waited long enough")
		case <-ctx.Done():
			err := context.Cause(ctx)
			return q.stop(wait, err, err, err.Error())
		}
	}
}

// timeLimit is how long a request may take still, as its progress says.
type timeLimit struct {
	wait   Wait      // Person: what is left of it
	start  time.Time // later by the time that the person has taken
	person time.Time // since when the request waits for a person; zero if it does not
}

func (l *timeLimit) extends() bool { return l.wait.Max > l.wait.Timeout }

// progress takes in that there was progress. It returns how long the request may take from now
// on, if that is another time.
func (l *timeLimit) progress(said spec.Progress) (left time.Duration, ok bool) {
	now, timeout := time.Now(), l.wait.Timeout
	if said.Continues {
		timeout = max(timeout, spec.ContinueWait)
	}
	waiting := said.Waiting && l.wait.Person > 0
	switch {
	case waiting && l.person.IsZero():
		l.person = now
	case !waiting && !l.person.IsZero():
		taken := now.Sub(l.person)
		l.start, l.person, l.wait.Person = l.start.Add(taken), time.Time{}, max(l.wait.Person-taken, 0)
		return min(timeout, max(l.wait.Max, l.wait.Timeout)-now.Sub(l.start)), true
	}
	if waiting {
		return l.wait.Person - now.Sub(l.person), true
	}
	return min(timeout, l.wait.Max-now.Sub(l.start)), l.extends()
}

// stop ends the wait for q, with an error that says whether it was sent, or with the outcome
// that came at the same moment. It sends the tab a cancellation.
func (q *pending) stop(wait Wait, unsent, sentErr error, reason string) (spec.Response, error) {
	was, over := q.abandon(reason, errors.Is(sentErr, ErrLeft))
	if over != nil {
		over.link.Cancel(q.to.Tab, q.id, reason)
	}
	switch was {
	case queued:
		return spec.Response{}, unsent
	case ended:
		<-q.done
		return q.result(wait)
	case between:
		if sentErr == ErrTimeout {
			sentErr = ErrNotContinued
		}
	}
	return spec.Response{}, sentErr
}

// result returns the outcome, after the progress that has come before it.
func (q *pending) result(wait Wait) (spec.Response, error) {
	q.report(wait)
	return q.outcome.resp, q.outcome.err
}

// report calls wait.Progress for what has come, and returns it.
func (q *pending) report(wait Wait) []spec.Progress {
	msgs := q.takeProgress()
	if wait.Progress != nil {
		for _, m := range msgs {
			wait.Progress(m)
		}
	}
	return msgs
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

func (p *Peers) newPending(to spec.TabAddr, id string, req spec.Request, start time.Time, wait Wait) *pending {
	q := &pending{peers: p, id: id, to: to, req: req, client: wait.For, start: start, sentAt: wait.SentAt, done: make(chan struct{})}
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
	if q.sentAt != nil {
		*q.sentAt = time.Now()
	}
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

// abandon ends a request whose caller waits no longer, and returns the state that it was in.
// If it was sent, the tab must cancel it: the caller sends the cancellation over the
// connection that abandon returns, or the goroutine does that is about to send the request
// again. A peer that is away gets it when it is back. A request that is left gets none.
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
	if was != ended {
		close(q.done)
	}
	return was, over
}

// cancelOverLocked returns the connection over which the caller must cancel the request.
// For a peer that is away it notes the cancellation for later, and returns nil.
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

// loseLocked ends all requests to a tab, or for Tab 0 to all tabs of a peer. It ends requests
// that continue only if the peer cannot come back.
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

// loseOverLocked ends the requests of a connection that has ended, whose peer has no session and so
// has forgotten them.
func (p *Peers) loseOverLocked(a *attachment) {
	for _, q := range p.pending {
		switch {
		case q.over != a:
		case q.state == queued:
			q.unsentLocked()
		case q.state == sent && q.continues != nil:
			q.state = between
		case q.state == sent:
			q.endLocked()
			q.tell(outcome{err: ErrLost})
		}
	}
}

// sentOver returns the requests whose answers may still come over a connection.
func (p *Peers) sentOver(a *attachment) (sent []*pending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.pending {
		if q.over == a && q.state != queued {
			sent = append(sent, q)
		}
	}
	return sent
}

func (q *pending) endLocked() {
	q.state = ended
	q.stopContinuingLocked()
	delete(q.peers.pending, q.id)
}

// tell tells SendRequest the outcome. The method that has ended the request calls it once.
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
