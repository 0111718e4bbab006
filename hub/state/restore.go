package state

import (
	"slices"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/offer/item"
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
		d := tx.domain(n.Domain)
		d.numbers[n.Key] = n
		if n.LastSeen.After(d.seen) {
			d.seen = n.LastSeen
		}
	}
	// The newest registration says what a domain's name stands for.
	tabs := slices.Concat(stored.Stale, stored.Tabs)
	slices.SortFunc(tabs, func(a, b storage.Tab) int { return a.LastUpdated.Compare(b.LastUpdated) })
	for _, r := range tabs {
		d := tx.domain(r.Domain)
		d.origin = r.Origin
		items := parse(r)
		switch browser, cached := r.CacheOf(); {
		case cached:
			d.restoreCache(tx, browser, r, items)
		case r.LastUpdated.Before(tx.now.Add(-spec.StaleTab)):
			d.restoreStale(tx, r, items)
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
		if doc.Kind == agents.Kind {
			tx.ofAgents.Restore(doc, tx.expect)
		}
	}
	tx.ofAgents.Sweep()
	for _, p := range tx.peers {
		p.startTimer(tx, p.grace())
	}
	return rejected
}

// restoreCache brings back what closed tabs of a browser left in a domain.
func (d *domain) restoreCache(tx *Tx, browser spec.BrowserID, r storage.Tab, items []*item.Item) {
	c := d.cacheOf(browser)
	c.url, c.updated = r.URL, r.LastUpdated
	if r.Browser != "" {
		c.peer = browserPeer(r.Browser)
	}
	for _, it := range items {
		d.restoreCached(tx, c, it)
	}
}

// restoreStale takes a tab that was open too long ago for one that was closed: it
// leaves what is to be cached.
func (d *domain) restoreStale(tx *Tx, r storage.Tab, items []*item.Item) {
	p := newPeer(r.Addr.Peer)
	p.browser = r.Browser
	for _, it := range items {
		c := d.cacheOf(p.browser)
		if tx.caching(it, false) && d.restoreCached(tx, c, it) {
			c.url, c.updated, c.peer = r.URL, r.LastUpdated, p.id
		}
	}
}

// restoreCached reports whether there was room for a cached item.
func (d *domain) restoreCached(tx *Tx, c *cache, it *item.Item) bool {
	e := d.entry(tx, it)
	if e == nil {
		return false
	}
	ok := e.cacheItem(tx, c, it)
	e.prune(tx)
	return ok
}

// expect has a browser waited for, of which no tab may be known.
func (tx *Tx) expect(id spec.PeerID, browser spec.BrowserID, run string) {
	p := tx.peers[id]
	if p == nil {
		p = newPeer(id)
		p.browser, p.lastSeen = browser, tx.now
		tx.peers[p.id] = p
	}
	if p.browser != "" && p.session == "" {
		p.session = run
	}
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
		if err := t.provide(tx, it); err != nil {
			rejected = append(rejected, it.Reject(i, err))
			continue
		}
		t.items[it.Kind] = append(t.items[it.Kind], it)
		d := tx.domains[it.Domain]
		c := d.cacheOf(p.browser)
		if tx.caching(it, t.keepTools) && (d.entries[keyOf(it)]).cacheItem(tx, c, it) && c.url == "" {
			c.url, c.peer, c.updated = t.url, p.id, r.LastUpdated
		}
	}
	return rejected
}
