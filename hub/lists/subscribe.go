package lists

import (
	"context"
	"time"

	"tabhub/hub/core"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// Subscribe asks for Change.Updated of a resource until stop is called, as far as the rules show
// the client what a is about. It blocks until the tab that has the resource knows. stop does not
// block. The error is an *UnknownError, ctx's cause, or a *Failure.
func (ls *Lists) Subscribe(ctx context.Context, by *consent.Caller, uri string, a policy.Action) (stop func(), err error) {
	var sub *subscription
	var first listener
	var others []listener
	if !ls.core.Update(func(tx *state.Tx) {
		if addr, holder := tx.BarsResource(ls.rules.By(by), uri); holder != nil && !core.IsOwner(by) {
			err = core.LeasedFailure(addr, holder)
			return
		}
		if sub, first, others = ls.subs.add(tx.State, ls.rules.By(by), uri); sub == nil {
			err = ls.UnknownLocked(by, spec.KindResource, uri)
		}
	}) {
		return nil, ls.core.EndedFailure(false)
	}
	if err != nil {
		return nil, err
	}
	ls.follow(sub, a)
	ls.tellAll(others, true)
	if err := ls.tell(ctx, first, true); err != nil && ctx.Err() != nil {
		ls.unsubscribe(sub)
		return nil, context.Cause(ctx)
	}
	return func() { ls.unsubscribe(sub) }, nil
}

// unsubscribe ends one interest; pages are told, later, once no subscriber is left.
func (ls *Lists) unsubscribe(sub *subscription) {
	ls.unfollow(sub)
	var listeners []listener
	ls.core.Update(func(tx *state.Tx) { listeners = ls.subs.remove(tx.State, sub) })
	ls.tellAll(listeners, false)
}

// tell tells a tab whether to report the updates of a resource.
func (ls *Lists) tell(ctx context.Context, l listener, on bool) error {
	if l == (listener{}) {
		return tabtransport.ErrNotConnected
	}
	_, err := ls.core.SendOwn(ctx, l.Addr, &spec.SubscribeResource{URI: l.Page, Subscribe: on, FrameID: l.Frame}, tabtransport.Wait{})
	return err
}

// tellAll tells tabs whether to report the updates of resources, unless the opposite
// is wanted by then. It does not block.
func (ls *Lists) tellAll(all []listener, on bool) {
	for _, l := range all {
		ls.core.Background(func() {
			// What is wanted may change while the page is told; the last word must be
			// right.
			for on := on; ls.wanted(l) == on; on = !on {
				if err := ls.tell(ls.core.Context(), l, on); err != nil {
					ls.core.Log.Debug("resource subscription not told", "tab", l.Addr, "subscribe", on, "err", err)
					return
				}
			}
		})
	}
}

// wanted reports whether anybody wants to hear of a listener's resource.
func (ls *Lists) wanted(l listener) bool {
	return core.View(ls.core, func(s *state.State) bool { return ls.subs.wants(s, l) })
}

// Resubscribe tells a tab that has registered its resources what is wanted of them:
// the page may be another than the one that was told.
func (ls *Lists) Resubscribe(t spec.TabAddr) {
	ls.tellAll(core.View(ls.core, func(s *state.State) []listener { return ls.subs.of(s, t) }), true)
}

// ResourceUpdated passes on that a resource of a tab has changed.
func (ls *Lists) ResourceUpdated(from spec.TabAddr, page string) {
	ls.notices.updated(core.View(ls.core, func(s *state.State) []updated { return ls.subs.named(s, from, page) }))
}

// follow notes what a client is notified of the updates of, until unfollow.
func (ls *Lists) follow(sub *subscription, a policy.Action) {
	ls.followMu.Lock()
	defer ls.followMu.Unlock()
	ls.followed[sub] = &a
}

func (ls *Lists) unfollow(sub *subscription) {
	ls.followMu.Lock()
	defer ls.followMu.Unlock()
	delete(ls.followed, sub)
}

// EndDenied ends the subscriptions of clients that may not have them any more. What is only paused
// stays.
func (ls *Lists) EndDenied() {
	var denied []*subscription
	rules, now := ls.rules.Policy(), time.Now()
	ls.followMu.Lock()
	for sub, a := range ls.followed {
		if !rules.Shows(a, now) {
			denied = append(denied, sub)
		}
	}
	ls.followMu.Unlock()
	for _, sub := range denied {
		ls.unsubscribe(sub)
	}
}
