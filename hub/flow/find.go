package flow

import (
	"encoding/json"
	"slices"
	"time"

	"tabhub/describe"
	"tabhub/hub/policy"
	"tabhub/spec"
)

const (
	maxFlows = 32 // that Find returns
	maxField = 120
)

// Find appends to dst which values of other sites stand in what a client is about to send to
// a site: in args, an object. What stands in one of except does not count, such as the URL
// and the schema of the site. A flow without a field says that a private site has returned
// more than could be read, or that args are longer. What Settled has not waited for may be
// missing.
func (t *Tracker) Find(dst []policy.Flow, who string, to spec.Domain, args json.RawMessage, except ...string) []policy.Flow {
	if !t.KnowsOther(who, to) {
		return dst
	}
	t.mu.Lock()
	c := t.clients[who]
	t.mu.Unlock()
	r := t.readers.Get().(*reader)
	defer t.readers.Put(r)
	r.read(args, true)
	hits, domains, unseen := c.look(r, to, time.Now().Add(-lifetime))
	if len(hits) > 0 {
		hits = t.drop(hits, except)
	}
	before := len(dst)
	add := func(f policy.Flow) {
		if len(dst)-before < maxFlows && !slices.Contains(dst[before:], f) {
			dst = append(dst, f)
		}
	}
	for n, from := range domains {
		if unseen[n] && t.private(from) {
			add(policy.Flow{From: from})
		}
	}
	for i, h := range hits {
		if i == 0 || h.site != hits[i-1].site || h.field != hits[i-1].field {
			add(policy.Flow{From: domains[h.site], Field: describe.Clean(r.fields[h.field], maxField)})
		}
	}
	return dst
}

// hit is a value that another site has returned.
type hit struct {
	hash  uint64
	field int32
	site  uint8
}

// look returns which of the values that r has read are of another site than to, the sites by
// number, and of which of them more may be there. Sites that have returned nothing since
// then do not count.
func (c *client) look(r *reader, to spec.Domain, since time.Time) (hits []hit, domains [own]spec.Domain, unseen [own]bool) {
	r.hits = r.hits[:0]
	if len(r.values) == 0 && !r.cut {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	target := c.table.number(to)
	for n, s := range c.table.sites[:own] {
		if s != nil && uint8(n) != target && s.last.After(since) {
			domains[n], unseen[n] = s.domain, r.cut || s.unseen
		}
	}
	for _, v := range r.values {
		o := c.table.values[v.hash]
		if o.first < own && domains[o.first] != "" && o.second != many && (target == nobody || o.second != target) {
			r.hits = append(r.hits, hit{v.hash, v.field, o.first})
		}
	}
	return r.hits, domains, unseen
}

// drop returns the hits that are not in one of the texts.
func (t *Tracker) drop(hits []hit, except []string) []hit {
	if len(except) == 0 {
		return hits
	}
	r := t.readers.Get().(*reader)
	defer t.readers.Put(r)
	r.read(nil, true)
	for _, text := range except {
		r.text(text, maxNested)
	}
	there := make(map[uint64]bool, len(r.values))
	for _, v := range r.values {
		there[v.hash] = true
	}
	return slices.DeleteFunc(hits, func(h hit) bool { return there[h.hash] })
}
