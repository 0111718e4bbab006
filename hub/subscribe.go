package hub

import (
	"context"

	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// SubscribeResource asks for Change.Updated of a resource until stop is called. It
// blocks until the tab that has it knows; a page that cannot tell of updates is no
// error. stop does not block. The error is an *UnknownError, ctx's cause, or a *Failure.
func (h *Hub) SubscribeResource(ctx context.Context, by *consent.Caller, uri string) (stop func(), err error) {
	it, err := h.admitItem(ctx, by, spec.KindResource, uri)
	if err != nil {
		return nil, err
	}
	var sub *state.Subscription
	var first state.Listener
	var others []state.Listener
	if !h.update(func(tx *state.Tx) {
		if addr, holder := tx.BarsResource(h.by(by), uri); holder != nil && !h.isOwn(by) {
			err = leasedFailure(addr, holder)
			return
		}
		if sub, first, others = tx.Subscribe(h.by(by), uri); sub == nil {
			err = h.unknownLocked(by, spec.KindResource, uri)
		}
	}) {
		return nil, h.endedFailure(false)
	}
	if err != nil {
		return nil, err
	}
	h.gate.follow(sub, actionFor(by, it, it.Source))
	h.tellAll(others, true)
	if err := h.tell(ctx, first, true); err != nil && ctx.Err() != nil {
		h.unsubscribe(sub)
		return nil, context.Cause(ctx)
	}
	return func() { h.unsubscribe(sub) }, nil
}

// unsubscribe ends one interest; pages are told, later, once nobody is left.
func (h *Hub) unsubscribe(sub *state.Subscription) {
	h.gate.unfollow(sub)
	var listeners []state.Listener
	h.update(func(tx *state.Tx) { listeners = tx.Unsubscribe(sub) })
	h.tellAll(listeners, false)
}

// tell tells a tab whether to report the updates of a resource.
func (h *Hub) tell(ctx context.Context, l state.Listener, on bool) error {
	if l == (state.Listener{}) {
		return tabtransport.ErrNotConnected
	}
	_, err := h.gate.own(ctx, l.Addr, &spec.SubscribeResource{URI: l.Page, Subscribe: on, FrameID: l.Frame}, tabtransport.Wait{})
	return err
}

// tellAll tells tabs whether to report the updates of resources, unless the opposite
// is wanted by then. It does not block.
func (h *Hub) tellAll(all []state.Listener, on bool) {
	for _, l := range all {
		h.background(func() {
			// What is wanted may change while the page is told; the last word must be
			// right, whoever says it.
			for on := on; h.wanted(l) == on; on = !on {
				if err := h.tell(h.ctx, l, on); err != nil {
					h.log.Debug("resource subscription not told", "tab", l.Addr, "subscribe", on, "err", err)
					return
				}
			}
		})
	}
}

// wanted reports whether anybody wants to hear of a listener's resource.
func (h *Hub) wanted(l state.Listener) bool {
	return view(h, func(s *state.State) bool { return s.Wanted(l) })
}

// resubscribe tells a tab that has registered its resources what is wanted of them:
// the page may be another than the one that was told.
func (h *Hub) resubscribe(t spec.TabAddr) {
	h.tellAll(view(h, func(s *state.State) []state.Listener { return s.ListenersOf(t) }), true)
}

// resourceUpdated passes on that a resource of a tab has changed.
func (h *Hub) resourceUpdated(from spec.TabAddr, page string) {
	h.notices.updated(view(h, func(s *state.State) []state.Updated { return s.Subscribed(from, page) }))
}

// background runs f in a goroutine that Close cuts short and waits for, and does
// nothing once the hub closes. f must end soon after h.ctx does.
func (h *Hub) background(f func()) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if !h.closing {
		h.tasks.Go(f)
	}
}
