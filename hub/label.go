package hub

import (
	"crypto/rand"
	"encoding/json"

	"tabhub/hub/item"
)

// Label says in a result of a page where it is from; see item.Label.
func (h *Hub) Label(result json.RawMessage, from *item.Source) json.RawMessage {
	marker := ""
	if h.opts.LabelResults {
		marker = rand.Text()
	}
	return item.Label(result, from, marker)
}

// label says in a result of the page that the call went to where it is from.
func (r *run) label(result json.RawMessage) json.RawMessage {
	it := r.target.Item
	return r.h.Label(result, &item.Source{Origin: it.Origin, Domain: it.Domain, Verified: it.Verified, Tab: r.target.Addr.Public()})
}
