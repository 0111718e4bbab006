package state

import (
	"slices"

	"tabhub/hub/item"
	"tabhub/spec"
	"tabhub/storage"
)

// Restore makes the state of the last run the present one; parse returns the items of
// a stored tab. Tabs stay hidden until they come back, but calls to them wait for that;
// what they have cached is listed. It returns what found no room.
func (c *Change) Restore(stored *storage.State, parse func(storage.Tab) []*item.Item) (rejected []spec.Rejection) {
	for _, b := range stored.Browsers {
		c.browsers[b.ID] = b
	}
	for _, site := range stored.Sites {
		c.sites[site.Domain] = site
	}
	for _, n := range stored.Names {
		c.restoreName(n)
	}
	for _, n := range stored.Numbers {
		c.domain(n.Domain).numbers[n.Key] = n
	}
	// The newest registration says what a domain's name stands for.
	tabs := slices.Concat(stored.Stale, stored.Tabs)
	slices.SortFunc(tabs, func(a, b storage.Tab) int { return a.LastUpdated.Compare(b.LastUpdated) })
	for _, r := range tabs {
		d := c.domain(r.Domain)
		d.origin = r.Origin
		switch items := parse(r); {
		case r.Key == cacheKey:
			c.restoreCache(d, r, items)
		case r.LastUpdated.Before(c.now.Add(-spec.StaleTab)):
			c.restoreStale(d, r, items)
		default:
			rejected = append(rejected, c.restoreTab(r, items)...)
		}
	}
	for _, p := range c.peers {
		c.startTimer(p, p.grace())
	}
	return rejected
}

// restoreCache brings back what closed tabs left in a domain.
func (c *Change) restoreCache(d *domain, r storage.Tab, items []*item.Item) {
	d.cache.url, d.cache.updated = r.URL, r.LastUpdated
	if r.Browser != "" {
		d.cache.peer = browserPeer(r.Browser)
	}
	for _, it := range items {
		c.restoreCached(d, it)
	}
}

// restoreStale takes a tab that was open too long ago for one that was closed: it
// leaves what is to be cached.
func (c *Change) restoreStale(d *domain, r storage.Tab, items []*item.Item) {
	for _, it := range items {
		if c.caching(it, r.URL, false) && c.restoreCached(d, it) {
			d.cache.url, d.cache.updated, d.cache.peer = r.URL, r.LastUpdated, r.Addr.Peer
		}
	}
}

// restoreCached reports whether there was room for a cached item.
func (c *Change) restoreCached(d *domain, it *item.Item) bool {
	e := c.entry(d, it)
	if e == nil {
		return false
	}
	ok := c.cacheItem(e, it)
	c.prune(e)
	return ok
}

// restoreTab brings back a tab that was open, to wait for it.
func (c *Change) restoreTab(r storage.Tab, items []*item.Item) (rejected []spec.Rejection) {
	p := c.peers[r.Addr.Peer]
	if p == nil {
		p = newPeer(r.Addr.Peer)
		p.browser, p.lastSeen = r.Browser, r.LastUpdated
		c.peers[p.id] = p
	}
	t := c.tab(r.Addr)
	if t == nil {
		return nil // its browser has too many
	}
	t.key, t.url, t.title, t.updated, t.hidden = r.Key, r.URL, r.Title, r.LastUpdated, true
	for i, it := range items {
		if err := c.provide(t, it); err != nil {
			rejected = append(rejected, it.Reject(i, err))
			continue
		}
		t.items[it.Kind] = append(t.items[it.Kind], it)
		d := c.domains[it.Domain]
		if c.caching(it, t.url, t.keepTools) && c.cacheItem(d.entries[entryKey{it.Kind, it.Source}], it) && d.cache.url == "" {
			d.cache.url, d.cache.peer, d.cache.updated = t.url, p.id, r.LastUpdated
		}
	}
	return rejected
}
