package state

import (
	"tabhub/hub/agents"
	"tabhub/spec"
)

// Subscription is a resource that somebody wants to hear of.
type Subscription struct {
	uri    string    // public
	by     agents.By // those who are bound to the same share it; without a session
	domain spec.Domain
	tab    int    // 0: any tab of the domain
	page   string // the page's own URI
	n      int    // how many want it
}

// subscriptionKey is what a Subscription is known by.
type subscriptionKey struct{ uri, bound string }

func (s *Subscription) key() subscriptionKey { return subscriptionKey{s.uri, s.by.Bound()} }

// follows reports whether a subscription is about a page's URI in a tab of that number.
func (sub *Subscription) follows(s *State, t *tab, domain spec.Domain, number int, page string) bool {
	return sub.domain == domain && (sub.tab == 0 || sub.tab == number) && sub.page == page && (t == nil || t.seenBy(s, &sub.by))
}

// Updated is a public URI whose content has changed for those who are bound to the same.
type Updated struct {
	URI   string
	Bound string // as By.Bound
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

// Subscribe adds one subscriber of a public URI; it returns nil if by sees nothing by it. The
// tabs that have the resource are to be told: first is the one that it would be read
// from now, but it may be one of the others at any time.
func (tx *Tx) Subscribe(by agents.By, uri string) (sub *Subscription, first Listener, others []Listener) {
	by.Session = agents.SessionID{}
	r, ok := tx.Lookup(by, spec.KindResource, uri)
	if !ok {
		return nil, Listener{}, nil
	}
	if sub = tx.subs[subscriptionKey{uri, by.Bound()}]; sub == nil {
		sub = &Subscription{uri: uri, by: by, domain: r.ID.Domain, tab: r.ID.Tab, page: r.Page}
		tx.subs[sub.key()] = sub
	}
	sub.n++
	first, others = sub.listeners(tx.State)
	return sub, first, others
}

// Unsubscribe takes one subscriber away. It returns the tabs that are to be told that
// nobody is left.
func (tx *Tx) Unsubscribe(sub *Subscription) []Listener {
	if sub.n--; sub.n > 0 {
		return nil
	}
	delete(tx.subs, sub.key())
	first, others := sub.listeners(tx.State)
	return append(others, first)
}

// listeners returns the tabs that are there and have a resource.
func (sub *Subscription) listeners(s *State) (first Listener, others []Listener) {
	r, ok := s.Lookup(sub.by, spec.KindResource, sub.uri)
	if !ok {
		return Listener{}, nil
	}
	snap := s.Snapshot(&r, sub.by, nil, "", nil)
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
		first, others := sub.listeners(s)
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
		if sub.follows(s, s.tabs[l.Addr], l.domain, l.number, l.Page) {
			return true
		}
	}
	return false
}

// Subscribed returns the public URIs under which somebody subscribes to a page's
// resource in a tab.
func (s *State) Subscribed(from spec.TabAddr, page string) []Updated {
	var public []Updated
	if t := s.tabs[from]; t != nil {
		for _, sub := range s.subs {
			if m := t.domains[sub.domain]; m != nil && sub.follows(s, t, sub.domain, m.number, page) {
				public = append(public, Updated{sub.uri, sub.by.Bound()})
			}
		}
	}
	return public
}
