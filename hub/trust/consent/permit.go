package consent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tabhub/spec"
)

// PermitFor is how long a yes is good for the identical call if none waits for it.
const PermitFor = 24 * time.Hour

const (
	roundsFor  = time.Hour // how long a page may wait for what it has asked back
	maxRounds  = 8         // of a call, the first included
	maxPermits = 256
)

// permit allows the next round of a call that was allowed.
type permit struct {
	key      key
	after    string // the round before
	left     int    // further rounds, with this one
	question string
	by       string
	until    time.Time
}

// allow has a question for which no call waits stay as a yes to the identical call, once. The caller
// holds d.mu.
func (d *Desk) allow(q *question) {
	q.Allowed = true
	if q.showing != nil {
		q.showing.stop()
		q.showing = nil
	}
	if !slices.Contains(d.questions, q) {
		d.questions = append(d.questions, q)
	}
	d.deferQuestion(q, PermitFor)
}

// Unsent says that the call was not made which an answer has let pass, as ctx ended with that cause: a yes
// for this once stays good for the identical call, unless its owner has ended it.
func (d *Desk) Unsent(a Answer, cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o := a.once; o != nil && !o.back && d.closed == nil && !errors.Is(cause, ErrWithdrawn) {
		o.back, o.of.by = true, a.By
		d.allow(o.of)
	}
}

// once is the one call that a yes lets pass.
type once struct {
	of   *question // of which it is the answer
	back bool      // it was given back: the next call has it. Guarded by Desk.mu.
}

// usePermit uses up the permit for a call, if there is one. The caller holds d.mu.
func (d *Desk) usePermit(by *Caller, k key) (a Answer, ok bool) {
	if i := slices.IndexFunc(d.permits, func(p permit) bool { return p.key == k && p.after == by.After }); i >= 0 {
		p := d.permits[i]
		d.permits = slices.Delete(d.permits, i, i+1)
		d.permitNextRound(by, p)
		return Answer{Question: p.question, Reach: spec.ReachOnce, By: p.by}, true
	}
	i := slices.IndexFunc(d.questions, func(q *question) bool { return q.Allowed && q.key == k })
	if i < 0 {
		return Answer{}, false
	}
	q := d.questions[i]
	a = Answer{Question: q.ID, Reach: spec.ReachOnce, By: q.by, once: &once{of: q}}
	d.end(q, outcome{})
	a.used = q.deleted
	d.permitNextRound(by, permit{key: k, left: maxRounds, question: q.ID, by: q.by})
	return a, true
}

// used blocks until it is stored that a yes is used up: else a hub that is started again would let the same
// call pass twice.
func (d *Desk) used(ctx context.Context, a Answer) (Answer, error) {
	err := d.await(ctx, a.used)
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err == nil:
		return a, nil
	}
	d.Unsent(a, err)
	if ctx.Err() == nil && d.ctx.Err() == nil {
		err = &Denied{fmt.Sprintf("the owner has allowed this call, and that it is made now could not be stored: %v", err)}
	}
	return a, err
}

// permitNextRound permits the round of a call that follows by's, which p has permitted. The caller
// holds d.mu.
func (d *Desk) permitNextRound(by *Caller, p permit) {
	if by.Round == "" || p.left <= 1 {
		return
	}
	p.after, p.left, p.until = by.Round, p.left-1, time.Now().Add(roundsFor)
	d.permits = append(d.permits, p)
	d.permits = d.permits[max(0, len(d.permits)-maxPermits):]
}
