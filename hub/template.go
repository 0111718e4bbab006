package hub

import (
	"errors"
	"fmt"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"tabhub/spec"
)

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

// rematchLocked looks again at what a binding that was made from a template stands
// for: the tabs may have changed since.
func (h *Hub) rematchLocked(r *run, b *binding) {
	if now, page := h.matchTemplateLocked(r.name); now != nil {
		*b, r.page = *now, page
		return
	}
	b.offer, b.holder = nil, nil
}

// matchOfferLocked matches a URI with one offer, as the domain's or as a tab's.
func (h *Hub) matchOfferLocked(d *domain, o *offer, uri string) (*binding, string) {
	it := o.kept
	if hd := o.newestLocked(true); hd != nil {
		it = hd.item
	}
	if page, ok := h.namer.PageURI(d.key, 0, uri); ok && it.makes(page) {
		return &binding{id: o.id, domain: d, offer: o, made: true}, page
	}
	for _, hd := range o.holders {
		if page, ok := h.namer.PageURI(d.key, hd.number, uri); ok && hd.item.makes(page) {
			id := o.id
			id.Tab = hd.number
			return &binding{id: id, domain: d, offer: o, holder: hd, made: true}, page
		}
	}
	return nil, ""
}

// makes reports whether an item is a template that a page's URI is made by. It takes
// time in proportion to the URI, whatever the template.
func (it *item) makes(page string) bool {
	return it.template && len(page) <= spec.MaxURI && it.pattern.Regexp().MatchString(page)
}

// maxVariables bounds the variables of a URI template.
const maxVariables = 16

func parseTemplate(uri string) (*uritemplate.Template, error) {
	t, err := uritemplate.New(uri)
	if err != nil {
		return nil, errors.New("uriTemplate is not an RFC 6570 template")
	}
	if n := len(t.Varnames()); n > maxVariables || strings.Count(uri, "{") > maxVariables {
		return nil, fmt.Errorf("uriTemplate has more than %d variables", maxVariables)
	}
	return t, nil
}
