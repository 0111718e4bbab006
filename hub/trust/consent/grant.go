package consent

import (
	"time"

	"tabhub/spec"
)

// GrantFor is how long a yes that has come too late is good for the same call again.
const GrantFor = 5 * time.Minute

const (
	roundsFor = time.Hour // a page may wait for what it has asked back
	maxRounds = 8         // of a call, the first included
	maxGrants = 256
)

// grant allows an identical call once without asking: one whose yes has come too late, or the
// next round of one that was allowed.
type grant struct {
	key      key
	after    string // the round before; "" for any call
	left     int    // further rounds, with this one
	question string
	by       string
	until    time.Time
}

// grant adds a grant. The caller holds d.mu.
func (d *Desk) grant(g grant) {
	d.grants = append(d.grants, g)
	d.grants = d.grants[max(0, len(d.grants)-maxGrants):]
}

// redeem takes the grant for a call, if there is one.
func (d *Desk) redeem(by *Caller, k key) (a Answer, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.prune(time.Now())
	for i, g := range d.grants {
		if g.key == k && (g.after == "" || g.after == by.After) {
			d.grants = append(d.grants[:i:i], d.grants[i+1:]...)
			d.goOn(by, g)
			return Answer{Question: g.question, Reach: spec.ReachOnce, By: g.by}, true
		}
	}
	return Answer{}, false
}

// goOn allows the round of a call that follows by's, whose own g has allowed. The caller holds
// d.mu.
func (d *Desk) goOn(by *Caller, g grant) {
	if by.Round == "" || g.left <= 1 {
		return
	}
	g.after, g.left, g.until = by.Round, g.left-1, time.Now().Add(roundsFor)
	d.grant(g)
}
