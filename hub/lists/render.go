package lists

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"tabhub/describe"
	"tabhub/hub/agents"
	"tabhub/hub/core"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// listCache holds one of the lists as it was made last for clients that are bound alike.
type listCache struct {
	mu         sync.Mutex // taken before Hub.mu
	last       *Listing
	generation uint64          // of the state that last was rendered from
	parts      map[string]part // of last, by client
	told       *uint64         // the sum of that which its clients were told of last
}

// part is what a client is to know of a list by some rules.
type part struct {
	rules *policy.Set
	list  *Listing
}

// maxParts bounds the parts that are kept of a list.
const maxParts = 256

// block is a domain's part of a list, rendered. It belongs to the listCache; what is in it does
// not change.
type block struct {
	domain     spec.Domain
	generation uint64 // of the domain
	json       []byte // the elements, one after the other
	items      []Item
	sum        uint64 // differs when a client would have to list again; not with labels
}

// ListFor returns one of the lists, without what a client is not to know of. It does not
// block on I/O, and returns the same Listing until something changes.
func (ls *Lists) ListFor(by *consent.Caller, kind ListKind) *Listing {
	of, rules := ls.rules.By(by), ls.rules.Policy()
	cache := ls.listsOf(of, kind)
	cache.mu.Lock()
	defer cache.mu.Unlock()
	cache.renderLocked(ls, of, kind)
	if !rules.Hides(by.Principal) {
		return cache.last
	}
	p := cache.parts[by.Principal.ID]
	if p.rules != rules {
		if cache.parts == nil || len(cache.parts) >= maxParts {
			cache.parts = map[string]part{}
		}
		p = part{rules, cache.last.shownTo(rules, by.Principal)}
		cache.parts[by.Principal.ID] = p
	}
	return p.list
}

// shownTo returns what a client is to know of a list.
func (l *Listing) shownTo(rules *policy.Set, who *policy.Principal) *Listing {
	now, by := time.Now(), consent.As(who)
	shown := &Listing{}
	for _, it := range l.Items {
		a := core.ActionFor(by, it.item, it.Source)
		if rules.Shows(&a, now) {
			shown.Items = append(shown.Items, it)
		}
	}
	return shown
}

// List is ListFor of a caller that sees everything.
func (ls *Lists) List(kind ListKind) *Listing { return ls.BoundList(agents.By{}, kind) }

// BoundList is List with a binding.
func (ls *Lists) BoundList(of agents.By, kind ListKind) *Listing {
	cache := ls.listsOf(of, kind)
	cache.mu.Lock()
	defer cache.mu.Unlock()
	cache.renderLocked(ls, of, kind)
	return cache.last
}

// renderLocked brings the cache up to date.
func (c *listCache) renderLocked(h *Lists, of agents.By, kind ListKind) {
	h.core.RLock()
	defer h.core.RUnlock()
	generation := h.core.State().Generation()
	if c.last != nil && c.generation == generation {
		return
	}
	if now := h.render(of, kind, c.last); now != c.last {
		c.last, c.parts = now, nil
	}
	c.generation = generation
}

// render renders a list: by domain, item name, tab. Only domains that have changed
// since last, which may be nil, are rendered anew; last is returned if none has. The caller holds h.mu.
func (ls *Lists) render(of agents.By, kind ListKind, last *Listing) *Listing {
	var old []*block // of domains that are still to come
	if last != nil {
		old = last.blocks
	}
	l := &Listing{blocks: make([]*block, 0, len(old)+1)}
	itemKind, template := kind.items()
	var listed []state.Listed // room for one domain's
	n := 0
	for domain, generation := range ls.core.State().Domains() {
		for len(old) > 0 && old[0].domain < domain {
			old = old[1:]
		}
		var b *block
		if len(old) > 0 && old[0].domain == domain && old[0].generation == generation {
			b = old[0]
		} else {
			listed = ls.core.State().List(listed[:0], of, domain, itemKind, template)
			b = ls.renderDomain(listed, domain, generation)
		}
		l.blocks = append(l.blocks, b)
		n += len(b.items)
	}
	if last != nil && slices.Equal(l.blocks, last.blocks) {
		return last
	}
	l.Items = make([]Item, 0, n)
	for _, b := range l.blocks {
		if len(b.items) > 0 {
			start := len(l.Items)
			l.Items = append(l.Items, b.items...)
			b.items = l.Items[start:] // the same, once in memory
			l.sum = l.sum*31 + b.sum
		}
	}
	return l
}

// renderDomain renders what a list has of a domain.
func (ls *Lists) renderDomain(listed []state.Listed, domain spec.Domain, generation uint64) *block {
	b := &block{domain: domain, generation: generation}
	listed = slices.DeleteFunc(listed, func(l state.Listed) bool { return l.Tab != 0 && !ls.listsTabName(l) })
	listed = ownWins(listed)
	size := 0
	for _, l := range listed {
		size += l.Item.Size(l.Public, prefix(l))
	}
	b.json, b.items = make([]byte, 0, size), make([]Item, 0, len(listed))
	for _, l := range listed {
		b.add(l)
	}
	return b
}

// ownWins leaves out the tools of packs that the site has itself in a tab that is open. They stay
// callable.
func ownWins(listed []state.Listed) []state.Listed {
	ofPack := func(l state.Listed) bool { return l.Item.Pack.Name != "" }
	if !slices.ContainsFunc(listed, ofPack) {
		return listed
	}
	own := map[string]bool{}
	for _, l := range listed {
		if !ofPack(l) && !l.Place.Cached {
			own[l.Item.Source] = true
		}
	}
	return slices.DeleteFunc(listed, func(l state.Listed) bool { return ofPack(l) && own[l.Item.Source] })
}

// prefix returns what the description of an element begins with.
func prefix(l state.Listed) string {
	l.Place.Pack = l.Item.Pack.Name
	return describe.Prefix(l.Place)
}

// listsTabName reports whether a tab's own name is listed.
func (ls *Lists) listsTabName(l state.Listed) bool {
	switch ls.tabNames {
	case TabNamesAlways:
		return true
	case TabNamesNever:
		return false
	}
	return !l.Alone
}

// add renders one element.
func (b *block) add(l state.Listed) {
	start := len(b.json)
	b.json = l.Item.AppendJSON(b.json, l.Public, prefix(l))
	sum := l.Item.Sum(l.Public)
	b.items = append(b.items, Item{
		item: l.Item, lower: strings.ToLower(l.Public),
		Name: l.Public, Domain: l.Item.Domain, Tab: l.Tab, Source: l.Item.Source, Pack: l.Item.Pack.Name,
		JSON:  json.RawMessage(b.json[start:len(b.json):len(b.json)]),
		Class: l.Item.Class, Cached: l.Place.Cached, OnlyReads: l.Item.OnlyReads(), Sum: sum,
	})
	b.sum = b.sum*31 + sum
}
