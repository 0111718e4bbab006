package hub

import (
	"context"
	"encoding/json"
	"slices"

	"tabhub/naming"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// subscription is a resource that somebody wants to hear of. It is guarded by
// Hub.mu.
type subscription struct {
	uri string // public
	n   int    // how many want it
}

// ReadResource reads a resource in the best tab and returns the raw MCP
// ReadResourceResult, with the public URI in place of the page's. The error is an
// *UnknownError, a *Failure, the page's own *spec.Error, or ctx's cause.
func (h *Hub) ReadResource(ctx context.Context, uri, client string) (json.RawMessage, error) {
	r := run{h: h, kind: spec.KindResource, name: uri, client: client}
	resp, err := r.do(ctx)
	if err != nil {
		return nil, err
	}
	result, err := objectResult(resp)
	if err != nil {
		return nil, err
	}
	return publishURI(result, r.page, uri), nil
}

// GetPrompt gets a prompt from the best tab and returns the raw MCP
// GetPromptResult. Errors are as for ReadResource.
func (h *Hub) GetPrompt(ctx context.Context, name string, args json.RawMessage, client string) (json.RawMessage, error) {
	r := run{h: h, kind: spec.KindPrompt, name: name, client: client, args: args}
	resp, err := r.do(ctx)
	if err != nil {
		return nil, err
	}
	return objectResult(resp)
}

// SubscribeResource asks for Change.Updated of a resource until stop is called. It
// blocks until the tab knows; a page that cannot tell of updates is no error. The
// error is an *UnknownError or ctx's cause.
func (h *Hub) SubscribeResource(ctx context.Context, uri string) (stop func(), err error) {
	var s *subscription
	h.update(func() {
		r := run{h: h, kind: spec.KindResource, name: uri}
		if h.lookupLocked(&r) == nil {
			err = h.unknownLocked(spec.KindResource, uri)
			return
		}
		if s = h.subs[uri]; s == nil {
			s = &subscription{uri: uri}
			h.subs[uri] = s
		}
		s.n++
	})
	if err != nil {
		return nil, err
	}
	if err := h.tellSubscription(ctx, s, true); err != nil && ctx.Err() != nil {
		h.dropSubscription(uri, s)
		return nil, context.Cause(ctx)
	}
	return func() { h.dropSubscription(uri, s) }, nil
}

// dropSubscription ends one interest; the page is told after the last.
func (h *Hub) dropSubscription(uri string, s *subscription) {
	last := false
	h.update(func() {
		s.n--
		if last = s.n == 0; last {
			delete(h.subs, uri)
		}
	})
	if last {
		// A page that is not told goes on telling; that does no harm.
		_ = h.tellSubscription(h.ctx, s, false)
	}
}

// tellSubscription tells the tab that has a resource whether to report its updates.
func (h *Hub) tellSubscription(ctx context.Context, s *subscription, on bool) error {
	r := run{h: h, kind: spec.KindResource, name: s.uri}
	h.mu.RLock()
	var snap snapshot
	if b := h.lookupLocked(&r); b != nil {
		snap = h.snapshotLocked(b, nil, nil)
	}
	h.mu.RUnlock()
	i, _ := choose(snap)
	if i < 0 || !snap.candidates[i].present {
		return tabtransport.ErrNotConnected
	}
	c := snap.candidates[i]
	_, err := h.transport.SendRequest(ctx, c.addr, &spec.SubscribeResource{URI: r.page, Subscribe: on, FrameID: c.item.frame}, tabtransport.Wait{})
	return err
}

// resubscribe tells a tab that has registered its resources anew what is wanted.
func (h *Hub) resubscribe(t spec.TabAddr) {
	var wanted []*subscription
	h.mu.RLock()
	for _, s := range h.subs {
		r := run{h: h, kind: spec.KindResource, name: s.uri}
		b := h.lookupLocked(&r)
		if b != nil && b.offer != nil && slices.ContainsFunc(b.offer.holders, func(hd *holder) bool { return hd.tab.addr == t }) {
			wanted = append(wanted, s)
		}
	}
	if len(wanted) > 0 && !h.closed {
		h.open.Go(func() {
			for _, s := range wanted {
				if err := h.tellSubscription(h.ctx, s, true); err != nil {
					h.log.Debug("resource subscription not renewed", "tab", t, "err", err)
				}
			}
		})
	}
	h.mu.RUnlock()
}

// resourceUpdated passes on that a resource of a tab has changed.
func (h *Hub) resourceUpdated(from spec.TabAddr, page string) {
	var public []string
	h.mu.RLock()
	if t := h.tabs[from]; t != nil && len(h.subs) > 0 {
		for key, part := range t.domains {
			for _, n := range []int{0, part.number} {
				uri := h.namer.URI(naming.Identity{Kind: spec.KindResource, Domain: key, Tab: n, Item: page})
				if h.subs[uri] != nil {
					public = append(public, uri)
				}
			}
		}
	}
	h.mu.RUnlock()
	h.notices.updated(public)
}
