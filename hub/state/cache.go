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

// caching reports whether an item stays when its tab goes, which is at url and whose
// user may have asked to keep its tools.
func (s *State) caching(it *item.Item, url string, keepTools bool) bool {
	if !it.Verified || url == "" {
		return false
	}
	if site, ok := s.sites[it.Domain]; ok && site.Cache != nil {
		return *site.Cache
	}
	return it.Cache || keepTools
}

// cacheItem keeps an item of a tab that goes in its entry, in place of one that was
// cached there before. It reports false if the site has left too much already.
func (c *Change) cacheItem(e *entry, it *item.Item) bool {
	d := e.domain
	if e.cached == nil {
		if d.cache.items >= maxCached {
			return false
		}
		if c.cachedItems >= maxAllCached {
			c.dropLargestCache()
		}
		d.cache.items++
		c.cachedItems++
	} else {
		c.weigh(d, -len(e.cached.Raw))
	}
	e.cached = it
	c.weigh(d, len(it.Raw))
	c.cacheChanged(d)
	return true
}

// dropCache forgets all that is cached of a domain.
func (c *Change) dropCache(d *domain) {
	for _, e := range d.entries {
		if e.cached == nil {
			continue
		}
		c.weigh(d, -len(e.cached.Raw))
		e.cached = nil
		d.cache.items--
		c.cachedItems--
		c.prune(e)
	}
	c.cacheChanged(d)
	c.relist(d)
}

// dropLargestCache forgets what is cached of the domain that has left most, and of
// several of the one that did so first.
func (c *Change) dropLargestCache() {
	var most *domain
	for _, d := range c.domains {
		if most == nil || d.cache.items > most.cache.items || d.cache.items == most.cache.items && d.cache.updated.Before(most.cache.updated) {
			most = d
		}
	}
	c.dropCache(most)
}

// cacheChanged says that what is cached of a domain is to be saved at the end.
func (c *Change) cacheChanged(d *domain) {
	if c.caches == nil {
		c.caches = map[*domain]bool{}
	}
	c.caches[d] = true
}

// saveCache stores what is cached of a domain.
func (c *Change) saveCache(d *domain) {
	if d.cache.items == 0 {
		c.write(storage.DeleteTab{Domain: d.key, Key: cacheKey})
		return
	}
	r := storage.Tab{Domain: d.key, Key: cacheKey, Origin: d.origin, URL: d.cache.url, LastUpdated: d.cache.updated, Cached: true, Verified: true}
	if p := c.peers[d.cache.peer]; p != nil {
		r.Browser = p.browser
	}
	for _, e := range d.entries {
		if e.cached != nil {
			addItem(&r, e.cached)
		}
	}
	c.write(r)
}

// SetSite replaces the user's settings for a site. Turning its cache off forgets what
// is cached of it.
func (c *Change) SetSite(site storage.Site) {
	c.sites[site.Domain] = site
	c.write(site)
	if d := c.domains[site.Domain]; d != nil && site.Cache != nil && !*site.Cache {
		c.dropCache(d)
	}
}
