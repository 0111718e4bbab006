package state

import (
	"slices"
	"strings"

	"tabhub/spec"
)

// A client that is bound to browsers knows of nothing else: for it there are only the tabs of
// the browsers with these names, and what these left when they were closed. Browsers without a
// name, and pages that have joined by themselves, are nobody's who is bound.

// bound reports whether there is anything that by does not know of.
func (by By) bound() bool { return by.Browsers != nil }

// Bound names what by is bound to: two that are bound to the same have the same, those that
// are not bound have "".
func (by By) Bound() string {
	if !by.bound() {
		return ""
	}
	return "=" + strings.Join(by.Browsers, ",")
}

// label returns the name that a browser has from its owner, "" if it has none.
func (s *State) label(key spec.BrowserID) string {
	if key == "" {
		return ""
	}
	return s.browsers[key].Label
}

// knows reports whether by knows of a browser.
func (s *State) knows(by By, key spec.BrowserID) bool {
	if !by.bound() {
		return true
	}
	label := s.label(key)
	return label != "" && slices.Contains(by.Browsers, label)
}

// knowsTab reports whether by knows of a tab.
func (s *State) knowsTab(by *By, t *tab) bool {
	return !by.bound() || s.knows(*by, t.peer.browser)
}

// KnowsPeer reports whether by knows of a peer.
func (s *State) KnowsPeer(by By, id spec.PeerID) bool {
	if !by.bound() {
		return true
	}
	p := s.peers[id]
	return p != nil && s.knows(by, p.browser)
}

// knowsEntry reports whether by knows of an entry: of a tab that has the item, or had it.
func (s *State) knowsEntry(by By, e *entry) bool {
	return !by.bound() || s.newest(e, by, true) != nil || s.cached(e, by) != nil
}

// knowsBinding reports whether by knows of what a name stands for.
func (s *State) knowsBinding(by By, b *binding) bool {
	switch {
	case !by.bound() || b.entry == nil:
		return true // nobody has it
	case b.provider != nil:
		return s.knowsTab(&by, b.provider.tab)
	}
	return s.knowsEntry(by, b.entry)
}

// AnyConnected reports whether a browser that by knows of is connected.
func (s *State) AnyConnected(by By) bool {
	for _, p := range s.peers {
		if p.connected && s.knows(by, p.browser) {
			return true
		}
	}
	return false
}

// activeOf returns the tab that the user looks at, or looked at last among those that by
// knows of; nil if none.
func (s *State) activeOf(by By) *tab {
	if !by.bound() {
		return s.active
	}
	return s.lastFocused(func(p *peer) bool { return s.knows(by, p.browser) })
}

// BrowserOf returns the name that the browser of a peer has from its owner, "" if it has none.
func (s *State) BrowserOf(id spec.PeerID) string {
	p := s.peers[id]
	if p == nil {
		return ""
	}
	return s.label(p.browser)
}
