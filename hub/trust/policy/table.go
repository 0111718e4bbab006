package policy

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"tabhub/spec"
)

// table holds rules, the most specific first. It is immutable.
type table []compiled

func newTable(rules []*Rule) table {
	var t table
	for _, r := range rules {
		t = append(t, compile(r))
	}
	slices.SortStableFunc(t, func(a, b compiled) int {
		return cmp.Or(
			cmp.Compare(b.rank.client, a.rank.client), cmp.Compare(b.rank.site, a.rank.site),
			cmp.Compare(b.rank.tool, a.rank.tool), cmp.Compare(b.rank.pack, a.rank.pack), cmp.Compare(b.rank.from, a.rank.from),
			cmp.Compare(b.Effect, a.Effect), strings.Compare(a.ID, b.ID))
	})
	for i := range t {
		t[i].at = int32(i)
	}
	return t
}

// match adds to w the rules that match an action and, in a table about flows, a site that the client
// has read.
func (t table) match(w winners, a *Action, from spec.Domain, private bool, now time.Time) winners {
	for i := range t {
		r := &t[i]
		switch {
		case !r.matches(a, now) || !r.from.has(from, private):
		case r.Pin.isZero() || a.Item != nil && a.Item.Pin() == r.Pin:
			w.rules = add(w.rules, r)
		case a.Item != nil && (w.changed == nil || r.at < w.changed.at):
			w.changed = r
		}
	}
	return w
}

// winners are the rules that match an action and that no other matching rule beats.
type winners struct {
	rules   []*compiled
	changed *compiled // the most specific that would match but for its pin
}

// add adds a rule to winners. A rule beats another if it says at least as much in each
// dimension and more in one; of two that say as much, the stricter one counts.
func add(winners []*compiled, r *compiled) []*compiled {
	for _, other := range winners {
		if other.rank.covers(r.rank) && (other.rank != r.rank || other.Effect >= r.Effect) {
			return winners
		}
	}
	return append(slices.DeleteFunc(winners, func(other *compiled) bool { return r.rank.covers(other.rank) }), r)
}

// strictest returns the one that decides, nil if there is none.
func (w winners) strictest() *compiled {
	var most *compiled
	for _, r := range w.rules {
		if most == nil || r.Effect > most.Effect || r.Effect == most.Effect && r.at < most.at {
			most = r
		}
	}
	return most
}
