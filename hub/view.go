package hub

import (
	"sync"
	"time"

	"tabhub/hub/consent"
	"tabhub/hub/policy"
)

// views are the lists of those clients that are not to know of everything, as they were
// made last. The zero value is ready.
type views struct {
	mu   sync.Mutex
	made map[viewKey]madeView
}

type viewKey struct {
	client string
	bound  string // as state.By.Bound
	kind   ListKind
}

// madeView is a list, and what it was made from.
type madeView struct {
	all   *Listing
	rules *policy.Set
	list  *Listing
}

// maxViews bounds the lists that are kept.
const maxViews = 256

// of returns what a client is to know of a list: all itself if that is everything.
func (v *views) of(rules *policy.Set, who *policy.Principal, bound string, kind ListKind, all *Listing) *Listing {
	if !rules.Hides(who) {
		return all
	}
	key := viewKey{who.ID, bound, kind}
	v.mu.Lock()
	defer v.mu.Unlock()
	made := v.made[key]
	if made.all != all || made.rules != rules {
		if v.made == nil || len(v.made) >= maxViews {
			v.made = map[viewKey]madeView{}
		}
		made = madeView{all, rules, all.shownTo(rules, who)}
		v.made[key] = made
	}
	return made.list
}

// shownTo returns what a client is to know of a list.
func (l *Listing) shownTo(rules *policy.Set, who *policy.Principal) *Listing {
	now, by := time.Now(), consent.As(who)
	part := &Listing{Generation: l.Generation}
	for _, it := range l.Items {
		a := actionFor(by, it.item, it.Source)
		if rules.Shows(&a, now) {
			part.Items = append(part.Items, it)
		}
	}
	return part
}
