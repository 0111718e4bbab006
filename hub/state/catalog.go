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
	start     *Start      // of a pack; counts before these; nil: none
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
	pack   string
}

func keyOf(it *item.Item) entryKey { return entryKey{it.Kind, it.Source, it.Pack.Name} }

func keyOfID(id naming.Identity) entryKey { return entryKey{id.Kind, id.Item, id.Pack} }

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

func (e *entry) key() entryKey { return keyOfID(e.id) }

// newest returns the provider that was registered last among those whose tabs by sees and
// are visible (or, with hidden, among all that it knows of); nil if there is none.
func (e *entry) newest(s *State, by agents.By, hidden bool) *provider {
	var newest *provider
	for _, p := range e.providers {
		if (hidden || !p.tab.hidden) && (newest == nil || p.seq > newest.seq) && p.tab.seenBy(s, &by) {
			newest = p
		}
	}
	return newest
}

// leftFor returns the item of an entry that no tab needs: that of a pack, or what a closed tab that by sees
// left last; nil if there is none.
func (e *entry) leftFor(s *State, by agents.By) *item.Item {
	if e.start != nil {
		return e.start.Item
	}
	for _, l := range e.cached {
		if s.sees(&by, l.of.browser) {
			return l.item
		}
	}
	return nil
}

// item returns the item that the entry's own name stands for; nil if by sees none.
func (e *entry) item(s *State, by agents.By) *item.Item {
	if p := e.newest(s, by, true); p != nil {
		return p.item
	}
	return e.leftFor(s, by)
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
func (d *domain) entry(tx *Tx, it *item.Item) *entry {
	key := keyOf(it)
	if e := d.entries[key]; e != nil {
		return e
	}
	e := &entry{id: naming.Identity{Kind: it.Kind, Domain: d.key, Item: it.Source, Pack: it.Pack.Name}, domain: d}
	if e.public = tx.bind(e.id, e, nil); e.public == "" {
		return nil
	}
	d.entries[key] = e
	return e
}

// provide makes t a provider of an item, or gives the provider that it is a new item.
// It returns why it cannot.
func (t *tab) provide(tx *Tx, it *item.Item) error {
	if err := roomForBytes(tx.State, it); err != nil {
		return err
	}
	m := t.enter(tx, it)
	d := m.domain
	e := d.entry(tx, it)
	if e == nil {
		return errNames
	}
	at, found := slices.BinarySearchFunc(e.providers, m.number, func(p *provider, n int) int { return cmp.Compare(p.number, n) })
	if found {
		p := e.providers[at]
		d.weigh(tx, it.Weight()-p.item.Weight())
		p.since = e.since(tx, it)
		p.item, p.seq = it, tx.next()
		return nil
	}
	if err := d.roomForItem(tx.State, it.Kind); err != nil {
		e.prune(tx)
		return err
	}
	id := e.id
	id.Tab = m.number
	p := &provider{entry: e, tab: t, number: m.number, item: it, seq: tx.next(), since: e.since(tx, it)}
	if p.public = tx.bind(id, e, p); p.public == "" {
		e.prune(tx)
		return errNames
	}
	e.providers = slices.Insert(e.providers, at, p)
	d.count(tx, it.Kind, 1)
	d.weigh(tx, it.Weight())
	return nil
}

// since returns when the definition of an item that is being provided was seen first: now,
// unless another tab has it, or it was listed without one.
func (e *entry) since(tx *Tx, it *item.Item) time.Time {
	if e.start != nil && e.start.Item.Sum("") == it.Sum("") {
		return time.Time{}
	}
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
func (t *tab) withdraw(tx *Tx, items []*item.Item) {
	for _, it := range items {
		d := tx.domains[it.Domain]
		e := d.entries[keyOf(it)]
		if e == nil {
			continue
		}
		at := slices.IndexFunc(e.providers, func(p *provider) bool { return p.tab == t })
		if at < 0 {
			continue
		}
		tx.unbind(it.Kind, e.providers[at].public)
		e.providers = slices.Delete(e.providers, at, at+1)
		d.count(tx, it.Kind, -1)
		d.weigh(tx, -it.Weight())
		if c := d.cacheOf(t.peer.browser); tx.caching(it, t.keepTools) && e.cacheItem(tx, c, it) {
			c.updated, c.peer, c.url = tx.now, t.peer.id, cmp.Or(t.url, c.url)
		}
		e.prune(tx)
		d.relist(tx)
	}
}

// prune forgets an entry that nothing stands behind.
func (e *entry) prune(tx *Tx) {
	if len(e.providers) > 0 || len(e.cached) > 0 || e.start != nil {
		return
	}
	delete(e.domain.entries, e.key())
	tx.unbind(e.id.Kind, e.public)
}
