package state

import (
	"tabhub/hub/item"
	"tabhub/spec"
	"tabhub/storage"
)

// Bounds on what is cached of closed tabs.
const (
	maxCached    = spec.MaxToolsPerTab // of one domain
	maxAllCached = spec.MaxToolsPerHub
)

// cacheKey is the key of the stored record that holds what closed tabs left in a
// domain. No tab has it: their keys are never empty.
const cacheKey = ""

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

// cacheItem keeps an item of a tab that goes in its entry, in place of one that was
// cached there before. It reports false if the site has left too much already.
func (tx *Tx) cacheItem(e *entry, it *item.Item) bool {
	d := e.domain
	if e.cached == nil {
		if d.cache.items >= maxCached {
			return false
		}
		if tx.cachedItems >= maxAllCached {
			tx.dropLargestCache()
		}
		d.cache.items++
		tx.cachedItems++
	} else {
		tx.weigh(d, -len(e.cached.Raw))
	}
	e.cached = it
	tx.weigh(d, len(it.Raw))
	tx.cacheChanged(d)
	return true
}

// dropCache forgets all that is cached of a domain.
func (tx *Tx) dropCache(d *domain) {
	for _, e := range d.entries {
		if e.cached == nil {
			continue
		}
		tx.weigh(d, -len(e.cached.Raw))
		e.cached = nil
		d.cache.items--
		tx.cachedItems--
		tx.prune(e)
	}
	tx.cacheChanged(d)
	tx.relist(d)
}

// dropLargestCache forgets what is cached of the domain that has left most, and of
// several of the one that did so first.
func (tx *Tx) dropLargestCache() {
	var most *domain
	for _, d := range tx.domains {
		if most == nil || d.cache.items > most.cache.items || d.cache.items == most.cache.items && d.cache.updated.Before(most.cache.updated) {
			most = d
		}
	}
	tx.dropCache(most)
}

// cacheChanged says that what is cached of a domain is to be saved at the end.
func (tx *Tx) cacheChanged(d *domain) {
	if tx.caches == nil {
		tx.caches = map[*domain]bool{}
	}
	tx.caches[d] = true
}

// saveCache stores what is cached of a domain.
func (tx *Tx) saveCache(d *domain) {
	if d.cache.items == 0 {
		tx.write(storage.DeleteTab{Domain: d.key, Key: cacheKey})
		return
	}
	r := storage.Tab{Domain: d.key, Key: cacheKey, Origin: d.origin, URL: d.cache.url, LastUpdated: d.cache.updated, Cached: true, Verified: true}
	if p := tx.peers[d.cache.peer]; p != nil {
		r.Browser = p.browser
	}
	for _, e := range d.entries {
		if e.cached != nil {
			addItem(&r, e.cached)
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
		tx.dropCache(d)
	}
}
