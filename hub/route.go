package hub

import (
	"time"

	"tabhub/spec"
)

// candidate is a tab that a call could go to, as it was when the call looked.
type candidate struct {
	tab      *tab    // to be sent to; choose does not look at it
	holder   *holder // nor at this
	addr     spec.TabAddr
	item     *item
	number   int
	url      string
	updated  time.Time
	active   bool
	present  bool // can be sent to now
	excluded bool // was tried by this call already
}

// snapshot is what the choice of a tab depends on, and nothing else.
type snapshot struct {
	candidates []candidate // by tab number
	named      bool        // the call named the tab
	lastCall   string      // URL of the tab that the domain's last call went to
}

// The reasons of choose.
const (
	reasonNamed   = "the call named this tab"
	reasonOnly    = "the only tab that has it"
	reasonActive  = "the active tab"
	reasonLastURL = "at the URL of the last call"
	reasonUpdated = "updated last"
	reasonNone    = "no tab is open"
)

// choose returns the index of the best candidate and why it is the best; -1 if
// there is none (spec/docs/RULES.md, "Routing"). A tab that is there goes
// before one that is away.
func choose(s snapshot) (best int, reason string) {
	best = -1
	n := 0
	rank := func(c candidate) int {
		r := 0
		if c.present {
			r += 4
		}
		switch {
		case c.active:
			r += 2
		case s.lastCall != "" && c.url == s.lastCall:
			r++
		}
		return r
	}
	for i, c := range s.candidates {
		if c.excluded {
			continue
		}
		n++
		if best < 0 {
			best = i
			continue
		}
		b := s.candidates[best]
		if rc, rb := rank(c), rank(b); rc > rb || rc == rb && c.updated.After(b.updated) {
			best = i
		}
	}
	switch {
	case best < 0:
		return best, reasonNone
	case s.named:
		return best, reasonNamed
	case n == 1:
		return best, reasonOnly
	case s.candidates[best].active:
		return best, reasonActive
	case s.lastCall != "" && s.candidates[best].url == s.lastCall:
		return best, reasonLastURL
	}
	return best, reasonUpdated
}

// snapshotLocked collects the candidates for a name. into is reused if it has room.
func (h *Hub) snapshotLocked(b *binding, excluded []spec.TabAddr, into []candidate) snapshot {
	s := snapshot{candidates: into[:0], named: b.holder != nil}
	if b.holder != nil {
		s.candidates = append(s.candidates, h.candidateLocked(b.holder, excluded))
		return s
	}
	if b.offer == nil {
		return s
	}
	s.lastCall = b.offer.domain.lastCall
	newest := b.offer.newestLocked(true)
	for _, hd := range b.offer.holders {
		if hd.item.shape == newest.item.shape {
			s.candidates = append(s.candidates, h.candidateLocked(hd, excluded))
		}
	}
	return s
}

// presentLocked reports whether a call can be sent to a holder now: its tab is
// connected, and the document that it shows has registered the item.
func (hd *holder) presentLocked() bool {
	t := hd.tab
	return t.peer.connected && !t.hidden && !(t.reloaded && t.stale[hd.item.kind])
}

func (h *Hub) candidateLocked(hd *holder, excluded []spec.TabAddr) candidate {
	c := candidate{
		tab: hd.tab, holder: hd, addr: hd.tab.addr, item: hd.item, number: hd.number, url: hd.tab.url, updated: hd.tab.updated,
		active: hd.tab == h.active, present: hd.presentLocked(),
	}
	for _, a := range excluded {
		if a == c.addr {
			c.excluded = true
		}
	}
	return c
}
