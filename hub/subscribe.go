package hub

import (
	"context"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// subscription is a resource that somebody wants to hear of. It is guarded by
// Hub.mu; only n changes.
type subscription struct {
	uri    string // public
	domain spec.Domain
	tab    int    // 0: any tab of the domain
	page   string // the page's own URI
	n      int    // how many want it
}

// follows reports whether s is about a page's URI in the tab of that number.
func (s *subscription) follows(domain spec.Domain, number int, page string) bool {
	return s.domain == domain && (s.tab == 0 || s.tab == number) && s.page == page
}

// SubscribeResource asks for Change.Updated of a resource until stop is called. It
// blocks until the tab that has it knows; a page that cannot tell of updates is no
// error. stop does not block. The error is an *UnknownError or ctx's cause.
func (h *Hub) SubscribeResource(ctx context.Context, uri string) (stop func(), err error) {
	var s *subscription
	var first listener
	var others []listener
	h.update(func() {
		r := run{h: h, kind: spec.KindResource, name: uri}
		b := h.lookupLocked(&r)
		if b == nil {
			err = h.unknownLocked(spec.KindResource, uri)
			return
		}
		if s = h.subs[uri]; s == nil {
			s = &subscription{uri: uri, domain: b.id.Domain, tab: b.id.Tab, page: r.page}
			h.subs[uri] = s
		}
		s.n++
		first, others = h.listenersLocked(s)
	})
	if err != nil {
		return nil, err
	}
	h.tellAll(others, true)
	if err := h.tell(ctx, first, true); err != nil && ctx.Err() != nil {
		h.dropSubscription(s)
		return nil, context.Cause(ctx)
	}
	return func() { h.dropSubscription(s) }, nil
}

// dropSubscription ends one interest; pages are told, later, once nobody is left.
func (h *Hub) dropSubscription(s *subscription) {
	var all []listener
	h.update(func() {
		if s.n--; s.n > 0 {
			return
		}
		delete(h.subs, s.uri)
		first, others := h.listenersLocked(s)
		all = append(others, first)
	})
	h.tellAll(all, false)
}

// listener is a tab that has a resource which is, or was, followed. The zero value
// is none.
type listener struct {
	addr   spec.TabAddr
	domain spec.Domain
	number int // of the tab in the domain
	page   string
	frame  *int64
}

// listenersLocked returns the tabs that are there and have a resource: first the one
// that it would be read from now. All are to be told, since that may be another one
// at any time.
func (h *Hub) listenersLocked(s *subscription) (first listener, others []listener) {
	r := run{h: h, kind: spec.KindResource, name: s.uri}
	b := h.lookupLocked(&r)
	if b == nil {
		return listener{}, nil
	}
	snap := h.snapshotLocked(b, nil, nil)
	best, _ := choose(snap)
	for i, c := range snap.candidates {
		if !c.present {
			continue // it is told when it registers
		}
		l := listener{addr: c.addr, domain: s.domain, number: c.number, page: r.page, frame: c.item.Frame}
		if i == best {
			first = l
		} else {
			others = append(others, l)
		}
	}
	return first, others
}

// tell tells a tab whether to report the updates of a resource.
func (h *Hub) tell(ctx context.Context, l listener, on bool) error {
	if l == (listener{}) {
		return tabtransport.ErrNotConnected
	}
	_, err := h.transport.SendRequest(ctx, l.addr, &spec.SubscribeResource{URI: l.page, Subscribe: on, FrameID: l.frame}, tabtransport.Wait{})
	return err
}

// tellAll tells tabs whether to report the updates of resources, unless the opposite
// is wanted by then. It does not block.
func (h *Hub) tellAll(all []listener, on bool) {
	for _, l := range all {
		h.background(func() {
			// What is wanted may change while the page is told; the last word must be
			// right, whoever says it.
			for on := on; h.wanted(l) == on; on = !on {
				if err := h.tell(h.ctx, l, on); err != nil {
					h.log.Debug("resource subscription not told", "tab", l.addr, "subscribe", on, "err", err)
					return
				}
			}
		})
	}
}

// wanted reports whether anybody wants to hear of a listener's resource.
func (h *Hub) wanted(l listener) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, s := range h.subs {
		if s.follows(l.domain, l.number, l.page) {
			return true
		}
	}
	return false
}

// resubscribe tells a tab that has registered its resources what is wanted of them:
// the page may be another than the one that was told.
func (h *Hub) resubscribe(t spec.TabAddr) {
	var all []listener
	h.mu.RLock()
	for _, s := range h.subs {
		if tab := h.tabs[t]; tab == nil || tab.domains[s.domain] == nil {
			continue
		}
		first, others := h.listenersLocked(s)
		for _, l := range append(others, first) {
			if l.addr == t {
				all = append(all, l)
			}
		}
	}
	h.mu.RUnlock()
	h.tellAll(all, true)
}

// resourceUpdated passes on that a resource of a tab has changed.
func (h *Hub) resourceUpdated(from spec.TabAddr, page string) {
	var public []string
	h.mu.RLock()
	if t := h.tabs[from]; t != nil {
		for _, s := range h.subs {
			if part := t.domains[s.domain]; part != nil && s.follows(s.domain, part.number, page) {
				public = append(public, s.uri)
			}
		}
	}
	h.mu.RUnlock()
	h.notices.updated(public)
}

// background runs f in a goroutine that Close cuts short and waits for, and does
// nothing once the hub is closed. f must end soon after h.ctx does.
func (h *Hub) background(f func()) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if !h.closed {
		h.telling.Go(f)
	}
}
