package hub

import (
	"encoding/json"
	"tabhub/hub/item"

	"tabhub/describe"
	"tabhub/spec"
)

// block is a domain's part of a list, rendered. It is immutable.
type block struct {
	json  []byte // the elements, each followed by a comma
	items []Item
	sum   uint64 // changes when a client would have to list again; not with labels
}

// List returns one of the lists. It does not block on I/O, and returns the same
// Listing until something changes.
func (h *Hub) List(kind ListKind) *Listing {
	h.mu.RLock()
	gen := h.gens[kind]
	h.mu.RUnlock()
	if l := h.listings[kind].Load(); l != nil && l.Generation == gen {
		return l
	}
	h.mu.Lock()
	l := h.listLocked(kind)
	h.mu.Unlock()
	return l
}

// listLocked renders a list: by domain, item name, tab. Only domains that have
// changed are rendered anew.
func (h *Hub) listLocked(kind ListKind) *Listing {
	gen := h.gens[kind]
	if l := h.listings[kind].Load(); l != nil && l.Generation == gen {
		return l
	}
	size, n := 2, 0
	blocks := make([]*block, 0, len(h.order))
	for _, key := range h.order {
		d := h.domains[key]
		if d.blocks[kind] == nil {
			d.blocks[kind] = h.renderLocked(d, kind)
		}
		b := d.blocks[kind]
		if len(b.items) > 0 {
			blocks = append(blocks, b)
			size += len(b.json)
			n += len(b.items)
		}
	}
	l := &Listing{Generation: gen, JSON: make([]byte, 0, size), Items: make([]Item, 0, n)}
	l.JSON = append(l.JSON, '[')
	for _, b := range blocks {
		l.JSON = append(l.JSON, b.json...)
		l.Items = append(l.Items, b.items...)
		l.sum = l.sum*31 + b.sum
	}
	if n > 0 {
		l.JSON = l.JSON[:len(l.JSON)-1] // the last comma
	}
	l.JSON = append(l.JSON, ']')
	h.listings[kind].Store(l)
	return l
}

// renderLocked renders a domain's part of a list.
func (h *Hub) renderLocked(d *domain, kind ListKind) *block {
	b := &block{}
	itemKind, template := kind.items()
	p := h.placeLocked(d)
	for _, o := range d.sortedLocked(itemKind) {
		newest := o.newestLocked(false)
		if newest == nil {
			if o.kept != nil && o.kept.Template == template {
				p := p
				p.Cached = true
				b.add(o.kept, o.public, 0, p)
			}
			continue
		}
		if newest.item.Template != template {
			continue
		}
		b.add(newest.item, o.public, 0, p)
		several := o.severalLocked()
		for _, hd := range o.holders {
			if !hd.tab.hidden && h.listsTabName(several, newest, hd) {
				b.add(hd.item, hd.public, hd.number, h.tabPlace(p, hd))
			}
		}
	}
	return b
}

// items returns what a list is made of.
func (k ListKind) items() (kind spec.Kind, template bool) {
	switch k {
	case ListResources:
		return spec.KindResource, false
	case ListTemplates:
		return spec.KindResource, true
	case ListPrompts:
		return spec.KindPrompt, false
	}
	return spec.KindTool, false
}

// severalLocked reports whether more than one tab that is visible has the item.
func (o *offer) severalLocked() bool {
	n := 0
	for _, hd := range o.holders {
		if !hd.tab.hidden {
			n++
		}
	}
	return n > 1
}

// listsTabName reports whether a holder's own name is listed.
func (h *Hub) listsTabName(several bool, newest, hd *holder) bool {
	switch h.opts.TabNames {
	case TabNamesAlways:
		return true
	case TabNamesNever:
		return false
	}
	return several || hd.item.Shape != newest.item.Shape
}

// placeLocked says where a domain's items run, for descriptions.
func (h *Hub) placeLocked(d *domain) describe.Place {
	p := describe.Place{Domain: d.key}
	for _, t := range d.tabs {
		if t.hidden {
			continue
		}
		p.Tabs++
		if t == h.active {
			p.Active, p.ActiveTab = true, t.domains[d.key].number
		}
	}
	return p
}

// tabPlace says where one tab's items run.
func (h *Hub) tabPlace(p describe.Place, hd *holder) describe.Place {
	p.Tab, p.Title = hd.number, hd.tab.title
	p.Active = hd.tab == h.active
	return p
}

// add renders one element.
func (b *block) add(it *item.Item, public string, tab int, p describe.Place) {
	start := len(b.json)
	b.json = it.AppendJSON(b.json, public, describe.Prefix(p))
	sum := it.Sum(public)
	b.items = append(b.items, Item{
		Name: public, Domain: it.Domain, Tab: tab, Source: it.Source,
		JSON: json.RawMessage(b.json[start:len(b.json):len(b.json)]),
		Sum:  sum,
	})
	b.json = append(b.json, ',')
	b.sum = b.sum*31 + sum
}

// Find returns the item that a public name or URI stands for, listed or not. A
// resource is also found by a URI that one of the templates matches; the item is
// the template then. The error is an *UnknownError.
func (h *Hub) Find(kind spec.Kind, name string) (Item, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	b := h.boundLocked(kind, name)
	if b == nil || b.offer == nil {
		if kind == spec.KindResource {
			b, _ = h.matchTemplateLocked(name)
		}
		if b == nil || b.offer == nil {
			return Item{}, h.unknownLocked(kind, name)
		}
	}
	p := h.placeLocked(b.offer.domain)
	one := &block{}
	switch newest := b.offer.newestLocked(true); {
	case b.holder != nil:
		one.add(b.holder.item, b.holder.public, b.holder.number, h.tabPlace(p, b.holder))
	case newest != nil:
		one.add(newest.item, b.offer.public, 0, p)
	default:
		p.Cached = true
		one.add(b.offer.kept, b.offer.public, 0, p)
	}
	return one.items[0], nil
}
