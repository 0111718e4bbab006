package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"tabhub/hub/item"
	"time"

	"tabhub/naming"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// opening is a tab that is being opened for a domain; calls that need it share it.
type opening struct {
	done  chan struct{} // closed when addr or err is set
	addr  spec.TabAddr
	url   string
	err   error
	until time.Time // when to stop waiting for the page to register
}

// none is called when no tab can take the call: it opens one and waits until it
// has registered what is called, or says why it cannot.
func (r *run) none(ctx context.Context, b *binding) error {
	err := r.open(ctx, b)
	if _, failed := errors.AsType[*Failure](err); failed && len(r.excluded) > 0 {
		return errTabClosed // it was sent before
	}
	return err
}

func (r *run) open(ctx context.Context, b *binding) error {
	h := r.h
	h.mu.RLock()
	id, offered := b.id, b.offer != nil
	var kept *item.Item
	if offered {
		kept = b.offer.kept
	}
	h.mu.RUnlock()
	switch {
	case r.opened:
		return &Failure{spec.FailTabNotFound, fmt.Sprintf("a tab was opened for %s, but its page did not offer %q; is the user signed in there?", id.Domain, id.Item)}
	case id.Tab != 0 && r.target.tab == nil:
		return &Failure{spec.FailTabNotFound, fmt.Sprintf("tab %d of %s is closed; call %s, which goes to the best tab", id.Tab, id.Domain, r.domainName(id))}
	case id.Tab != 0:
		return &Failure{spec.FailNotConnected, fmt.Sprintf("tab %d of %s went away and did not come back; the call was not sent", id.Tab, id.Domain)}
	case !offered:
		return &Failure{spec.FailNotConnected, fmt.Sprintf("the last tab of %s went away and did not come back; the call was not sent", id.Domain)}
	}
	if kept != nil {
		// The user is not shown a tab for a call that cannot be made there.
		if err := r.check(kept); err != nil {
			return err
		}
	}
	o, away, f := h.openFor(b, r.peer)
	switch {
	case away != nil:
		r.away = true
		return r.await(ctx, away)
	case f != nil && r.away:
		return &Failure{spec.FailNotConnected, fmt.Sprintf("no tab of %s is open, and the browser went away and did not come back; the call was not sent", id.Domain)}
	case f != nil:
		return f
	}
	r.opened = true
	if err := r.await(ctx, o.done); err != nil {
		return err
	}
	if o.err != nil {
		return &Failure{spec.FailTabNotFound, fmt.Sprintf("no tab of %s is open, and opening %s failed: %v", id.Domain, o.url, o.err)}
	}
	return r.awaitOffer(ctx, b, o)
}

// awaitOffer blocks until a tab can take the call or the wait for the opened one
// is over; the caller then looks again.
func (r *run) awaitOffer(ctx context.Context, b *binding, o *opening) error {
	h := r.h
	timer := time.NewTimer(time.Until(o.until))
	defer timer.Stop()
	for {
		h.mu.Lock()
		best, _ := choose(r.snapshotLocked(b, nil))
		changed := h.waitLocked()
		h.mu.Unlock()
		if best >= 0 {
			return nil
		}
		select {
		case <-changed:
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-h.ctx.Done():
			return &Failure{spec.FailNotConnected, "the hub is shutting down; the call was not sent"}
		}
	}
}

// openFor starts to open a tab for a binding's domain, or joins one that is being
// opened. only, if not "", is the one browser that may do it. If those that could are
// away, the result is a channel that is closed at the next change.
func (h *Hub) openFor(b *binding, only spec.PeerID) (o *opening, away <-chan struct{}, f *Failure) {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	d := b.domain
	if d.opening != nil && now.Before(d.opening.until) {
		return d.opening, nil, nil
	}
	url := d.openURL()
	p := h.openerLocked(d, only)
	if p == nil && h.openerAwayLocked(only) {
		return nil, h.waitLocked(), nil
	}
	if p == nil {
		return nil, nil, &Failure{spec.FailTabNotFound, fmt.Sprintf("no tab of %s is open, and no connected browser can open one: open %s in a browser that is connected", d.key, url)}
	}
	o = &opening{done: make(chan struct{}), url: url, until: now.Add(spec.ControlTimeout + spec.OpenTabMaxWait)}
	d.opening = o
	h.open.Add(1) // the caller holds one, so Close still waits
	go func() {
		defer h.open.Done()
		h.openTab(d, o, p.id)
	}()
	return o, nil, nil
}

// openedLocked says that an opening is over: the next call that finds no tab opens
// another.
func (d *domain) openedLocked(o *opening) {
	if d.opening == o {
		d.opening = nil
	}
}

// openURL returns where to open the domain: the URL that a tab of it had, or its
// origin.
func (d *domain) openURL() string {
	if d.url != "" && item.OriginOf(d.url) == d.origin {
		return d.url
	}
	return d.origin + "/"
}

// openerLocked chooses the browser to open a tab in: the one that last had the
// domain, else the one that was focused last.
func (h *Hub) openerLocked(d *domain, only spec.PeerID) *peer {
	var best *peer
	for _, p := range h.peers {
		if !p.connected || !p.caps[spec.CapOpenTab] || only != "" && p.id != only {
			continue
		}
		if p.id == d.lastPeer {
			return p
		}
		if best == nil || p.focused > best.focused || p.focused == best.focused && p.id < best.id {
			best = p
		}
	}
	return best
}

// openerAwayLocked reports whether a browser that may open tabs is in its grace. Of
// one that has not been here since a restart it is not known whether it may.
func (h *Hub) openerAwayLocked(only spec.PeerID) bool {
	for _, p := range h.peers {
		if p.browser != "" && !p.connected && (p.caps[spec.CapOpenTab] || p.connectedAt.IsZero()) && (only == "" || p.id == only) {
			return true
		}
	}
	return false
}

// openTab asks a browser for a tab. It blocks until it has answered.
func (h *Hub) openTab(d *domain, o *opening, p spec.PeerID) {
	resp, err := h.transport.SendRequest(h.ctx, spec.TabAddr{Peer: p}, &spec.OpenTab{URL: o.url}, tabtransport.Wait{Timeout: spec.ControlTimeout})
	var result spec.OpenTabResult
	if err == nil {
		err = json.Unmarshal(resp.Result, &result)
	}
	h.update(func() {
		o.addr, o.err = spec.TabAddr{Peer: p, Tab: result.TabID}, err
		o.until = time.Now().Add(spec.OpenTabMaxWait)
		if t := h.tabs[o.addr]; err != nil || t != nil && t.domains[d.key] != nil {
			d.openedLocked(o)
		}
	})
	close(o.done)
}

// domainName returns the public name of a tab's item that is not bound to the tab.
func (r *run) domainName(id naming.Identity) string {
	id.Tab = 0
	r.h.mu.RLock()
	defer r.h.mu.RUnlock()
	return r.h.publicLocked(id)
}
