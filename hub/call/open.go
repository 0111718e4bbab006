package call

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"tabhub/hub/core"
	"tabhub/hub/offer/item"
	"tabhub/hub/state"
	"tabhub/hub/telemetry"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// open is called when no tab can take the call: it opens one and waits until it has
// registered what is called, or says why it cannot. Without an error the caller looks
// again.
func (r *run) open(ctx context.Context) error {
	if r.ref.Tab != "" {
		return cmp.Or(r.leased, errAskerGone)
	}
	err := r.openTab(ctx)
	if _, failed := errors.AsType[*core.Failure](err); failed && len(r.excluded) > 0 {
		return r.tabClosed(nil) // it was sent before
	}
	return err
}

func (r *run) openTab(ctx context.Context) error {
	h := r.h
	changed := h.core.Changes()
	h.core.RLock()
	id := r.ref.ID
	it := h.core.State().Known(&r.ref, h.rules.By(r.by))
	url, ready, away := h.core.State().Opener(&r.ref, h.rules.By(r.by), r.peer, time.Now())
	h.core.RUnlock()
	if gone := r.target.Item; it == nil && gone != nil {
		if _, err := h.packTool(gone); err != nil {
			return err
		}
	}
	switch {
	case r.leased != nil && (r.opened || it == nil || !it.Verified): // nothing is opened at what is only claimed
		return r.leased
	case r.opened:
		return core.Fail(spec.FailTabNotFound, "a tab was opened for %s, but its page did not offer %q; is the user signed in there?", id.Domain, id.Item)
	case (r.target.Present || r.target.Departed) && (id.Tab != 0 || it == nil): // when it was looked at last
		return core.Fail(spec.FailNotConnected, "the page of %s that offered %q has gone, and the one in its place does not offer it; the call was not sent", id.Domain, id.Item)
	case id.Tab != 0 && r.target.Item == nil:
		return core.Fail(spec.FailTabNotFound, "tab %d of %s is closed; call %s, which goes to the best tab", id.Tab, id.Domain, r.domainName())
	case id.Tab != 0:
		return core.Fail(spec.FailNotConnected, "tab %d of %s went away and did not come back; the call was not sent", id.Tab, id.Domain)
	case it == nil:
		return core.Fail(spec.FailNotConnected, "the last tab of %s went away and did not come back; the call was not sent", id.Domain)
	}
	// The user is not shown a tab for a call that cannot be made there.
	if err := r.check(it); err != nil {
		return err
	}
	switch {
	case ready:
		return r.openReady(ctx, it)
	case away:
		r.away = true
		return core.AwaitSignal(ctx, h.core, changed)
	case r.away:
		return core.Fail(spec.FailNotConnected, "no tab of %s is open, and the browser went away and did not come back; the call was not sent", id.Domain)
	}
	if r.leased != nil {
		return r.leased
	}
	return core.Fail(spec.FailTabNotFound, "no tab of %s is open, and no connected browser can open one: open %s in a browser that is connected%s", id.Domain, url, h.lists.BoundWords(r.by))
}

// openReady has a browser open a tab, or joins the calls that wait for one already.
func (r *run) openReady(ctx context.Context, it *item.Item) error {
	h := r.h
	p, again, err := r.admit(ctx, it, time.Time{})
	if err != nil || again {
		return err
	}
	var o *state.Opening
	var first bool
	h.core.Update(func(tx *state.Tx) { o, first = tx.Open(&r.ref, h.rules.By(r.by), r.peer) })
	if o == nil {
		return nil // the browser has gone meanwhile
	}
	if first {
		h.core.Go(func() { h.askForTab(p, o) }) // while this call runs, so Close still waits
	}
	r.opened = true
	span := telemetry.Begin(h.opts.Telemetry, telemetry.Open)
	err = r.awaitOpened(ctx, o)
	span.End(outcomeOf(spec.Response{}, err))
	return err
}

// awaitOpened blocks until a tab can take the call or the wait for the opened one is
// over.
func (r *run) awaitOpened(ctx context.Context, o *state.Opening) error {
	h := r.h
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		changed := h.core.Changes()
		h.core.RLock()
		best, _ := h.core.State().Snapshot(&r.ref, h.rules.By(r.by), r.excluded, r.peer, nil).Choose()
		until, err := h.core.State().Deadline(o)
		h.core.RUnlock()
		switch {
		case best >= 0:
			return nil
		case err != nil && r.leased != nil:
			return core.Fail(r.leased.Code, "%s; opening %s failed: %v", r.leased.Message, o.URL, err)
		case err != nil:
			return core.Fail(spec.FailTabNotFound, "no tab of %s is open, and opening %s failed: %v", r.ref.ID.Domain, o.URL, err)
		case !time.Now().Before(until):
			return nil
		}
		timer.Reset(time.Until(until))
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-h.core.Context().Done():
			return h.core.EndedFailure(false)
		}
	}
}

// askForTab asks a browser for a tab. It blocks until it has answered.
func (cs *Calls) askForTab(p permit, o *state.Opening) {
	wakes := core.View(cs.core, func(s *state.State) bool { return s.Wakes(o) })
	resp, err := cs.gate.send(cs.core.Context(), p, spec.TabAddr{Peer: o.Peer}, &spec.OpenTab{URL: o.URL, Wake: wakes, Room: cs.opts.Groups.Of(o.By, o.Peer)}, tabtransport.Wait{Timeout: spec.ControlTimeout})
	var result spec.OpenTabResult
	if err == nil {
		err = json.Unmarshal(resp.Result, &result)
	}
	cs.core.Update(func(tx *state.Tx) { tx.Opened(o, result.TabID, err) })
}

// domainName returns the name by which a tab's item goes to the best tab.
func (r *run) domainName() string {
	id := r.ref.ID
	id.Tab = 0
	return core.View(r.h.core, func(s *state.State) string { return s.PublicName(id) })
}
