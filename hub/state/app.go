package state

import (
	"slices"

	"tabhub/hub/item"
	"tabhub/naming"
	"tabhub/spec"
)

// appURI returns the public URI of a tool's app in the tab of a number, or of the domain;
// "" if it has none.
func (s *State) appURI(tool *item.Item, tab int) string {
	app := tool.App()
	if app == nil {
		return ""
	}
	return s.namer.URI(naming.Identity{Kind: spec.KindResource, Domain: app.Domain, Tab: tab, Item: app.Source})
}

// matchApp returns the binding of a URI by which the tools of a domain name their app,
// and the page's URI; nil if none does. Such a resource need not be registered: the tabs
// that have the tools have it.
func (s *State) matchApp(by By, d *domain, uri string) (*binding, string) {
	number, page, ok := s.appPage(d, uri)
	if !ok {
		return nil, ""
	}
	e := &entry{id: naming.Identity{Kind: spec.KindResource, Domain: d.key, Item: page}, domain: d, public: uri}
	b := &binding{id: e.id, domain: d, entry: e}
	b.id.Tab = number
	is := func(tool *item.Item) bool { return tool != nil && tool.App() != nil && tool.App().Source == page }
	for _, tool := range d.sorted(spec.KindTool) {
		for _, l := range tool.cached {
			if number == 0 && is(l.item) && s.knows(by, l.of.browser) {
				e.cached = append(e.cached, leftover{l.of, l.item.App()})
			}
		}
		for _, p := range tool.providers {
			known := slices.ContainsFunc(e.providers, func(other *provider) bool { return other.tab == p.tab })
			if is(p.item) && !known && s.knowsTab(&by, p.tab) && (number == 0 || number == p.number) {
				e.providers = append(e.providers, &provider{entry: e, tab: p.tab, number: p.number, public: uri, item: p.item.App(), seq: p.seq, tool: p.item})
			}
		}
	}
	switch {
	case len(e.providers) == 0 && (number != 0 || len(e.cached) == 0):
		return nil, ""
	case number != 0:
		b.provider = e.providers[0]
	}
	return b, page
}

// appPage returns the page's URI of a public one of an app, if it is of a domain, and the
// number of its tab, 0 if it is the domain's own.
func (s *State) appPage(d *domain, uri string) (number int, page string, ok bool) {
	if !naming.IsApp(uri) {
		return 0, "", false
	}
	if page, ok = s.namer.PageURI(d.key, 0, uri); ok {
		return 0, page, true
	}
	for _, t := range d.tabs {
		number = t.domains[d.key].number
		if page, ok = s.namer.PageURI(d.key, number, uri); ok {
			return number, page, true
		}
	}
	return 0, "", false
}

// FromApp returns the public name, or URI, of what a page calls name, if the page has the
// app of a public URI: an app calls its own page's tools as that does.
func (s *State) FromApp(by By, app string, kind spec.Kind, name string) (public string, ok bool) {
	r, ok := s.LookupFor(by, spec.KindResource, app)
	if !ok {
		return "", false
	}
	id := naming.Identity{Kind: kind, Domain: r.ID.Domain, Tab: r.ID.Tab, Item: name}
	if kind == spec.KindResource {
		public = s.namer.URI(id)
		_, ok = s.LookupFor(by, kind, public)
		return public, ok
	}
	e := r.b.domain.entries[entryKey{kind, name}]
	if e == nil || !s.knowsEntry(by, e) {
		return "", false
	}
	if id.Tab == 0 {
		return e.public, true
	}
	for _, p := range e.providers {
		if p.number == id.Tab {
			return p.public, true
		}
	}
	return "", false
}
