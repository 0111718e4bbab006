package state

import (
	"cmp"
	"slices"
	"time"

	"tabhub/spec"
)

// setInUse notes whether the owner uses a tab by hand, which its browser says of tabs that are held.
// Of others nothing is kept: a page could say it of any number.
func (tx *Tx) setInUse(addr spec.TabAddr, inUse bool) {
	p := tx.peers[addr.Peer]
	if inUse && tx.leases[addr] != nil && p != nil && p.caps[spec.CapHold] && p.browser != "" {
		tx.inUse[addr] = true
	} else {
		delete(tx.inUse, addr)
	}
}

// forgetHand forgets what a browser has said of the owner's hand.
func (tx *Tx) forgetHand(p spec.PeerID) {
	for addr := range tx.inUse {
		if addr.Peer == p {
			delete(tx.inUse, addr)
		}
	}
}

// InUse reports whether the owner uses by hand a tab that a session holds.
func (s *State) InUse(addr spec.TabAddr, holder SessionID) bool {
	if !s.inUse[addr] {
		return false
	}
	l := s.leases[addr]
	return l != nil && l.session.id == holder
}

// HeldTabs returns the tabs of a browser that sessions hold, by their ids; nil if the browser does
// not look for the owner's hand.
func (s *State) HeldTabs(browser spec.PeerID, now time.Time) []spec.HeldTab {
	p := s.peers[browser]
	if p == nil || !p.caps[spec.CapHold] {
		return nil
	}
	var held []spec.HeldTab
	for addr, l := range s.leases {
		if addr.Peer != browser {
			continue
		}
		by := l.holder()
		held = append(held, spec.HeldTab{TabID: addr.Tab, By: by.Name, UntilMs: max(by.Until.Sub(now).Milliseconds(), 0)})
	}
	slices.SortFunc(held, func(a, b spec.HeldTab) int { return cmp.Compare(a.TabID, b.TabID) })
	return held
}
