package state

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"tabhub/naming"
	"tabhub/spec"
	"tabhub/storage"
)

// Bounds on the names that pages can make the hub remember by making up ever new
// ones. At a bound, names that nobody has now are forgotten.
const (
	maxNames    = 16 << 10 // of a domain
	maxAllNames = 16 * maxNames
	manyNames   = maxNames / 16 // that nobody has: as many are worth a search for them
)

var errNames = errors.New("this site has used too many different names")

// publicName is a key of State.names. Each kind has names of its own.
type publicName struct {
	kind spec.Kind
	name string
}

// binding is what a public name stands for.
type binding struct {
	id       naming.Identity
	domain   *domain
	entry    *entry    // nil: nobody has the item now
	provider *provider // nil for a domain's own name
}

// PublicName returns the public name of an identity, "" if it can have none.
func (s *State) PublicName(id naming.Identity) string {
	if id.Kind == spec.KindResource {
		return s.namer.URI(id)
	}
	return s.namer.Name(id, func(public string) (naming.Identity, bool) {
		b := s.names[publicName{id.Kind, public}]
		if b == nil {
			return naming.Identity{}, false
		}
		return b.id, true
	})
}

// bind makes the public name of an identity stand for e, or for p if that is not nil,
// taking the name if it is new. It returns "" if there is none to take.
func (tx *Tx) bind(id naming.Identity, e *entry, p *provider) string {
	public := tx.PublicName(id)
	if public == "" {
		return ""
	}
	key := publicName{id.Kind, public}
	b := tx.names[key]
	if b != nil && b.id != id && b.entry == nil {
		tx.forgetName(key, b) // given when the public suffix list was another
		b = nil
	}
	switch {
	case b == nil:
		if !e.domain.roomForName(tx) {
			return ""
		}
		e.domain.names++
		b = &binding{id: id, domain: e.domain}
		tx.names[key] = b
		if id.Kind != spec.KindResource { // URIs need no memory: they are never shared
			tx.write(storage.Name{Public: public, Kind: id.Kind, Domain: id.Domain, Tab: id.Tab, Item: id.Item, Pack: id.Pack})
		}
	case b.entry == nil:
		b.domain.idle--
	}
	b.entry, b.provider = e, p
	return public
}

// unbind says that nobody has what a name stands for. The name stays taken.
func (tx *Tx) unbind(kind spec.Kind, public string) {
	key := publicName{kind, public}
	b := tx.names[key]
	b.entry, b.provider = nil, nil
	if kind == spec.KindResource {
		delete(tx.names, key)
		b.domain.names--
		return
	}
	b.domain.idle++
}

// restoreName takes a stored name, which nobody has yet.
func (tx *Tx) restoreName(n storage.Name) {
	d := tx.domain(n.Domain)
	d.names++
	d.idle++
	id := naming.Identity{Kind: n.Kind, Domain: n.Domain, Tab: n.Tab, Item: n.Item, Pack: n.Pack}
	tx.names[publicName{n.Kind, n.Public}] = &binding{id: id, domain: d}
}

// roomForName reports whether a domain may take one more name.
func (d *domain) roomForName(tx *Tx) bool {
	switch {
	case len(tx.names) >= maxAllNames:
		most := d
		for _, other := range tx.domains {
			if other.idle > most.idle {
				most = other
			}
		}
		tx.forgetNames(d, func(of *domain) bool { return of == most || most.idle < manyNames })
	case d.names >= maxNames && d.idle >= manyNames:
		tx.forgetNames(d, func(of *domain) bool { return of == d })
	}
	return d.names < maxNames && len(tx.names) < maxAllNames
}

// forgetNames forgets the names of the domains that match which nobody has, and those
// domains, but asking, of which nothing is left then.
func (tx *Tx) forgetNames(asking *domain, match func(*domain) bool) {
	for key, b := range tx.names {
		if b.entry == nil && match(b.domain) {
			tx.forgetName(key, b)
		}
	}
	tx.order = slices.DeleteFunc(tx.order, func(d *domain) bool {
		if d == asking || d.names > 0 || len(d.tabs) > 0 || !match(d) {
			return false
		}
		for tabKey := range d.numbers {
			d.forgetNumber(tx, tabKey)
		}
		delete(tx.domains, d.key)
		d.leaveShare(tx)
		return true
	})
}

// Bounds of the domains that are remembered when nothing is left of them but their numbers and
// names. There may be a quarter more: forgetting searches all names.
const (
	maxEmpty  = 256
	emptyHeld = 30 * 24 * time.Hour
)

// boundDomains forgets the empty domains that have had no tab for the longest time, if there are
// more than limit or some are too old: those of the site that has the most, so that no site has the
// names of others forgotten.
func (tx *Tx) boundDomains(limit int) {
	var empty []*domain
	for _, d := range tx.order {
		if len(d.tabs)+len(d.caches)+len(d.openings) == 0 {
			empty = append(empty, d)
		}
	}
	slices.SortStableFunc(empty, func(a, b *domain) int { return b.seen.Compare(a.seen) })
	rank, sites := map[*domain]int{}, map[*share]int{} // of its site, the last seen first
	for _, d := range empty {
		rank[d] = sites[d.share]
		sites[d.share]++
	}
	slices.SortStableFunc(empty, func(a, b *domain) int { return cmp.Compare(rank[a], rank[b]) })
	gone := map[*domain]bool{}
	for i, d := range empty {
		if len(empty) > limit && i >= maxEmpty || tx.now.Sub(d.seen) >= emptyHeld {
			gone[d] = true
		}
	}
	if len(gone) > 0 {
		tx.forgetNames(nil, func(d *domain) bool { return gone[d] })
	}
}

// forgetName forgets a name that nobody has.
func (tx *Tx) forgetName(key publicName, b *binding) {
	delete(tx.names, key)
	b.domain.names--
	b.domain.idle--
	tx.write(storage.DeleteName{Public: key.name})
}
