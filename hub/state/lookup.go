package state

import (
	"strings"

	"tabhub/hub/agents"
	"tabhub/hub/offer/item"
	"tabhub/naming"
	"tabhub/spec"
)

// Ref is what a public name stood for when it was looked up. It is for one caller:
// Snapshot may change it.
type Ref struct {
	ID   naming.Identity
	Page string // the page's own name, or its URI, also of a resource that a template makes

	// The one tab, as models call it, and frame that the call may go to. "": any.
	Tab   string
	Frame int64

	b       *binding
	matched string    // the URI that was looked up, if b was made by match
	by      agents.By // for whom it was
}

// Lookup returns what a public name stands for; false if it is nobody's, or that of
// something of which by does not know. The name of a tab that is gone is still its own while the
// domain's catalog has the item.
func (s *State) Lookup(by agents.By, kind spec.Kind, name string) (Ref, bool) {
	b := s.names[publicName{kind, name}]
	if b == nil && kind == spec.KindResource {
		b = s.escaped(name)
	}
	if b == nil && kind == spec.KindResource {
		b, page := s.match(by, name)
		if b == nil {
			return Ref{}, false
		}
		return Ref{ID: b.id, Page: page, b: b, matched: name, by: by}, true
	}
	if b == nil || !b.seenBy(s, by) {
		return Ref{}, false
	}
	if b.entry == nil {
		e := b.domain.entries[keyOfID(b.id)]
		if b.id.Tab == 0 || e == nil || !e.seenBy(s, by) {
			return Ref{}, false
		}
	}
	return Ref{ID: b.id, Page: b.id.Item, b: b, by: by}, true
}

// start returns what of a pack a Ref stands for while no tab has it; nil if that is nothing.
func (r *Ref) start() *Start {
	if r.b.entry == nil {
		return nil
	}
	return r.b.entry.start
}

// Nearest returns a few names that somebody who asked for one that is nobody's may have meant, of those
// that by sees.
func (s *State) Nearest(by agents.By, kind spec.Kind, name string) []string {
	return naming.Nearest(name, func(yield func(string) bool) {
		for key, b := range s.names {
			if key.kind == kind && b.entry != nil && b.provider == nil && b.seenBy(s, by) && !yield(key.name) {
				return
			}
		}
	})
}

// escaped returns the resource whose URI a client's parser has turned into uri.
func (s *State) escaped(uri string) *binding {
	if !strings.Contains(uri, "%") {
		return nil
	}
	uri = naming.Escaped(uri)
	for key, b := range s.names {
		if key.kind != spec.KindResource || strings.Contains(key.name, "{") {
			continue // not a template
		}
		if e := naming.Escaped(key.name); e == uri && e != key.name {
			return b
		}
	}
	return nil
}

// match returns the binding of a template that a URI is made by, and the page's URI; nil if there
// is none that by sees. Of several templates the first by domain and template counts.
func (s *State) match(by agents.By, uri string) (best *binding, page string) {
	left := item.MaxSteps
	for _, d := range s.order {
		domainURI, isDomains := s.namer.PageURI(d.key, 0, uri)
		for key, e := range d.entries {
			if key.kind != spec.KindResource || best != nil && best.id.Item < key.source {
				continue
			}
			it := e.item(s, by)
			if it == nil {
				continue
			}
			if isDomains && it.Makes(domainURI, &left) {
				best, page = &binding{id: e.id, domain: d, entry: e}, domainURI
			} else if p, tabURI := e.matchTab(s, by, uri, &left); p != nil {
				best, page = &binding{id: e.id, domain: d, entry: e, provider: p}, tabURI
				best.id.Tab = p.number
			}
		}
		if best != nil {
			return best, page
		}
	}
	return nil, ""
}

// matchTab returns the provider of a template that a URI is made by as one tab's.
func (e *entry) matchTab(s *State, by agents.By, uri string, left *item.Steps) (*provider, string) {
	for _, p := range e.providers {
		if !p.item.Template || !p.tab.seenBy(s, &by) {
			continue
		}
		if page, ok := s.namer.PageURI(e.domain.key, p.number, uri); ok && p.item.Makes(page, left) {
			return p, page
		}
	}
	return nil, ""
}

// rematch looks again at what a Ref that match has made stands for: the tabs may have
// changed since.
func (r *Ref) rematch(s *State) {
	b, page := s.match(r.by, r.matched)
	if b == nil {
		r.b = &binding{id: r.ID, domain: r.b.domain}
		return
	}
	r.ID, r.b, r.Page = b.id, b, page
}
