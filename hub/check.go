package hub

import (
	"errors"
	"fmt"
	"slices"

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
				o := h.domainOf(it).offers[kind][it.source]
				if o == nil || !slices.ContainsFunc(o.holders, func(hd *holder) bool { return hd.tab == t && hd.item == it }) {
					bad("tab %s does not hold its %s %q", addr, kind, it.source)
				}
			}
		}
		for key := range t.domains {
			if !slices.Contains(h.domains[key].tabs, t) {
				bad("tab %s is not in its domain %s", addr, key)
			}
		}
	}
	var counts [3]int
	for key, d := range h.domains {
		if _, found := slices.BinarySearch(h.order, key); !found {
			bad("domain %s is not in order", key)
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
		for kind, offers := range d.offers {
			for source, o := range offers {
				counts[kindIndex(kind)] += len(o.holders)
				h.checkOfferLocked(o, source, bad)
			}
		}
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
func (h *Hub) domainOf(it *item) *domain {
	if d := h.domains[it.domain]; d != nil {
		return d
	}
	return &domain{offers: map[spec.Kind]map[string]*offer{}}
}
