package consent

import (
	"slices"
	"time"

	"tabhub/spec"
)

// PermitFor is how long a yes to a deferred question is good for the same call.
const PermitFor = 5 * time.Minute

const (
	roundsFor  = time.Hour // how long a page may wait for what it has asked back
	maxRounds  = 8         // of a call, the first included
	maxPermits = 256
)

// permit allows an identical call once without a question: after a yes to a deferred question, or
// for the next round of a call that was allowed.
type permit struct {
	key      key
	after    string // the round before; "" for any call
	left     int    // further rounds, with this one
	question string
	by       string
	until    time.Time
}

// addPermit adds a permit. The caller holds d.mu.
func (d *Desk) addPermit(p permit) {
	d.permits = append(d.permits, p)
	d.permits = d.permits[max(0, len(d.permits)-maxPermits):]
}

// usePermit uses up the permit for a call, if there is one.
func (d *Desk) usePermit(by *Caller, k key) (a Answer, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.removeExpired(time.Now())
	i := slices.IndexFunc(d.permits, func(p permit) bool { return p.key == k && (p.after == "" || p.after == by.After) })
	if i < 0 {
		return Answer{}, false
	}
	p := d.permits[i]
	d.permits = slices.Delete(d.permits, i, i+1)
	d.permitNextRound(by, p)
	return Answer{Question: p.question, Reach: spec.ReachOnce, By: p.by}, true
}

// permitNextRound permits the round of a call that follows by's, which p has permitted. The caller
// holds d.mu.
func (d *Desk) permitNextRound(by *Caller, p permit) {
	if by.Round == "" || p.left <= 1 {
		return
	}
	p.after, p.left, p.until = by.Round, p.left-1, time.Now().Add(roundsFor)
	d.addPermit(p)
}
