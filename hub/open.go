package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

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
	if _, failed := errors.AsType[*Failure](err); failed && len(r.excluded) > 0 {
		return errTabClosed // it was sent before
	}
	return err
}

func (r *run) openTab(ctx context.Context) error {
	h := r.h
	changed := h.changes.Wait()
	h.mu.RLock()
	id := r.ref.ID
	it := h.state.Known(&r.ref, h.by(r.by))
	why := h.boundWordsLocked(r.by)
	url, ready, away := h.state.Opener(id.Domain, h.by(r.by), r.peer, time.Now())
	h.mu.RUnlock()
	switch {
	case r.leased != nil && (r.opened || it == nil || !it.Verified): // nothing is opened at what is only claimed
		return r.leased
	case r.opened:
		return &Failure{spec.FailTabNotFound, fmt.Sprintf("a tab was opened for %s, but its page did not offer %q; is the user signed in there?", id.Domain, id.Item)}
	case (r.target.Present || r.target.Departed) && (id.Tab != 0 || it == nil): // when it was looked at last
		return &Failure{spec.FailNotConnected, fmt.Sprintf("the page of %s that offered %q has gone, and the one in its place does not offer it; the call was not sent", id.Domain, id.Item)}
	case id.Tab != 0 && r.target.Item == nil:
		return &Failure{spec.FailTabNotFound, fmt.Sprintf("tab %d of %s is closed; call %s, which goes to the best tab", id.Tab, id.Domain, r.domainName())}
	case id.Tab != 0:
		return &Failure{spec.FailNotConnected, fmt.Sprintf("tab %d of %s went away and did not come back; the call was not sent", id.Tab, id.Domain)}
	case it == nil:
		return &Failure{spec.FailNotConnected, fmt.Sprintf("the last tab of %s went away and did not come back; the call was not sent", id.Domain)}
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
		return await(ctx, h, changed)
	case r.away:
		return &Failure{spec.FailNotConnected, fmt.Sprintf("no tab of %s is open, and the browser went away and did not come back; the call was not sent", id.Domain)}
	}
	if r.leased != nil {
		return r.leased
	}
	return &Failure{spec.FailTabNotFound, fmt.Sprintf("no tab of %s is open, and no connected browser can open one: open %s in a browser that is connected%s", id.Domain, url, why)}
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
	h.update(func(tx *state.Tx) { o, first = tx.Open(r.ref.ID.Domain, h.by(r.by), r.peer) })
	if o == nil {
		return nil // the browser has gone meanwhile
	}
	if first {
		h.running.Go(func() { h.askForTab(p, o) }) // while this call runs, so Close still waits
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
		changed := h.changes.Wait()
		h.mu.RLock()
		best, _ := h.state.Snapshot(&r.ref, h.by(r.by), r.excluded, r.peer, nil).Choose()
		until, err := h.state.Deadline(o)
		h.mu.RUnlock()
		switch {
		case best >= 0:
			return nil
		case err != nil && r.leased != nil:
			return &Failure{r.leased.Code, fmt.Sprintf("%s; opening %s failed: %v", r.leased.Message, o.URL, err)}
		case err != nil:
			return &Failure{spec.FailTabNotFound, fmt.Sprintf("no tab of %s is open, and opening %s failed: %v", r.ref.ID.Domain, o.URL, err)}
		case !time.Now().Before(until):
			return nil
		}
		timer.Reset(time.Until(until))
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-h.ctx.Done():
			return h.endedFailure(false)
		}
	}
}

// askForTab asks a browser for a tab. It blocks until it has answered.
func (h *Hub) askForTab(p permit, o *state.Opening) {
	wakes := view(h, func(s *state.State) bool { return s.Wakes(o) })
	resp, err := h.gate.send(h.ctx, p, spec.TabAddr{Peer: o.Peer}, &spec.OpenTab{URL: o.URL, Wake: wakes, Room: h.room(o.By, o.Peer)}, tabtransport.Wait{Timeout: spec.ControlTimeout})
	var result spec.OpenTabResult
	if err == nil {
		err = json.Unmarshal(resp.Result, &result)
	}
	h.update(func(tx *state.Tx) { tx.Opened(o, result.TabID, err) })
}

// domainName returns the name by which a tab's item goes to the best tab.
func (r *run) domainName() string {
	id := r.ref.ID
	id.Tab = 0
	return view(r.h, func(s *state.State) string { return s.PublicName(id) })
}
