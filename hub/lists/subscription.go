package lists

import (
	"tabhub/hub/agents"
	"tabhub/hub/state"
	"tabhub/spec"
)

// subscriptions are the resources that clients want to hear of. The Core's lock guards them: what
// changes them runs in Core.Update, what reads them in Core.View.
type subscriptions map[subscriptionKey]*subscription

// subscription is a resource that clients want to hear of.
type subscription struct {
	uri    string    // public
	by     agents.By // clients that are bound to the same share it; without a session
	domain spec.Domain
	tab    int    // 0: any tab of the domain
	page   string // the page's own URI
	n      int    // subscribers
}

// subscriptionKey is what a Subscription is known by.
type subscriptionKey struct{ uri, bound string }

func (s *subscription) key() subscriptionKey { return subscriptionKey{s.uri, s.by.Bound()} }

// follows reports whether a subscription is about a page's URI in a tab of that number.
func (s *subscription) follows(in *state.State, addr spec.TabAddr, domain spec.Domain, number int, page string) bool {
	return s.domain == domain && (s.tab == 0 || s.tab == number) && s.page == page && in.SeesPeer(s.by, addr.Peer)
}

// updated is a public URI whose content has changed for clients that are bound to the same.
type updated struct {
	URI   string
	Bound string // as By.Bound
}

// listener is a tab that has a resource which is, or was, subscribed to. The zero
// value is none.
type listener struct {
	Addr  spec.TabAddr
	Page  string // the page's own URI
	Frame *int64

	domain spec.Domain
	number int // of the tab in the domain
}

// add adds one subscriber of a public URI; it returns nil if by sees nothing by it. The
// tabs that have the resource are to be told: first is the one that it would be read
// from now, but it may be one of the others at any time.
func (subs subscriptions) add(s *state.State, by agents.By, uri string) (sub *subscription, first listener, others []listener) {
	by.Session = agents.SessionID{}
	r, ok := s.Lookup(by, spec.KindResource, uri)
	if !ok {
		return nil, listener{}, nil
	}
	if sub = subs[subscriptionKey{uri, by.Bound()}]; sub == nil {
		sub = &subscription{uri: uri, by: by, domain: r.ID.Domain, tab: r.ID.Tab, page: r.Page}
		subs[sub.key()] = sub
	}
	sub.n++
	first, others = sub.listeners(s)
	return sub, first, others
}

// remove takes one subscriber away. It returns the tabs that are to be told that
// none is left.
func (subs subscriptions) remove(s *state.State, sub *subscription) []listener {
	if sub.n--; sub.n > 0 {
		return nil
	}
	delete(subs, sub.key())
	first, others := sub.listeners(s)
	return append(others, first)
}

// listeners returns the tabs that are there and have a resource.
func (sub *subscription) listeners(s *state.State) (first listener, others []listener) {
	r, ok := s.Lookup(sub.by, spec.KindResource, sub.uri)
	if !ok {
		return listener{}, nil
	}
	snap := s.Snapshot(&r, sub.by, nil, "", nil)
	best, _ := snap.Choose()
	for i, c := range snap.Candidates {
		if !c.Present {
			continue // it is told when it registers
		}
		l := listener{Addr: c.Addr, Page: r.Page, Frame: c.Item.Frame, domain: sub.domain, number: c.Number}
		if i == best {
			first = l
		} else {
			others = append(others, l)
		}
	}
	return first, others
}

// of returns what a tab has of the resources that are subscribed to.
func (subs subscriptions) of(s *state.State, addr spec.TabAddr) (all []listener) {
	for _, sub := range subs {
		if _, in := s.Tab(addr).Number(sub.domain); !in {
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

// wants reports whether any client subscribes to a listener's resource.
func (subs subscriptions) wants(s *state.State, l listener) bool {
	for _, sub := range subs {
		if sub.follows(s, l.Addr, l.domain, l.number, l.Page) {
			return true
		}
	}
	return false
}

// named returns the public URIs under which clients subscribe to a page's resource in a tab.
func (subs subscriptions) named(s *state.State, from spec.TabAddr, page string) (public []updated) {
	for _, sub := range subs {
		if n, in := s.Tab(from).Number(sub.domain); in && sub.follows(s, from, sub.domain, n, page) {
			public = append(public, updated{sub.uri, sub.by.Bound()})
		}
	}
	return public
}
