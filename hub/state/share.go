package state

import (
	"fmt"

	"tabhub/hub/item"
	"tabhub/naming"
	"tabhub/spec"
)

// maxBytes bounds what all tabs offer, and what is cached of closed ones.
const maxBytes = 256 << 20

// share is what one site has of the hub: all its domains together, as naming.SiteOf
// says.
//
// A site may have at most half of what the others leave, of each kind of items and of
// the bytes: 10,000 tools if it is alone, 5,000 beside one that has 10,000. So none,
// and no number of them, can use up the hub.
type share struct {
	site    string
	domains int
	counts  [3]int // items registered, by kind
	bytes   int    // of what is registered and cached
}

// kindIndex returns a kind's place in share.counts.
func kindIndex(k spec.Kind) int {
	switch k {
	case spec.KindResource:
		return 1
	case spec.KindPrompt:
		return 2
	}
	return 0
}

// joinShare makes a new domain count for its site.
func (c *Change) joinShare(d *domain) {
	site := naming.SiteOf(d.key)
	s := c.shares[site]
	if s == nil {
		s = &share{site: site}
		c.shares[site] = s
	}
	s.domains++
	d.share = s
}

// leaveShare is called when a domain, of which nothing is left, is forgotten.
func (c *Change) leaveShare(d *domain) {
	if d.share.domains--; d.share.domains == 0 {
		delete(c.shares, d.share.site)
	}
}

// count adds n, which may be negative, to the items of a kind that are registered.
func (c *Change) count(d *domain, kind spec.Kind, n int) {
	c.all.counts[kindIndex(kind)] += n
	d.share.counts[kindIndex(kind)] += n
}

// weigh adds n, which may be negative, to the bytes that are held.
func (c *Change) weigh(d *domain, n int) {
	c.all.bytes += n
	d.share.bytes += n
}

// roomForBytes returns why an item finds no room, nil if it does.
func (s *State) roomForBytes(it *item.Item) error {
	if s.all.bytes+len(it.Raw) > maxBytes {
		return fmt.Errorf("what the hub's tabs offer is larger than %d bytes already: close tabs that you do not need", maxBytes)
	}
	var of *share
	if d := s.domains[it.Domain]; d != nil {
		of = d.share
	} else {
		of = s.shares[naming.SiteOf(it.Domain)]
	}
	if of != nil && of.bytes+len(it.Raw) > (maxBytes-(s.all.bytes-of.bytes))/2 {
		return fmt.Errorf("%s has %d bytes already, half of what other sites leave of the hub's %d", of.site, of.bytes, maxBytes)
	}
	return nil
}

// roomForItem returns why a domain can have no further item of a kind, nil if it can.
func (s *State) roomForItem(d *domain, kind spec.Kind) error {
	all, has := s.all.counts[kindIndex(kind)], d.share.counts[kindIndex(kind)]
	if all >= spec.MaxToolsPerHub {
		return fmt.Errorf("the hub holds %d already: close tabs that you do not need", spec.MaxToolsPerHub)
	}
	if has+1 > (spec.MaxToolsPerHub-(all-has))/2 {
		return fmt.Errorf("%s has %d already, half of what other sites leave of the hub's %d", d.share.site, has, spec.MaxToolsPerHub)
	}
	return nil
}
