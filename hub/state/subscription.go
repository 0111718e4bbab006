package state

import "tabhub/spec"

// Subscription is a resource that somebody wants to hear of.
type Subscription struct {
	uri    string // public
	domain spec.Domain
	tab    int    // 0: any tab of the domain
	page   string // the page's own URI
	n      int    // how many want it
}

// follows reports whether s is about a page's URI in the tab of that number.
func (s *Subscription) follows(domain spec.Domain, number int, page string) bool {
	return s.domain == domain && (s.tab == 0 || s.tab == number) && s.page == page
}

// Listener is a tab that has a resource which is, or was, subscribed to. The zero
// value is none.
type Listener struct {
	Addr  spec.TabAddr
	Page  string // the page's own URI
	Frame *int64

	domain spec.Domain
	number int // of the tab in the domain
}

// Subscribe adds one subscriber of a public URI; it returns nil if that is nobody's. The
// tabs that have the resource are to be told: first is the one that it would be read
// from now, but it may be one of the others at any time.
func (tx *Tx) Subscribe(uri string) (sub *Subscription, first Listener, others []Listener) {
	r, ok := tx.Lookup(spec.KindResource, uri)
	if !ok {
		return nil, Listener{}, nil
	}
	if sub = tx.subs[uri]; sub == nil {
		sub = &Subscription{uri: uri, domain: r.ID.Domain, tab: r.ID.Tab, page: r.Page}
		tx.subs[uri] = sub
	}
	sub.n++
	first, others = tx.listeners(sub)
	return sub, first, others
}

// Unsubscribe takes one subscriber away. It returns the tabs that are to be told that
// nobody is left.
func (tx *Tx) Unsubscribe(sub *Subscription) []Listener {
	if sub.n--; sub.n > 0 {
		return nil
	}
	delete(tx.subs, sub.uri)
	first, others := tx.listeners(sub)
	return append(others, first)
}

// listeners returns the tabs that are there and have a resource.
func (s *State) listeners(sub *Subscription) (first Listener, others []Listener) {
	r, ok := s.Lookup(spec.KindResource, sub.uri)
	if !ok {
		return Listener{}, nil
	}
	snap := s.Snapshot(&r, By{}, nil, "", nil)
	best, _ := snap.Choose()
	for i, c := range snap.Candidates {
		if !c.Present {
			continue // it is told when it registers
		}
		l := Listener{Addr: c.Addr, Page: r.Page, Frame: c.Item.Frame, domain: sub.domain, number: c.Number}
		if i == best {
			first = l
		} else {
			others = append(others, l)
		}
	}
	return first, others
}

// ListenersOf returns what a tab has of the resources that are subscribed to.
func (s *State) ListenersOf(addr spec.TabAddr) []Listener {
	var all []Listener
	t := s.tabs[addr]
	for _, sub := range s.subs {
		if t == nil || t.domains[sub.domain] == nil {
			continue
		}
		first, others := s.listeners(sub)
		for _, l := range append(others, first) {
			if l.Addr == addr {
				all = append(all, l)
			}
		}
	}
	return all
}

// Wanted reports whether anybody subscribes to a listener's resource.
func (s *State) Wanted(l Listener) bool {
	for _, sub := range s.subs {
		if sub.follows(l.domain, l.number, l.Page) {
			return true
		}
	}
	return false
}

// Subscribed returns the public URIs under which somebody subscribes to a page's
// resource in a tab.
func (s *State) Subscribed(from spec.TabAddr, page string) []string {
	var public []string
	if t := s.tabs[from]; t != nil {
		for _, sub := range s.subs {
			if m := t.domains[sub.domain]; m != nil && sub.follows(sub.domain, m.number, page) {
				public = append(public, sub.uri)
			}
		}
	}
	return public
}
