package state

import (
	"slices"
	"time"

	"tabhub/hub/item"
	"tabhub/spec"
	"tabhub/storage"
)

// Restore makes the state of the last run the present one; parse returns the items of
// a stored tab. Tabs stay hidden until they come back, but calls to them wait for that;
// what they have cached is listed. It returns what found no room.
func (tx *Tx) Restore(stored *storage.State, parse func(storage.Tab) []*item.Item) (rejected []spec.Rejection) {
	for _, b := range stored.Browsers {
		tx.browsers[b.ID] = b
	}
	for _, site := range stored.Sites {
		tx.sites[site.Domain] = site
	}
	for _, n := range stored.Names {
		tx.restoreName(n)
	}
	for _, n := range stored.Numbers {
		tx.domain(n.Domain).numbers[n.Key] = n
	}
	// The newest registration says what a domain's name stands for.
	tabs := slices.Concat(stored.Stale, stored.Tabs)
	slices.SortFunc(tabs, func(a, b storage.Tab) int { return a.LastUpdated.Compare(b.LastUpdated) })
	for _, r := range tabs {
		d := tx.domain(r.Domain)
		d.origin = r.Origin
		switch items := parse(r); {
		case r.Key == cacheKey:
			tx.restoreCache(d, r, items)
		case r.LastUpdated.Before(tx.now.Add(-spec.StaleTab)):
			tx.restoreStale(d, r, items)
		default:
			rejected = append(rejected, tx.restoreTab(r, items)...)
		}
	}
	for _, d := range tx.domains {
		for _, e := range d.entries {
			for _, p := range e.providers {
				p.since = time.Time{}
			}
		}
	}
	for _, doc := range stored.Documents {
		if doc.Kind == sessionKind {
			tx.restoreSession(doc)
		}
	}
	for _, p := range tx.peers {
		tx.startTimer(p, p.grace())
	}
	return rejected
}

// restoreCache brings back what closed tabs left in a domain.
func (tx *Tx) restoreCache(d *domain, r storage.Tab, items []*item.Item) {
	d.cache.url, d.cache.updated = r.URL, r.LastUpdated
	if r.Browser != "" {
		d.cache.peer = browserPeer(r.Browser)
	}
	for _, it := range items {
		tx.restoreCached(d, it)
	}
}

// restoreStale takes a tab that was open too long ago for one that was closed: it
// leaves what is to be cached.
func (tx *Tx) restoreStale(d *domain, r storage.Tab, items []*item.Item) {
	for _, it := range items {
		if tx.caching(it, false) && tx.restoreCached(d, it) {
			d.cache.url, d.cache.updated, d.cache.peer = r.URL, r.LastUpdated, r.Addr.Peer
		}
	}
}

// restoreCached reports whether there was room for a cached item.
func (tx *Tx) restoreCached(d *domain, it *item.Item) bool {
	e := tx.entry(d, it)
	if e == nil {
		return false
	}
	ok := tx.cacheItem(e, it)
	tx.prune(e)
	return ok
}

// restoreTab brings back a tab that was open, to wait for it.
func (tx *Tx) restoreTab(r storage.Tab, items []*item.Item) (rejected []spec.Rejection) {
	p := tx.peers[r.Addr.Peer]
	if p == nil {
		p = newPeer(r.Addr.Peer)
		p.browser, p.lastSeen = r.Browser, r.LastUpdated
		tx.peers[p.id] = p
	}
	t := tx.tab(r.Addr)
	if t == nil {
		return nil // its browser has too many
	}
	t.key, t.url, t.title, t.updated, t.hidden = r.Key, r.URL, r.Title, r.LastUpdated, true
	for i, it := range items {
		if err := tx.provide(t, it); err != nil {
			rejected = append(rejected, it.Reject(i, err))
			continue
		}
		t.items[it.Kind] = append(t.items[it.Kind], it)
		d := tx.domains[it.Domain]
		if tx.caching(it, t.keepTools) && tx.cacheItem(d.entries[entryKey{it.Kind, it.Source}], it) && d.cache.url == "" {
			d.cache.url, d.cache.peer, d.cache.updated = t.url, p.id, r.LastUpdated
		}
	}
	return rejected
}
