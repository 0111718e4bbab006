package state

import (
	"slices"

	"tabhub/hub/agents"
	"tabhub/hub/offer/item"
	"tabhub/spec"
	"tabhub/storage"
)

// Bounds on what is cached of closed tabs. A page leaves what it likes and is gone, and
// users do not see from where it is: a site, with all its domains, may leave far less than it may have open.
var (
	maxCached    = size{spec.MaxToolsPerTab, 4 << 20} // of one site
	maxAllCached = size{spec.MaxToolsPerHub, maxBytes / 3}
)

// cacheOf returns what closed tabs of a browser left in the domain, perhaps nothing yet.
func (d *domain) cacheOf(browser spec.BrowserID) *cache {
	for _, c := range d.caches {
		if c.browser == browser {
			return c
		}
	}
	return &cache{domain: d, browser: browser}
}

// lastCache returns what was left in a domain last that by sees; nil if nothing is.
func (d *domain) lastCache(s *State, by agents.By) *cache {
	var last *cache
	for _, c := range d.caches {
		if (last == nil || c.updated.After(last.updated)) && s.sees(&by, c.browser) {
			last = c
		}
	}
	return last
}

// caching reports whether an item stays when its tab goes, whose user may have asked to keep
// its tools. No tab is opened at what is only claimed.
func (s *State) caching(it *item.Item, keepTools bool) bool {
	if !it.Verified {
		return false
	}
	if site, ok := s.sites[it.Domain]; ok && site.Cache != nil {
		return *site.Cache
	}
	return it.Cache || keepTools
}

// cacheItem keeps an item of a tab that goes in its entry, in place of one that its browser
// left there before. It reports false if the site has left too much already.
func (e *entry) cacheItem(tx *Tx, c *cache, it *item.Item) bool {
	d := e.domain
	at := slices.IndexFunc(e.cached, func(l leftover) bool { return l.of == c })
	if at >= 0 {
		e.uncache(tx, at)
	}
	for d.share.cached.over(maxCached, it) {
		if !d.dropOldestCache(tx) {
			return false
		}
	}
	if tx.all.cached.over(maxAllCached, it) {
		tx.dropLargestCache(e)
	}
	if c.items == 0 && !slices.Contains(d.caches, c) {
		d.caches = append(d.caches, c)
	}
	e.cached = slices.Insert(e.cached, 0, leftover{c, it})
	c.items++
	d.cached++
	d.share.cached.add(1, it.Weight())
	tx.all.cached.add(1, it.Weight())
	d.weigh(tx, it.Weight())
	c.cacheChanged(tx)
	return true
}

// uncache forgets one of the items that are cached in an entry.
func (e *entry) uncache(tx *Tx, at int) {
	l := e.cached[at]
	e.cached = slices.Delete(e.cached, at, at+1)
	l.of.items--
	e.domain.cached--
	e.domain.share.cached.add(-1, -l.item.Weight())
	tx.all.cached.add(-1, -l.item.Weight())
	e.domain.weigh(tx, -l.item.Weight())
	l.of.cacheChanged(tx)
}

// dropCache forgets what is cached of a domain and drop reports, but for an entry, which may be nil.
func (d *domain) dropCache(tx *Tx, but *entry, drop func(*item.Item) bool) {
	for _, e := range d.entries {
		if e == but || len(e.cached) == 0 {
			continue
		}
		for at := len(e.cached) - 1; at >= 0; at-- {
			if drop(e.cached[at].item) {
				e.uncache(tx, at)
			}
		}
		e.prune(tx)
	}
	d.relist(tx)
}

// all reports all items.
func all(*item.Item) bool { return true }

// dropOldestCache forgets what is cached of that domain of a site that was left first, but for one.
// It reports false if there is no other.
func (but *domain) dropOldestCache(tx *Tx) bool {
	oldest := but.share.oldestCache(tx.State, but)
	if oldest == nil {
		return false
	}
	oldest.dropCache(tx, nil, all)
	return true
}

// oldestCache returns the domain of a site that has left something first, but for one.
func (of *share) oldestCache(s *State, but *domain) (oldest *domain) {
	for _, d := range s.domains {
		if d != but && d.share == of && d.cached > 0 && (oldest == nil || d.leftBefore(s, oldest)) {
			oldest = d
		}
	}
	return oldest
}

// dropLargestCache forgets what is cached of the site that has left most, and of several of the one
// that did so first; but for an entry.
func (tx *Tx) dropLargestCache(but *entry) {
	var most *share
	for _, s := range tx.shares {
		if most == nil || s.cached.items > most.cached.items ||
			s.cached.items == most.cached.items && s.cached.items > 0 && s.oldestCache(tx.State, nil).leftBefore(tx.State, most.oldestCache(tx.State, nil)) {
			most = s
		}
	}
	for _, d := range tx.domains {
		if d.share == most {
			d.dropCache(tx, but, all)
		}
	}
}

// leftBefore reports whether the tabs of a went before those of b.
func (a *domain) leftBefore(s *State, b *domain) bool {
	of, than := a.lastCache(s, agents.By{}), b.lastCache(s, agents.By{})
	return of != nil && than != nil && of.updated.Before(than.updated)
}

// cacheChanged says that what a browser left in a domain is to be saved at the end.
func (c *cache) cacheChanged(tx *Tx) {
	if tx.caches == nil {
		tx.caches = map[*cache]bool{}
	}
	tx.caches[c] = true
}

// saveCache stores what a browser left in a domain.
func (c *cache) saveCache(tx *Tx) {
	d := c.domain
	if c.items == 0 {
		d.caches = slices.DeleteFunc(d.caches, func(o *cache) bool { return o == c })
		tx.write(storage.DeleteTab{Domain: d.key, Key: storage.CacheKey(c.browser)})
		return
	}
	r := storage.Tab{Domain: d.key, Key: storage.CacheKey(c.browser), Origin: d.origin, URL: c.url, LastUpdated: c.updated, Cached: true, Verified: true}
	if p := tx.peers[c.peer]; p != nil {
		r.Browser = p.browser
	}
	for _, e := range d.entries {
		for _, l := range e.cached {
			if l.of == c {
				r.Add(l.item.Kind, l.item.Raw)
			}
		}
	}
	tx.write(r)
}

// SetSite replaces the user's settings for a site. Turning its cache off forgets what
// is cached of it.
func (tx *Tx) SetSite(site storage.Site) {
	tx.sites[site.Domain] = site
	tx.write(site)
	if d := tx.domains[site.Domain]; d != nil && site.Cache != nil && !*site.Cache {
		d.dropCache(tx, nil, all)
	}
}
