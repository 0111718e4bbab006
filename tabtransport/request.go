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
	extends := wait.Max > wait.Timeout
	q := p.open(a, tab, req, start, extends || wait.Progress != nil)
	timer := time.NewTimer(wait.Timeout - time.Since(start))
	defer timer.Stop()
	if err := a.link.Send(q.outgoing()); err != nil {
		q.abandon("")
		return spec.Response{}, err
	}
	for {
		select {
		case <-q.done:
			return q.result(wait)
		case <-q.progressed:
			q.report(wait)
			if extends {
				timer.Reset(min(wait.Timeout, wait.Max-time.Since(start)))
			}
		case <-timer.C:
			return q.stop(wait, ErrBusy, ErrTimeout, "the hub has waited long enough")
		case <-ctx.Done():
			err := context.Cause(ctx)
			return q.stop(wait, err, err, err.Error())
		}
	}
}

// stop ends the wait for q, with an error that says whether it was sent or else with the
// outcome that it has got at the same moment. The tab is told to cancel it.
func (q *pending) stop(wait Wait, unsent, sentErr error, reason string) (spec.Response, error) {
	was, over := q.abandon(reason)
	if over != nil {
		over.link.Cancel(q.to.Tab, q.id, reason)
	}
	switch was {
	case queued:
		return spec.Response{}, unsent
	case sent:
		return spec.Response{}, sentErr
	}
	<-q.done
	return q.result(wait)
}

// result returns the outcome, after the progress that has come before it.
func (q *pending) result(wait Wait) (spec.Response, error) {
	q.report(wait)
	return q.outcome.resp, q.outcome.err
}

// report calls wait.Progress for what has come.
func (q *pending) report(wait Wait) {
	if wait.Progress == nil {
		return
	}
	for _, m := range q.takeProgress() {
		wait.Progress(m)
	}
}
