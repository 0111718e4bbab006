package state

import (
	"tabhub/hub/agents"
	"tabhub/hub/offer/item"
	"tabhub/spec"
)

// Agents has what sessions of clients have of tabs.
func (s *State) Agents() *agents.Agents { return s.agents }

// Agents changes what sessions of clients have of tabs.
func (tx *Tx) Agents() *agents.Tx { return &tx.ofAgents }

// tabs is agents.Tabs.
type tabs State

func (s *tabs) Len() int { return len(s.tabs) }

func (s *tabs) Shows(addr spec.TabAddr) (url, title string) {
	if t := s.tabs[addr]; t != nil {
		return t.url, t.title
	}
	return "", ""
}

func (s *tabs) Run(id spec.PeerID) (browser spec.BrowserID, run string) {
	if p := s.peers[id]; p != nil {
		return p.browser, p.session
	}
	return "", ""
}

// TellsUse reports whether a browser says which of its leased tabs its owner uses.
func (s *State) TellsUse(browser spec.PeerID) bool {
	p := s.peers[browser]
	return p != nil && p.caps[spec.CapHold] && p.browser != ""
}

// Wakes reports whether a browser that opens a tab for a session may take one that sleeps there: no
// other session has leased any that could be it.
func (s *State) Wakes(o *Opening) bool {
	for _, addr := range s.agents.LeasedIn(o.Peer, o.By.Session) {
		if t := s.tabs[addr]; t == nil || t.discarded && item.OriginOf(t.url) == item.OriginOf(o.URL) {
			return false // of a tab without tools it is not known what it shows
		}
	}
	return true
}

// BarsResource is agents.Bars for reading what a public URI names of one tab; a URI that stands
// for a site's best tab is barred by no lease.
func (s *State) BarsResource(by agents.By, uri string) (spec.TabAddr, *agents.Holder) {
	r, ok := s.Lookup(by, spec.KindResource, uri)
	if !ok || r.b.provider == nil {
		return spec.TabAddr{}, nil
	}
	addr := r.b.provider.tab.addr
	return addr, s.agents.Bars(addr, by.Session, true)
}
