package state

import (
	"cmp"
	"iter"
	"slices"

	"tabhub/describe"
	"tabhub/hub/agents"
	"tabhub/hub/offer/item"
	"tabhub/spec"
)

// Listed is an item under one public name, as a list shows it.
type Listed struct {
	Public string // name, or for resources URI or URI template
	Item   *item.Item
	Tab    int            // the tab's number; 0 is the domain's own name
	Place  describe.Place // for its description
	// Alone is set for a tab's own name if the domain's name stands for the same: for
	// the only tab that has the item.
	Alone bool
}

// Generation returns a number that is higher when a list may show anything else.
func (s *State) Generation() uint64 { return s.generation }

// Domains returns the domains by key, each with the generation since which the lists
// show the same of it.
func (s *State) Domains() iter.Seq2[spec.Domain, uint64] {
	return func(yield func(spec.Domain, uint64) bool) {
		for _, d := range s.order {
			if !yield(d.key, d.generation) {
				return
			}
		}
	}
}

// List appends to dst what a domain has of a kind that by sees, resource templates apart,
// by item and tab: each item under the domain's name, then under the tabs' own.
func (s *State) List(dst []Listed, by agents.By, domain spec.Domain, kind spec.Kind, template bool) []Listed {
	d := s.domains[domain]
	if d == nil {
		return dst
	}
	v := d.view(s, by)
	for _, e := range d.sorted(kind) {
		newest, cached := e.newest(s, by, false), e.leftFor(s, by)
		switch {
		case newest == nil && cached != nil && cached.Template == template:
			dst = append(dst, v.cached(e, cached))
		case newest != nil && newest.item.Template == template:
			dst = append(dst, v.entry(e, newest.item))
			several := v.visible(e) > 1
			for _, p := range e.providers {
				if v.shows(p) {
					l := v.provider(p)
					l.Alone = !several && p.item.Shape == newest.item.Shape
					dst = append(dst, l)
				}
			}
		}
	}
	return dst
}

// Find returns the item that a public name or URI stands for, listed or not, if by sees
// it. A resource is also found by a URI that a template makes: the item is the template then.
func (s *State) Find(by agents.By, kind spec.Kind, name string) (Listed, bool) {
	b := s.names[publicName{kind, name}]
	if (b == nil || b.entry == nil) && kind == spec.KindResource {
		b, _ = s.match(by, name)
	}
	if b == nil || b.entry == nil || !b.seenBy(s, by) {
		return Listed{}, false
	}
	v := b.domain.view(s, by)
	switch newest := b.entry.newest(s, by, true); {
	case b.provider != nil:
		return v.provider(b.provider), true
	case newest != nil:
		return v.entry(b.entry, newest.item), true
	}
	return v.cached(b.entry, b.entry.leftFor(s, by)), true
}

// sorted returns a domain's entries of a kind by item.
func (d *domain) sorted(kind spec.Kind) []*entry {
	entries := make([]*entry, 0, len(d.entries))
	for key, e := range d.entries {
		if key.kind == kind {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.id.Item, b.id.Item), cmp.Compare(a.id.Pack, b.id.Pack))
	})
	return entries
}

// listing is what somebody is listed of a domain.
type listing struct {
	*State
	by     agents.By
	active *tab           // of those that by sees
	place  describe.Place // of the domain
}

func (d *domain) view(s *State, by agents.By) listing {
	v := listing{State: s, by: by, active: s.activeOf(by), place: describe.Place{Domain: d.key}}
	for _, t := range d.tabs {
		if t.hidden || !t.seenBy(s, &by) {
			continue
		}
		v.place.Tabs++
		if t == v.active {
			v.place.Active, v.place.ActiveTab = true, t.domains[d.key].number
		}
	}
	return v
}

// shows reports whether a tab's own name may be listed.
func (v *listing) shows(p *provider) bool { return !p.tab.hidden && p.tab.seenBy(v.State, &v.by) }

// visible returns how many tabs that may be listed have the item.
func (v *listing) visible(e *entry) (n int) {
	for _, p := range e.providers {
		if v.shows(p) {
			n++
		}
	}
	return n
}

func (v *listing) entry(e *entry, it *item.Item) Listed {
	return Listed{Public: e.public, Item: it, Place: v.placeOf(e)}
}

func (v *listing) cached(e *entry, it *item.Item) Listed {
	place := v.place
	place.Cached = true
	return Listed{Public: e.public, Item: it, Place: place}
}

func (v *listing) provider(p *provider) Listed {
	place := v.place
	place.Tab, place.Title, place.Active, place.Asleep = p.number, p.tab.title, p.tab == v.active, p.tab.discarded
	return Listed{Public: p.public, Item: p.item, Tab: p.number, Place: place}
}

// placeOf says where an item of the domain runs: the active tab is of interest if it has the
// item, and so are tabs that sleep.
func (v *listing) placeOf(e *entry) describe.Place {
	place := v.place
	if place.Active && !slices.ContainsFunc(e.providers, func(p *provider) bool { return p.tab == v.active }) {
		place.Active, place.ActiveTab = false, 0
	}
	place.Asleep = v.asleep(e)
	return place
}

// asleep reports whether the item's tabs, of those that may be listed, are there and sleep.
func (v *listing) asleep(e *entry) bool {
	there := false
	for _, p := range e.providers {
		if v.shows(p) {
			if !p.tab.discarded {
				return false
			}
			there = true
		}
	}
	return there
}
