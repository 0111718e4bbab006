package state

import (
	"cmp"
	"iter"
	"slices"

	"tabhub/describe"
	"tabhub/hub/item"
	"tabhub/spec"
)

// Listed is an item under one public name, as a list shows it.
type Listed struct {
	Public string // name, or for resources URI or URI template
	Item   *item.Item
	App    string         // the public URI of the app of a tool that has one
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

// List appends to dst what a domain has of a kind, resource templates apart, by item
// and tab: each item under the domain's name, then under the tabs' own.
func (s *State) List(dst []Listed, domain spec.Domain, kind spec.Kind, template bool) []Listed {
	d := s.domains[domain]
	if d == nil {
		return dst
	}
	place := s.place(d)
	for _, e := range d.sorted(kind) {
		newest := e.newest(false)
		switch {
		case newest == nil && e.cached != nil && e.cached.Template == template:
			dst = append(dst, s.listCached(e, place))
		case newest != nil && newest.item.Template == template:
			dst = append(dst, s.listEntry(e, newest.item, place))
			several := e.visible() > 1
			for _, p := range e.providers {
				if !p.tab.hidden {
					l := s.listProvider(p, place)
					l.Alone = !several && p.item.Shape == newest.item.Shape
					dst = append(dst, l)
				}
			}
		}
	}
	return dst
}

// Find returns the item that a public name or URI stands for, listed or not. A
// resource is also found by a URI that a template makes, the item is the template then, and
// by that of a tool's app.
func (s *State) Find(kind spec.Kind, name string) (Listed, bool) {
	b := s.bound(kind, name)
	if (b == nil || b.entry == nil) && kind == spec.KindResource {
		b, _ = s.match(name)
	}
	if b == nil || b.entry == nil {
		return Listed{}, false
	}
	place := s.place(b.domain)
	switch newest := b.entry.newest(true); {
	case b.provider != nil:
		return s.listProvider(b.provider, place), true
	case newest != nil:
		return s.listEntry(b.entry, newest.item, place), true
	}
	return s.listCached(b.entry, place), true
}

func (s *State) listEntry(e *entry, it *item.Item, place describe.Place) Listed {
	return Listed{Public: e.public, Item: it, App: s.appURI(it, 0), Place: s.placeOf(e, place)}
}

func (s *State) listCached(e *entry, place describe.Place) Listed {
	place.Cached = true
	return Listed{Public: e.public, Item: e.cached, App: s.appURI(e.cached, 0), Place: place}
}

func (s *State) listProvider(p *provider, place describe.Place) Listed {
	place.Tab, place.Title, place.Active, place.Asleep = p.number, p.tab.title, p.tab == s.active, p.tab.discarded
	return Listed{Public: p.public, Item: p.item, App: s.appURI(p.item, p.number), Tab: p.number, Place: place}
}

// sorted returns a domain's entries of a kind by item.
func (d *domain) sorted(kind spec.Kind) []*entry {
	entries := make([]*entry, 0, len(d.entries))
	for key, e := range d.entries {
		if key.kind == kind {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b *entry) int { return cmp.Compare(a.id.Item, b.id.Item) })
	return entries
}

// visible returns how many tabs that are not hidden have the item.
func (e *entry) visible() (n int) {
	for _, p := range e.providers {
		if !p.tab.hidden {
			n++
		}
	}
	return n
}

// placeOf says where an item of the domain at place runs: the active tab is of interest
// if it has the item, and so are tabs that sleep.
func (s *State) placeOf(e *entry, place describe.Place) describe.Place {
	if place.Active && !slices.ContainsFunc(e.providers, func(p *provider) bool { return p.tab == s.active }) {
		place.Active, place.ActiveTab = false, 0
	}
	place.Asleep = e.asleep()
	return place
}

// asleep reports whether the item's tabs, but hidden ones, are there and sleep.
func (e *entry) asleep() bool {
	there := false
	for _, p := range e.providers {
		if !p.tab.hidden {
			if !p.tab.discarded {
				return false
			}
			there = true
		}
	}
	return there
}

// place says where a domain's items run.
func (s *State) place(d *domain) describe.Place {
	p := describe.Place{Domain: d.key}
	for _, t := range d.tabs {
		if t.hidden {
			continue
		}
		p.Tabs++
		if t == s.active {
			p.Active, p.ActiveTab = true, t.domains[d.key].number
		}
	}
	return p
}
