package state

import (
	"tabhub/hub/agents"
	"tabhub/spec"
)

// label returns the name that a browser has from its owner, "" if it has none.
func (s *State) label(key spec.BrowserID) string {
	if key == "" {
		return ""
	}
	return s.browsers[key].Label
}

// sees reports whether by sees a browser, by the name that this has from its owner.
func (s *State) sees(by *agents.By, key spec.BrowserID) bool {
	return !by.IsBound() || by.Sees(s.label(key))
}

func (t *tab) seenBy(s *State, by *agents.By) bool { return s.sees(by, t.peer.browser) }

// SeesPeer reports whether by sees a peer.
func (s *State) SeesPeer(by agents.By, id spec.PeerID) bool {
	p := s.peers[id]
	return !by.IsBound() || p != nil && s.sees(&by, p.browser)
}

// seenBy reports whether by sees a tab that has the item of an entry, or had it.
func (e *entry) seenBy(s *State, by agents.By) bool {
	return !by.IsBound() || e.newest(s, by, true) != nil || e.leftFor(s, by) != nil
}

// seenBy reports whether by sees what a name stands for.
func (b *binding) seenBy(s *State, by agents.By) bool {
	switch {
	case !by.IsBound() || b.entry == nil: // no tab has it
		return true
	case b.provider != nil:
		return b.provider.tab.seenBy(s, &by)
	}
	return b.entry.seenBy(s, by)
}

// AnyConnected reports whether a browser that by sees is connected.
func (s *State) AnyConnected(by agents.By) bool {
	for _, p := range s.peers {
		if p.connected && s.sees(&by, p.browser) {
			return true
		}
	}
	return false
}

// activeOf returns the tab that the user looks at, or looked at last among those that by
// sees; nil if none.
func (s *State) activeOf(by agents.By) *tab {
	if !by.IsBound() {
		return s.active
	}
	return s.lastFocused(func(p *peer) bool { return s.sees(&by, p.browser) })
}

// BrowserOf returns the name that the browser of a peer has from its owner, "" if it has none.
func (s *State) BrowserOf(id spec.PeerID) string {
	p := s.peers[id]
	if p == nil {
		return ""
	}
	return s.label(p.browser)
}
