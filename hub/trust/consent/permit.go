package consent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tabhub/hub/trust/policy"
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
	action   *policy.Action
	until    time.Time
}

// allow has a question for which no call waits stay as a yes to the identical call, once, until then. The
// caller holds d.mu.
func (d *Desk) allow(q *question, until time.Time) {
	q.Allowed = true
	if q.showing != nil {
		q.showing.stop()
		q.showing = nil
	}
	if !slices.Contains(d.questions, q) {
		d.questions = append(d.questions, q)
	}
	d.deferQuestion(q, time.Until(until))
}

// Unsent says that the call was not made which an answer has let pass; cause is its ctx's, nil without one. A yes
// for this once stays good for the identical call as long as it was, unless its owner has ended it, or has
// declined the identical call meanwhile. A yes that let a call pass longer than quietFor ago is gone.
func (d *Desk) Unsent(a Answer, cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	i := slices.Index(d.passed, a.once)
	if i < 0 || d.closed != nil || errors.Is(cause, ErrWithdrawn) {
		return
	}
	o := d.passed[i]
	d.passed = slices.Delete(d.passed, i, i+1)
	if now.Sub(o.at) < quietFor && now.Before(o.until) {
		o.of.by = a.By
		d.allow(o.of, o.until)
	}
}

// once is the one call that a yes lets pass.
type once struct {
	of    *question // of which it is the answer
	at    time.Time // when it passed
	until time.Time // how long the yes is good
}

// pass has a yes let one call pass. The caller holds d.mu.
func (d *Desk) pass(q *question, until time.Time) *once {
	o := &once{q, time.Now(), until}
	d.passed = append(slices.DeleteFunc(d.passed, func(p *once) bool { return o.at.Sub(p.at) >= quietFor }), o)
	d.passed = d.passed[max(0, len(d.passed)-maxOpen):]
	return o
}

// takeBack takes back the yes to a call, if there is one that is not used, and returns its deletion from the
// store. The caller holds d.mu.
func (d *Desk) takeBack(k key) (gone *deletion) {
	d.passed = slices.DeleteFunc(d.passed, func(o *once) bool { return o.of.key == k })
	for _, q := range slices.Clone(d.questions) {
		if q.Allowed && q.key == k {
			d.end(q, outcome{})
			gone = q.deleted
		}
	}
	return gone
}

// usePermit uses up the permit for a call, if there is one. The caller holds d.mu.
func (d *Desk) usePermit(by *Caller, k key) (a Answer, ok bool) {
	if i := slices.IndexFunc(d.permits, func(p permit) bool { return p.key == k && p.after == by.After }); i >= 0 {
		p := d.permits[i]
		d.permits = slices.Delete(d.permits, i, i+1)
		d.permitNextRound(by, p)
		return Answer{Question: p.question, Reach: spec.ReachOnce, By: p.by}, true
	}
	i := slices.IndexFunc(d.questions, func(q *question) bool { return q.Allowed && !q.answering && q.key == k })
	if i < 0 {
		return Answer{}, false
	}
	q := d.questions[i]
	a = Answer{Question: q.ID, Reach: spec.ReachOnce, By: q.by, once: d.pass(q, q.Until)}
	d.end(q, outcome{})
	a.used = q.deleted
	d.permitNextRound(by, permit{key: k, left: maxRounds, question: q.ID, by: q.by, action: q.action})
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
