package state

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"tabhub/hub/offer/item"
	"tabhub/spec"
	"tabhub/storage"
)

// domain is all that is known of one domain key.
type domain struct {
	key        spec.Domain
	share      *share // of its site
	origin     string
	tabs       []*tab                    // its members, by number
	seen       time.Time                 // when it had one last
	numbers    map[string]storage.Number // by tab key, also of tabs that are gone
	entries    map[entryKey]*entry
	generation uint64                 // of the lists when it changed last
	names      int                    // public names taken
	idle       int                    // of them: nobody has the item now
	caches     []*cache               // of each browser that left something
	cached     int                    // items of all of them
	lastCall   atomic.Pointer[string] // URL of the tab that the last call went to; not guarded, see Candidate.Called
	openings   []*Opening             // tabs that are being opened for it
}

// cache says what closed tabs of a browser left in a domain. The items are in its entries.
type cache struct {
	domain  *domain
	browser spec.BrowserID
	items   int
	url     string      // where to open the domain
	peer    spec.PeerID // who last had it
	updated time.Time
}

// domain returns a domain, making it if need be.
func (tx *Tx) domain(key spec.Domain) *domain {
	d := tx.domains[key]
	if d == nil {
		d = &domain{key: key, numbers: map[string]storage.Number{}, entries: map[entryKey]*entry{}}
		tx.domains[key] = d
		d.joinShare(tx)
		at, _ := slices.BinarySearchFunc(tx.order, key, compareKey)
		tx.order = slices.Insert(tx.order, at, d)
	}
	return d
}

// calledAt returns the URL of the tab that the last call went to, "" if there is none.
func (d *domain) calledAt() string {
	if url := d.lastCall.Load(); url != nil {
		return *url
	}
	return ""
}

func compareKey(d *domain, key spec.Domain) int { return cmp.Compare(d.key, key) }

// enter makes a tab a member of an item's domain, with a number.
func (t *tab) enter(tx *Tx, it *item.Item) *membership {
	if m := t.domains[it.Domain]; m != nil {
		return m
	}
	d := tx.domain(it.Domain)
	d.origin = it.Origin
	d.openings = slices.DeleteFunc(d.openings, func(o *Opening) bool { return o.addr == t.addr }) // the next call that finds no tab opens another
	if _, ok := d.numbers[t.key]; !ok {
		d.numbers[t.key] = storage.Number{Domain: d.key, Key: t.key, Index: d.freeNumber(tx)}
	}
	m := &membership{domain: d, number: d.saveNumber(tx, t), origin: it.Origin, verified: it.Verified}
	t.domains[d.key] = m
	at, _ := slices.BinarySearchFunc(d.tabs, m.number, func(t *tab, n int) int { return cmp.Compare(t.domains[d.key].number, n) })
	d.tabs = slices.Insert(d.tabs, at, t)
	return m
}

// leave ends a tab's membership. Its number stays taken for a while.
func (t *tab) leave(tx *Tx, m *membership) {
	d := m.domain
	d.tabs = slices.DeleteFunc(d.tabs, func(o *tab) bool { return o == t })
	delete(t.domains, d.key)
	d.saveNumber(tx, t)
	tx.write(storage.DeleteTab{Domain: d.key, Key: t.key})
	d.relist(tx)
	d.boundNumbers(tx)
	if len(d.tabs) == 0 {
		tx.boundDomains(maxEmpty + maxEmpty/4)
	}
}

// leaveUnused ends the memberships of a tab in domains in which it has nothing left.
func (t *tab) leaveUnused(tx *Tx) {
	used := map[spec.Domain]bool{}
	for _, items := range t.items {
		for _, it := range items {
			used[it.Domain] = true
		}
	}
	for key, m := range t.domains {
		if !used[key] {
			t.leave(tx, m)
		}
	}
}
