package tabtransport

import (
	"context"
	"encoding/json"
	"time"

	"tabhub/spec"
)

// Resume implements TabHubTransport.
func (p *Peers) Resume(to spec.TabAddr, sent Sent, wait Wait) func(context.Context) (spec.Response, error) {
	now := time.Now()
	q := p.resume(to, sent, wait)
	return func(ctx context.Context) (spec.Response, error) { return q.wait(ctx, now, wait) }
}

// resume adds a call that was sent before, without its connection. What stands for its peer is
// a peer that is away, so that the next connection is one after another.
func (p *Peers) resume(to spec.TabAddr, by Sent, wait Wait) *pending {
	// No page has a tool without a name: one that does not know the id finds nothing to run.
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
