package state

import (
	"cmp"
	"slices"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/offer/item"
	"tabhub/naming"
	"tabhub/spec"
)

// entry is one item of a domain's catalog. There is something behind it: a provider,
// or a cached item.
type entry struct {
	id        naming.Identity
	domain    *domain
	public    string
	providers []*provider // by tab number
	cached    []leftover  // of closed tabs, the last first; count while there is no provider
}

// leftover is what closed tabs of one browser left of an item.
type leftover struct {
	of   *cache
	item *item.Item
}

// entryKey is an entry's key in its domain.
type entryKey struct {
	kind   spec.Kind
	source string // the page's own name, URI or URI template
}

// provider is a tab that has the item. Only item, seq and since change.
type provider struct {
	entry  *entry
	tab    *tab
	number int
	public string
	item   *item.Item
	seq    uint64    // of the registration that brought item
	since  time.Time // when the hub saw this definition first; zero: before it started
}

func (e *entry) key() entryKey { return entryKey{e.id.Kind, e.id.Item} }

// newest returns the provider that was registered last among those whose tabs by sees and
// are visible (or, with hidden, among all that it knows of); nil if there is none.
func (s *State) newest(e *entry, by agents.By, hidden bool) *provider {
	var newest *provider
	for _, p := range e.providers {
		if (hidden || !p.tab.hidden) && (newest == nil || p.seq > newest.seq) && s.seesTab(&by, p.tab) {
			newest = p
		}
	}
	return newest
}

// cached returns what a closed tab that by sees left last of an entry's item; nil if none
// did.
func (s *State) cached(e *entry, by agents.By) *item.Item {
	for _, l := range e.cached {
		if s.sees(&by, l.of.browser) {
			return l.item
		}
	}
	return nil
}

// item returns the item that the entry's own name stands for; nil if by sees none.
func (s *State) item(e *entry, by agents.By) *item.Item {
	if p := s.newest(e, by, true); p != nil {
		return p.item
	}
	return s.cached(e, by)
}

// present reports whether a call can be sent to a provider now: its tab is connected,
// and the document that it shows has registered the item, or is not loaded.
func (p *provider) present() bool { return p.connected() && !p.tab.departed(p.item) }

func (p *provider) connected() bool {
	t := p.tab
	return t.peer.connected && !t.hidden && !(t.reloaded && t.stale[p.item.Kind])
}

// entry returns a domain's entry for an item, making it if need be; nil if the domain
// has taken too many names.
func (tx *Tx) entry(d *domain, it *item.Item) *entry {
	key := entryKey{it.Kind, it.Source}
	if e := d.entries[key]; e != nil {
		return e
	}
	e := &entry{id: naming.Identity{Kind: it.Kind, Domain: d.key, Item: it.Source}, domain: d}
	if e.public = tx.bind(e.id, e, nil); e.public == "" {
		return nil
	}
	d.entries[key] = e
	return e
}

// provide makes t a provider of an item, or gives the provider that it is a new item.
// It returns why it cannot.
func (tx *Tx) provide(t *tab, it *item.Item) error {
	if err := tx.roomForBytes(it); err != nil {
		return err
	}
	m := tx.enter(t, it)
	d := m.domain
	e := tx.entry(d, it)
	if e == nil {
		return errNames
	}
	at, found := slices.BinarySearchFunc(e.providers, m.number, func(p *provider, n int) int { return cmp.Compare(p.number, n) })
	if found {
		p := e.providers[at]
		tx.weigh(d, it.Weight()-p.item.Weight())
		p.since = tx.since(e, it)
		p.item, p.seq = it, tx.next()
		return nil
	}
	if err := tx.roomForItem(d, it.Kind); err != nil {
		tx.prune(e)
		return err
	}
	id := e.id
	id.Tab = m.number
	p := &provider{entry: e, tab: t, number: m.number, item: it, seq: tx.next(), since: tx.since(e, it)}
	if p.public = tx.bind(id, e, p); p.public == "" {
		tx.prune(e)
		return errNames
	}
	e.providers = slices.Insert(e.providers, at, p)
	tx.count(d, it.Kind, 1)
	tx.weigh(d, it.Weight())
	return nil
}

// since returns when the definition of an item that is being provided was seen first: now,
// unless another tab has it, or it is cached.
func (tx *Tx) since(e *entry, it *item.Item) time.Time {
	for _, l := range e.cached {
		if l.item.Sum("") == it.Sum("") {
			return time.Time{}
		}
	}
	for _, p := range e.providers {
		if p.item.Sum("") == it.Sum("") {
			return p.since
		}
	}
	return tx.now
}

// withdraw takes items from a tab. What is to be cached of them stays in their
// entries.
func (tx *Tx) withdraw(t *tab, items []*item.Item) {
	for _, it := range items {
		d := tx.domains[it.Domain]
		e := d.entries[entryKey{it.Kind, it.Source}]
		if e == nil {
			continue
		}
		at := slices.IndexFunc(e.providers, func(p *provider) bool { return p.tab == t })
		if at < 0 {
			continue
		}
		tx.unbind(it.Kind, e.providers[at].public)
		e.providers = slices.Delete(e.providers, at, at+1)
		tx.count(d, it.Kind, -1)
		tx.weigh(d, -it.Weight())
		if c := d.cacheOf(t.peer.browser); tx.caching(it, t.keepTools) && tx.cacheItem(e, c, it) {
			c.updated, c.peer, c.url = tx.now, t.peer.id, cmp.Or(t.url, c.url)
		}
		tx.prune(e)
		tx.relist(d)
	}
}

// prune forgets an entry that nothing stands behind.
func (tx *Tx) prune(e *entry) {
	if len(e.providers) > 0 || len(e.cached) > 0 {
		return
	}
	delete(e.domain.entries, e.key())
	tx.unbind(e.id.Kind, e.public)
}
