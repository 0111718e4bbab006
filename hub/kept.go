package hub

import (
	"tabhub/hub/item"
	"tabhub/spec"
	"tabhub/storage"
)

// Bounds on what is kept of closed tabs.
const (
	maxKept    = spec.MaxToolsPerTab // of one domain
	maxAllKept = spec.MaxToolsPerHub
)

// keepsLocked reports whether an item stays when its tab goes.
func (h *Hub) keepsLocked(t *tab, it *item.Item) bool {
	if !it.Verified || t.url == "" {
		return false
	}
	if s, ok := h.sites[it.Domain]; ok && s.Cache != nil {
		return *s.Cache
	}
	return it.Cache || t.keep
}

// keepLocked keeps an item of a tab that goes, in place of what was kept of the
// name before. It reports false if the site has left too much already.
func (h *Hub) keepLocked(o *offer, it *item.Item) bool {
	if o.kept == nil {
		if o.domain.kept >= maxKept {
			return false
		}
		if h.allKept >= maxAllKept {
			h.dropMostKeptLocked()
		}
		o.domain.kept++
		h.allKept++
	} else {
		h.weighLocked(o.domain, -len(o.kept.Raw))
	}
	o.kept = it
	h.weighLocked(o.domain, len(it.Raw))
	h.keptLocked(o.domain)
	return true
}

// dropKeptLocked forgets all that is kept of a domain.
func (h *Hub) dropKeptLocked(d *domain) {
	for _, offers := range d.offers {
		for _, o := range offers {
			if o.kept == nil {
				continue
			}
			h.weighLocked(d, -len(o.kept.Raw))
			o.kept = nil
			d.kept--
			h.allKept--
			h.pruneOfferLocked(o)
		}
	}
	h.keptLocked(d)
	h.staleLocked(d)
}

// dropMostKeptLocked forgets what is kept of the domain that has left most, and of
// several of the one that did so first.
func (h *Hub) dropMostKeptLocked() {
	var most *domain
	for _, d := range h.domains {
		if most == nil || d.kept > most.kept || d.kept == most.kept && d.updated.Before(most.updated) {
			most = d
		}
	}
	h.dropKeptLocked(most)
}

// keptLocked says that what is kept of a domain is to be saved at the end of the
// update.
func (h *Hub) keptLocked(d *domain) { h.kept[d] = struct{}{} }

// saveKeptLocked queues the records of domains whose kept items changed.
func (h *Hub) saveKeptLocked() {
	for d := range h.kept {
		delete(h.kept, d)
		if d.kept == 0 {
			h.writeLocked(storage.DeleteTab{Domain: d.key, Key: keptKey})
			continue
		}
		r := storage.Tab{Domain: d.key, Key: keptKey, Origin: d.origin, URL: d.url, LastUpdated: d.updated, Cached: true, Verified: true}
		if p := h.peers[d.lastPeer]; p != nil {
			r.Browser = p.browser
		}
		for kind, offers := range d.offers {
			for _, o := range offers {
				if o.kept != nil {
					addItem(&r, kind, o.kept.Raw)
				}
			}
		}
		h.writeLocked(r)
	}
}
