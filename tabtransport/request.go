package tabtransport

import (
	"context"
	"errors"
	"time"

	"tabhub/spec"
)

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

// Resume implements TabHubTransport.
func (p *Peers) Resume(to spec.TabAddr, sent Sent, wait Wait) func(context.Context) (spec.Response, error) {
	now := time.Now()
	q := p.resume(to, sent, wait)
	return func(ctx context.Context) (spec.Response, error) { return q.wait(ctx, now, wait) }
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
	person time.Time // since when the person is waited for; zero if nobody is
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

// stop ends the wait for q, with an error that says whether it was sent or else with the
// outcome that it has got at the same moment. The tab is told to cancel it.
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
