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
	if t == nil || !s.seesTab(&by, t) {
		return nil
	}
	var names []string
	for _, it := range t.items[spec.KindTool] {
		e := s.domains[it.Domain].entries[entryKey{it.Kind, it.Source}]
		others := slices.ContainsFunc(e.providers, func(p *provider) bool { return p.tab != t && s.seesTab(&by, p.tab) })
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

// Offers returns what a tab has registered of a kind, with its number in the item's domain.
func (s *State) Offers(addr spec.TabAddr, kind spec.Kind) map[item.Key]int {
	t := s.tabs[addr]
	if t == nil {
		return nil
	}
	numbers := make(map[item.Key]int, len(t.items[kind]))
	for _, it := range t.items[kind] {
		numbers[it.Key()] = t.domains[it.Domain].number
	}
	return numbers
}

// NextPage returns where a single tab is that came back with another document, and whether
// that one has registered its tools; nil if the tab has not come back with another.
func (s *State) NextPage(addr spec.TabAddr) (page *spec.Page, registered bool) {
	t := s.tabs[addr]
	if t == nil || !t.reloaded {
		return nil, false
	}
	return &spec.Page{URL: t.url, Title: t.title}, !t.stale[spec.KindTool]
}

// TabURL returns the URL that is claimed for a tab, as far as it may be believed: else "".
func (s *State) TabURL(addr spec.TabAddr, claimed string) string {
	t := s.tabs[addr]
	if t == nil {
		return ""
	}
	return item.TabURL(t.peer.conn, claimed)
}
