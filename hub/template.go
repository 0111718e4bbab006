package hub

import (
	"tabhub/hub/item"
	"tabhub/spec"
)

// matchTemplateLocked returns the binding of a template that a URI is made by, and
// the page's URI; nil if there is none. Of several the first by domain and template
// counts.
func (h *Hub) matchTemplateLocked(uri string) (best *binding, page string) {
	left := item.MaxSteps
	for _, key := range h.order {
		d := h.domains[key]
		own, isOwn := h.namer.PageURI(key, 0, uri)
		for _, o := range d.offers[spec.KindResource] {
			if best != nil && best.id.Item < o.id.Item {
				continue
			}
			if b, p := h.matchOfferLocked(d, o, uri, own, isOwn, &left); b != nil {
				best, page = b, p
			}
		}
		if best != nil {
			return best, page
		}
	}
	return nil, ""
}

// rematchLocked looks again at what a binding that was made from a template stands
// for: the tabs may have changed since.
func (h *Hub) rematchLocked(r *run, b *binding) {
	if now, page := h.matchTemplateLocked(r.name); now != nil {
		*b, r.page = *now, page
		return
	}
	b.offer, b.holder = nil, nil
}

// matchOfferLocked matches a URI with one offer, as the domain's, whose page's URI
// would be page if own is true, or as a tab's.
func (h *Hub) matchOfferLocked(d *domain, o *offer, uri, page string, own bool, left *item.Steps) (*binding, string) {
	it := o.kept
	if hd := o.newestLocked(true); hd != nil {
		it = hd.item
	}
	if own && it.Makes(page, left) {
		return &binding{id: o.id, domain: d, offer: o, made: true}, page
	}
	for _, hd := range o.holders {
		if !hd.item.Template {
			continue
		}
		if page, ok := h.namer.PageURI(d.key, hd.number, uri); ok && hd.item.Makes(page, left) {
			id := o.id
			id.Tab = hd.number
			return &binding{id: id, domain: d, offer: o, holder: hd, made: true}, page
		}
	}
	return nil, ""
}
