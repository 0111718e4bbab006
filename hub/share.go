package hub

import (
	"fmt"
	"tabhub/hub/item"

	"tabhub/naming"
	"tabhub/spec"
)

// maxBytes bounds what all tabs offer, and what is kept of closed ones.
const maxBytes = 256 << 20

// share is what one site has of the hub: all its domains together, as naming.SiteOf
// says. It is guarded by Hub.mu.
//
// A site may have at most half of what the others leave, of each kind of items and of
// the bytes: 10,000 tools if it is alone, 5,000 beside one that has 10,000. So none,
// and no number of them, can use up the hub.
type share struct {
	site    string
	domains int
	counts  [3]int // items registered, by kind
	bytes   int    // of what is registered and kept
}

// joinShareLocked makes a new domain count for its site.
func (h *Hub) joinShareLocked(d *domain) {
	site := naming.SiteOf(d.key)
	s := h.shares[site]
	if s == nil {
		s = &share{site: site}
		h.shares[site] = s
	}
	s.domains++
	d.share = s
}

// shareLocked returns the share of a domain's site, nil if the site has none.
func (h *Hub) shareLocked(key spec.Domain) *share {
	if d := h.domains[key]; d != nil {
		return d.share
	}
	return h.shares[naming.SiteOf(key)]
}

// leaveShareLocked is called when a domain, of which nothing is left, is forgotten.
func (h *Hub) leaveShareLocked(d *domain) {
	if d.share.domains--; d.share.domains == 0 {
		delete(h.shares, d.share.site)
	}
}

// countLocked adds n, which may be negative, to the items of a kind that are
// registered.
func (h *Hub) countLocked(d *domain, kind spec.Kind, n int) {
	h.counts[kindIndex(kind)] += n
	d.share.counts[kindIndex(kind)] += n
}

// weighLocked adds n, which may be negative, to the bytes that are held.
func (h *Hub) weighLocked(d *domain, n int) {
	h.bytes += n
	d.share.bytes += n
}

// bytesLeftLocked returns why an item finds no room, nil if it does.
func (h *Hub) bytesLeftLocked(it *item.Item) error {
	if h.bytes+len(it.Raw) > maxBytes {
		return fmt.Errorf("what the hub's tabs offer is larger than %d bytes already: close tabs that you do not need", maxBytes)
	}
	s := h.shareLocked(it.Domain)
	if s != nil && s.bytes+len(it.Raw) > (maxBytes-(h.bytes-s.bytes))/2 {
		return fmt.Errorf("%s has %d bytes already, half of what other sites leave of the hub's %d", s.site, s.bytes, maxBytes)
	}
	return nil
}

// countLeftLocked returns why the domain can have no further item of a kind, nil if it
// can.
func (h *Hub) countLeftLocked(d *domain, kind spec.Kind) error {
	all, own := h.counts[kindIndex(kind)], d.share.counts[kindIndex(kind)]
	if all >= spec.MaxToolsPerHub {
		return fmt.Errorf("the hub holds %d already: close tabs that you do not need", spec.MaxToolsPerHub)
	}
	if own+1 > (spec.MaxToolsPerHub-(all-own))/2 {
		return fmt.Errorf("%s has %d already, half of what other sites leave of the hub's %d", d.share.site, own, spec.MaxToolsPerHub)
	}
	return nil
}
