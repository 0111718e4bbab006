package state

import (
	"slices"

	"tabhub/hub/agents"
	"tabhub/hub/offer/item"
	"tabhub/spec"
)

// ToolNames returns the public names of the tools that models can call in a tab now, in the
// order of its registration: the domain's where no other tab has the tool of which by sees,
// else the tab's own.
func (s *State) ToolNames(by agents.By, addr spec.TabAddr) []string {
	t := s.tabs[addr]
	if t == nil || !t.seenBy(s, &by) {
		return nil
	}
	var names []string
	for _, it := range t.items[spec.KindTool] {
		e := s.domains[it.Domain].entries[keyOf(it)]
		others := slices.ContainsFunc(e.providers, func(p *provider) bool { return p.tab != t && p.tab.seenBy(s, &by) })
		for _, p := range e.providers {
			switch {
			case p.tab != t || !p.present():
			case !others:
				names = append(names, e.public)
			default:
				names = append(names, p.public)
			}
		}
	}
	return names
}

// Tab is one tab of a State, to be asked under the State's lock. The tab need not be known.
type Tab struct {
	t    *tab  // nil: it offers nothing
	peer *peer // nil: there is none
}

// Tab returns a tab.
func (s *State) Tab(addr spec.TabAddr) Tab { return Tab{s.tabs[addr], s.peers[addr.Peer]} }

// Dialog returns the dialog that the tab's page has open, nil if none is known.
func (t Tab) Dialog() *spec.Dialog {
	if t.t == nil {
		return nil
	}
	return t.t.dialog
}

// Number returns the tab's number in a domain, if it is a member of that.
func (t Tab) Number(domain spec.Domain) (n int, member bool) {
	if t.t == nil || t.t.domains[domain] == nil {
		return 0, false
	}
	return t.t.domains[domain].number, true
}

// Offers returns what the tab has registered of a kind, with its number in the item's domain.
func (t Tab) Offers(kind spec.Kind) map[item.Key]int {
	if t.t == nil {
		return nil
	}
	numbers := make(map[item.Key]int, len(t.t.items[kind]))
	for _, it := range t.t.items[kind] {
		numbers[it.Key()] = t.t.domains[it.Domain].number
	}
	return numbers
}

// NextPage returns where a single tab is that came back with another document, and whether
// that one has registered its tools; nil if the tab has not come back with another.
func (t Tab) NextPage() (page *spec.Page, registered bool) {
	if t.t == nil || !t.t.reloaded {
		return nil, false
	}
	return &spec.Page{URL: t.t.url, Title: t.t.title}, !t.t.stale[spec.KindTool]
}

// Believed returns the URL that is claimed for the tab, as far as it may be believed: else "".
func (t Tab) Believed(claimed string) string {
	if t.t == nil {
		return ""
	}
	return item.TabURL(t.t.peer.conn, claimed)
}

// Shows returns the address of what the tab shows, as far as it is known, and whether the browser
// vouches for it.
func (t Tab) Shows() (url string, attested bool) {
	if t.t != nil {
		url = t.t.url
	}
	return url, t.peer != nil && t.peer.conn.Attested
}
