package state

import (
	"fmt"
	"slices"

	"tabhub/hub/offer/item"
	"tabhub/naming"
	"tabhub/spec"
)

// maxBytes bounds what all tabs offer, and what is cached of closed ones: room for 20,000 tools of
// usual size.
const maxBytes = 48 << 20

// share is what one site has of the hub: all its domains together, as naming.SiteOf
// says.
//
// A site may have at most half of what the others leave, of each kind of items and of
// the bytes: 10,000 tools if it is alone, 5,000 beside one that has 10,000. So none,
// and no number of them, can use up the hub.
type share struct {
	site    string
	domains int
	counts  [3]int // items registered, by kindIndex
	bytes   int    // of what is registered and cached
	cached  size   // what is cached of closed tabs
}

// size is a number of items and their bytes.
type size struct{ items, bytes int }

func (s *size) add(items, bytes int) {
	s.items += items
	s.bytes += bytes
}

// over reports whether one more item makes it larger than max.
func (s size) over(max size, it *item.Item) bool {
	return s.items+1 > max.items || s.bytes+it.Weight() > max.bytes
}

// kinds are the kinds of items, in the order of share.counts.
var kinds = []spec.Kind{spec.KindTool, spec.KindResource, spec.KindPrompt}

func kindIndex(k spec.Kind) int { return slices.Index(kinds, k) }

// joinShare makes a new domain count for its site.
func (d *domain) joinShare(tx *Tx) {
	site := naming.SiteOf(d.key)
	s := tx.shares[site]
	if s == nil {
		s = &share{site: site}
		tx.shares[site] = s
	}
	s.domains++
	d.share = s
}

// leaveShare is called when a domain, of which nothing is left, is forgotten.
func (d *domain) leaveShare(tx *Tx) {
	if d.share.domains--; d.share.domains == 0 {
		delete(tx.shares, d.share.site)
	}
}

// count adds n, which may be negative, to the items of a kind that are registered.
func (d *domain) count(tx *Tx, kind spec.Kind, n int) {
	tx.all.counts[kindIndex(kind)] += n
	d.share.counts[kindIndex(kind)] += n
}

// weigh adds n, which may be negative, to the bytes that are held.
func (d *domain) weigh(tx *Tx, n int) {
	tx.all.bytes += n
	d.share.bytes += n
}

// roomForBytes returns why an item finds no room, nil if it does.
func roomForBytes(s *State, it *item.Item) error {
	if s.all.bytes+it.Weight() > maxBytes {
		return fmt.Errorf("what the hub's tabs offer is larger than %d bytes already: close tabs that you do not need", maxBytes)
	}
	var of *share
	if d := s.domains[it.Domain]; d != nil {
		of = d.share
	} else {
		of = s.shares[naming.SiteOf(it.Domain)]
	}
	if of != nil && of.bytes+it.Weight() > (maxBytes-(s.all.bytes-of.bytes))/2 {
		return fmt.Errorf("%s has %d bytes already, half of what other sites leave of the hub's %d", of.site, of.bytes, maxBytes)
	}
	return nil
}

// roomForItem returns why a domain can have no further item of a kind, nil if it can.
func (d *domain) roomForItem(s *State, kind spec.Kind) error {
	all, has := s.all.counts[kindIndex(kind)], d.share.counts[kindIndex(kind)]
	if all >= spec.MaxToolsPerHub {
		return fmt.Errorf("the hub holds %d already: close tabs that you do not need", spec.MaxToolsPerHub)
	}
	if has+1 > (spec.MaxToolsPerHub-(all-has))/2 {
		return fmt.Errorf("%s has %d already, half of what other sites leave of the hub's %d", d.share.site, has, spec.MaxToolsPerHub)
	}
	return nil
}
