package hub

import (
	"errors"
	"fmt"
	"slices"
	"tabhub/hub/item"

	"tabhub/spec"
)

// ConsistencyCheck returns an error that names each way in which the hub's state
// contradicts itself. It is for tests and for a look into a running hub.
func (h *Hub) ConsistencyCheck() error {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }

	for addr, t := range h.tabs {
		if t.addr != addr || t.peer.tabs[addr.Tab] != t || h.peers[addr.Peer] != t.peer {
			bad("tab %s is not its peer's", addr)
		}
		for kind, items := range t.items {
			for _, it := range items {
				o := h.domainOf(it).offers[kind][it.Source]
				if o == nil || !slices.ContainsFunc(o.holders, func(hd *holder) bool { return hd.tab == t && hd.item == it }) {
					bad("tab %s does not hold its %s %q", addr, kind, it.Source)
				}
			}
		}
		for key := range t.domains {
			if !slices.Contains(h.domains[key].tabs, t) {
				bad("tab %s is not in its domain %s", addr, key)
			}
		}
	}
	shares := map[string]share{}
	var counts [3]int
	var kept, bytes int
	names := map[*domain][2]int{} // taken, idle
	for key, b := range h.names {
		n := names[b.domain]
		n[0]++
		if b.offer == nil {
			n[1]++
		}
		names[b.domain] = n
		if h.domains[b.domain.key] != b.domain {
			bad("name %q belongs to a domain that is gone", key.name)
		}
	}
	for key, d := range h.domains {
		if _, found := slices.BinarySearch(h.order, key); !found {
			bad("domain %s is not in order", key)
		}
		if n := [2]int{d.names, d.idle}; n != names[d] {
			bad("domain %s has %v names taken and idle, remembered %v", key, names[d], n)
		}
		numbers := map[int]bool{}
		for _, t := range d.tabs {
			n := t.domains[key]
			if n == nil || numbers[n.number] || h.tabs[t.addr] != t {
				bad("domain %s has a tab that is gone, or two with one number", key)
				continue
			}
			numbers[n.number] = true
		}
		own := 0
		s := shares[d.share.site]
		s.site = d.share.site
		s.domains++
		for kind, offers := range d.offers {
			for source, o := range offers {
				s.counts[kindIndex(kind)] += len(o.holders)
				for _, hd := range o.holders {
					s.bytes += len(hd.item.Raw)
				}
				if o.kept != nil {
					own++
					s.bytes += len(o.kept.Raw)
				}
				h.checkOfferLocked(o, source, bad)
			}
		}
		shares[d.share.site] = s
		if kept += own; own != d.kept {
			bad("domain %s keeps %d items, remembered %d", key, own, d.kept)
		}
	}
	for site, s := range shares {
		for kind, n := range s.counts {
			counts[kind] += n
		}
		if bytes += s.bytes; h.shares[site] == nil || *h.shares[site] != s {
			bad("site %s has %+v, remembered %+v", site, s, h.shares[site])
		}
	}
	if len(shares) != len(h.shares) {
		bad("%d sites are remembered, there are %d", len(h.shares), len(shares))
	}
	if kept != h.allKept || bytes != h.bytes {
		bad("%d items are kept, in all %d bytes; remembered %d, %d", kept, bytes, h.allKept, h.bytes)
	}
	if counts != h.counts {
		bad("counted %v items, remembered %v", counts, h.counts)
	}
	if h.active != nil && h.tabs[h.active.addr] != h.active {
		bad("the active tab is gone")
	}
	return errors.Join(errs...)
}

func (h *Hub) checkOfferLocked(o *offer, source string, bad func(string, ...any)) {
	kind := o.id.Kind
	if len(o.holders) == 0 && o.kept == nil {
		bad("nothing stands behind %s %q", kind, source)
	}
	b := h.names[publicName{kind, o.public}]
	if b == nil || b.offer != o || b.holder != nil || b.id != o.id {
		bad("name %q is not bound to its %s", o.public, kind)
	}
	for i, hd := range o.holders {
		if i > 0 && o.holders[i-1].number >= hd.number {
			bad("holders of %q are not in order", source)
		}
		if h.tabs[hd.tab.addr] != hd.tab || !slices.Contains(hd.tab.items[kind], hd.item) {
			bad("%s %q is held by tab %s, which does not have it", kind, source, hd.tab.addr)
		}
		b := h.names[publicName{kind, hd.public}]
		if b == nil || b.offer != o || b.holder != hd {
			bad("name %q is not bound to tab %s", hd.public, hd.tab.addr)
		}
	}
}

// domainOf returns an item's domain, or an empty one.
func (h *Hub) domainOf(it *item.Item) *domain {
	if d := h.domains[it.Domain]; d != nil {
		return d
	}
	return &domain{offers: map[spec.Kind]map[string]*offer{}}
}
