package hub

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/yosida95/uritemplate/v3"

	"tabhub/naming"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
)

// subscription is a resource that somebody wants to hear of. It is guarded by
// Hub.mu.
type subscription struct {
	n    int // how many want it
	page string
	bind *binding
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
	return publishURI(oneLine(resp.Result), r.page, uri), nil
}

// GetPrompt gets a prompt from the best tab and returns the raw MCP
// GetPromptResult. Errors are as for ReadResource.
func (h *Hub) GetPrompt(ctx context.Context, name string, args json.RawMessage, client string) (json.RawMessage, error) {
	r := run{h: h, kind: spec.KindPrompt, name: name, client: client, args: args}
	resp, err := r.do(ctx)
	if err != nil {
		return nil, err
	}
	return oneLine(resp.Result), nil
}

// SubscribeResource asks for Change.Updated of a resource until stop is called. It
// blocks until the tab knows; a page that cannot tell of updates is no error. The
// error is an *UnknownError or ctx's cause.
func (h *Hub) SubscribeResource(ctx context.Context, uri string) (stop func(), err error) {
	var s *subscription
	h.update(func() {
		r := run{h: h, kind: spec.KindResource, name: uri}
		b := h.lookupLocked(&r)
		if b == nil {
			err = h.unknownLocked(spec.KindResource, uri)
			return
		}
		if s = h.subs[uri]; s == nil {
			s = &subscription{page: r.page, bind: b}
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
	h.mu.RLock()
	snap := h.snapshotLocked(s.bind, nil, nil)
	h.mu.RUnlock()
	i, _ := choose(snap)
	if i < 0 || !snap.candidates[i].present {
		return tabtransport.ErrNotConnected
	}
	c := snap.candidates[i]
	_, err := h.transport.SendRequest(ctx, c.addr, &spec.SubscribeResource{URI: s.page, Subscribe: on, FrameID: c.item.frame}, tabtransport.Wait{})
	return err
}

// resubscribe tells a tab that has registered its resources anew what is wanted.
func (h *Hub) resubscribe(t spec.TabAddr) {
	var wanted []*subscription
	h.mu.RLock()
	for _, s := range h.subs {
		if s.bind.offer == nil {
			continue
		}
		for _, hd := range s.bind.offer.holders {
			if hd.tab.addr == t {
				wanted = append(wanted, s)
			}
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

// matchTemplateLocked returns the binding of a template that a URI is made by, and
// the page's URI; nil if there is none. Of several the first by domain and template
// counts.
func (h *Hub) matchTemplateLocked(uri string) (best *binding, page string) {
	for _, key := range h.order {
		d := h.domains[key]
		for _, o := range d.offers[spec.KindResource] {
			if best != nil && best.id.Item < o.id.Item {
				continue
			}
			if b, p := h.matchOfferLocked(d, o, uri); b != nil {
				best, page = b, p
			}
		}
		if best != nil {
			return best, page
		}
	}
	return nil, ""
}

// matchOfferLocked matches a URI with one offer, as the domain's or as a tab's.
func (h *Hub) matchOfferLocked(d *domain, o *offer, uri string) (*binding, string) {
	it := o.kept
	if hd := o.newestLocked(true); hd != nil {
		it = hd.item
	}
	if !it.template {
		return nil, ""
	}
	if page, ok := h.namer.PageURI(d.key, 0, uri); ok && it.pattern.Match(page) != nil {
		return &binding{id: o.id, domain: d, offer: o}, page
	}
	for _, hd := range o.holders {
		if page, ok := h.namer.PageURI(d.key, hd.number, uri); ok && hd.item.pattern.Match(page) != nil {
			return &binding{id: o.id, domain: d, offer: o, holder: hd}, page
		}
	}
	return nil, ""
}

func parseTemplate(uri string) (*uritemplate.Template, error) {
	t, err := uritemplate.New(uri)
	if err != nil {
		return nil, errors.New("uriTemplate is not an RFC 6570 template")
	}
	return t, nil
}

// publishURI replaces the page's URI by the public one in the contents of a
// ReadResourceResult. All else stays the bytes that it is.
func publishURI(result json.RawMessage, page, public string) json.RawMessage {
	if page == public {
		return result
	}
	own := rawjson.AppendString(nil, page)
	out := append(make([]byte, 0, len(result)+2*len(public)), '{')
	err := rawjson.Object(result, spec.MaxDepth, func(key string, v json.RawMessage) error {
		out = appendKey(out, key)
		if key != "contents" || v[0] != '[' {
			out = append(out, v...)
			return nil
		}
		out = append(out, '[')
		err := rawjson.Array(v, spec.MaxDepth, func(v json.RawMessage) error {
			if out[len(out)-1] != '[' {
				out = append(out, ',')
			}
			if v[0] != '{' {
				out = append(out, v...)
				return nil
			}
			out = append(out, '{')
			err := rawjson.Object(v, spec.MaxDepth, func(key string, v json.RawMessage) error {
				out = appendKey(out, key)
				if s, ok := rawjson.String(v); key == "uri" && ok && (s == page || string(v) == string(own)) {
					out = rawjson.AppendString(out, public)
				} else {
					out = append(out, v...)
				}
				return nil
			})
			out = append(out, '}')
			return err
		})
		out = append(out, ']')
		return err
	})
	if err != nil {
		return result // not an object: the client is told what the page said
	}
	return append(out, '}')
}

func appendKey(out []byte, key string) []byte {
	if out[len(out)-1] != '{' {
		out = append(out, ',')
	}
	return append(rawjson.AppendString(out, key), ':')
}
