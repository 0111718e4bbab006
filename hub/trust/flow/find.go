package flow

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"time"

	"tabhub/describe"
	"tabhub/spec"
)

const (
	maxMatches = 32
	maxField   = 120 // bytes
	maxShown   = 80
)

// Match is a text of a site that stands in what a client sends to another one.
type Match struct {
	From  spec.Domain `json:"from"`
	Field string      `json:"field"` // where it stands, such as "note" or "/items/0/name"
	Text  string      `json:"text"`  // as it stands there, or decoded; cleaned and cut
}

// Compare returns which texts of other sites stand in the objects that a client is about to send to a
// site. Texts that stand in one of except, such as the URL and the schema of the site, do not
// count, nor do texts that a site returned too long ago.
func (t *Tracker) Compare(who string, to spec.Domain, sent []json.RawMessage, except ...string) []Match {
	t.mu.Lock()
	var texts []text
	if c := t.clients[who]; c != nil {
		texts = slices.Clone(c.texts)
	}
	t.mu.Unlock()
	return t.compare(texts, to, slices.Values(sent), except)
}

// CompareCall is Compare for the arguments of a call, with the texts that its client had read before.
// It reports false if the Tracker has them no more.
func (t *Tracker) CompareCall(call string) ([]Match, bool) {
	texts, at := t.sentBy(call)
	if at < 0 {
		return nil, false
	}
	sent := func(yield func(json.RawMessage) bool) {
		for _, s := range texts[at:] {
			if s.call == call && !yield(s.data) {
				return
			}
		}
	}
	return t.compare(texts[:at], texts[at].to, sent, nil), true
}

// sentBy returns the texts of the client that has made a call, and the index of the first that the
// call has sent; -1 if there is none.
func (t *Tracker) sentBy(call string) (texts []text, at int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.clients {
		if at = slices.IndexFunc(c.texts, func(s text) bool { return s.call == call && call != "" }); at >= 0 {
			return slices.Clone(c.texts), at
		}
	}
	return nil, -1
}

func (t *Tracker) compare(texts []text, to spec.Domain, sent iter.Seq[json.RawMessage], except []string) []Match {
	if !slices.ContainsFunc(texts, func(s text) bool { return s.from != "" && s.from != to }) {
		return nil
	}
	t.comparing.Lock()
	defer t.comparing.Unlock()
	r := reader{collects: true, values: map[string]*value{}}
	for args := range sent {
		r.read(args, true)
	}
	r.collects = false
	r.found = func(v *value) { v.known = true }
	r.left = maxRead
	for _, s := range except {
		r.text(s, maxNested)
	}
	since := time.Now().Add(-lifetime)
	for _, s := range texts {
		if s.at.Before(since) {
			continue
		}
		r.found = func(v *value) { v.returned(s.from) }
		if s.from == "" {
			r.found = func(v *value) { v.known = v.known || v.first == "" }
		}
		r.read(s.data, s.from == "")
	}
	return matches(r.values, to)
}

// value is a value in a text that is sent.
type value struct {
	at            []span
	first, second spec.Domain // sites that have returned it
	common        bool        // more have
	known         bool        // the client has sent it before, or the target has it anyhow
}

// span is where a value stands.
type span struct {
	field      string
	text       string // of the field, or what is encoded in it
	part       int    // the number of the text
	start, end int    // in it
}

func (v *value) returned(from spec.Domain) {
	switch {
	case v.first == "":
		v.first = from
	case v.first == from || v.second == from:
	case v.second == "":
		v.second = from
	default:
		v.common = true
	}
}

// flows reports whether a value that is sent to a site belongs to another one.
func (v *value) flows(to spec.Domain) bool {
	return v.first != "" && v.first != to && v.second != to && !v.common && !v.known
}

// matches returns the longest text of values for each site and field.
func matches(values map[string]*value, to spec.Domain) (all []Match) {
	type hit struct {
		span
		from spec.Domain
	}
	var hits []hit
	for _, v := range values {
		for _, at := range v.at {
			if v.flows(to) {
				hits = append(hits, hit{at, v.first})
			}
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.part, b.part), a.start-b.start, b.end-a.end)
	})
	type place struct {
		from  spec.Domain
		field string
	}
	longest := map[place]hit{}
	var order []place
	for i := 0; i < len(hits); {
		h := hits[i]
		for i++; i < len(hits) && hits[i].from == h.from && hits[i].part == h.part && hits[i].start <= h.end; i++ {
			h.end = max(h.end, hits[i].end) // they overlap
		}
		p := place{h.from, h.field}
		was, seen := longest[p]
		if !seen {
			order = append(order, p)
		}
		if !seen || h.end-h.start > was.end-was.start {
			longest[p] = h
		}
	}
	for _, p := range order[:min(len(order), maxMatches)] {
		h := longest[p]
		all = append(all, Match{p.from, describe.Clean(p.field, maxField), describe.Clean(h.text[h.start:h.end], maxShown)})
	}
	return all
}
