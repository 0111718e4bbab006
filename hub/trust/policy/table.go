package policy

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"tabhub/spec"
)

// table holds rules in lists by site and tool, so that few are compared with an action. It is
// immutable.
type table struct {
	rules []compiled // the most specific first

	// Each rule is in one of these lists, by its index.
	bySite map[spec.Domain][]int32
	byTool map[string][]int32
	rest   []int32

	restricting []int32 // those that restrict a site, which are in other lists, too
}

func newTable(rules []*Rule) *table {
	t := &table{bySite: map[spec.Domain][]int32{}, byTool: map[string][]int32{}}
	for _, r := range rules {
		t.rules = append(t.rules, compile(r))
	}
	slices.SortStableFunc(t.rules, func(a, b compiled) int {
		return cmp.Or(
			cmp.Compare(b.rank.client, a.rank.client), cmp.Compare(b.rank.site, a.rank.site),
			cmp.Compare(b.rank.tool, a.rank.tool), cmp.Compare(b.rank.from, a.rank.from),
			cmp.Compare(b.Effect, a.Effect), strings.Compare(a.ID, b.ID))
	})
	for i := range t.rules {
		r, at := &t.rules[i], int32(i)
		r.at = at
		switch {
		case r.site.kind == exactSite:
			t.bySite[r.site.domain] = append(t.bySite[r.site.domain], at)
		case r.Tool != "" && !r.wild:
			t.byTool[r.Tool] = append(t.byTool[r.Tool], at)
		default:
			t.rest = append(t.rest, at)
		}
		if r.site.kind != anySite && r.Effect != Allow && !r.preset {
			t.restricting = append(t.restricting, at)
		}
	}
	return t
}

// lists returns lists that have each rule that may match an action; some may be in two.
func (t *table) lists(a *Action) [4][]int32 {
	l := [4][]int32{t.bySite[bare(a.Site.Domain)], t.byTool[a.Name], nil, t.rest}
	if a.Site.Any {
		l[0] = t.restricting
	}
	if a.Of == OfHub {
		l[2] = t.byTool[hubTool(a.Name)]
	}
	return l
}

// match adds to w the rules that match an action and, in a table about flows, a site that the client
// has read.
func (t *table) match(w winners, a *Action, from spec.Domain, private bool, now time.Time) winners {
	for _, list := range t.lists(a) {
		for _, i := range list {
			r := &t.rules[i]
			switch {
			case !r.matches(a, now) || !r.from.has(from, private):
			case r.Pin.isZero() || a.Item != nil && a.Item.Pin() == r.Pin:
				w.rules = add(w.rules, r)
			case a.Item != nil && (w.changed == nil || r.at < w.changed.at):
				w.changed = r
			}
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
