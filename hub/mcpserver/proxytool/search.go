package proxytool

import (
	"bytes"
	"encoding/json"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tabhub/hub"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// The weights of the places in which a word stands.
const (
	weightName        = 4
	weightTitle       = 3
	weightDomain      = 2
	weightDescription = 1
	weightPrefix      = 0.5 // times, if it only begins a term
)

// maxTerms is how many terms are remembered of items that may be gone.
const maxTerms = 200_000

// corpus is what has been read of a kind's items, to read only what is new.
type corpus struct {
	ids   map[string]int32
	terms []string        // by id
	docs  map[string]*doc // by item name, of the latest search
	reads int             // how many items have been read
	in    []int           // by id: the number of the last one with the term
}

// doc is what a search reads of one item.
type doc struct {
	json  json.RawMessage
	tags  []string
	terms []term
}

// term is a term of a doc, and what its best place weighs.
type term struct {
	id     int32
	weight float32
}

// search returns the items that pass f: in their order, or if there is a query those
// that hold one of its words, best first.
func (t *proxy) search(ix *index, f *filter) []hub.Item {
	if f.query != "" || len(f.tags) > 0 {
		t.read(ix)
	}
	if f.query == "" {
		var found []hub.Item
		for i := range ix.items {
			var tags []string
			if len(f.tags) > 0 {
				tags = ix.docs[i].tags
			}
			if f.accepts(&ix.items[i], tags) {
				found = append(found, ix.items[i])
			}
		}
		return found
	}
	// A hit is its score, upside down, and its place, so that the best sorts first.
	var hits []uint64
	q := newQuery(ix, f.query)
	for i, d := range ix.docs {
		if score := q.score(d); score > 0 && f.accepts(&ix.items[i], d.tags) {
			hits = append(hits, uint64(^math.Float32bits(score))<<32|uint64(i))
		}
	}
	slices.Sort(hits)
	found := make([]hub.Item, len(hits))
	for n, h := range hits {
		found[n] = ix.items[uint32(h)]
	}
	return found
}

// similar returns the names of the three items that are most like a path, by the
// words in it.
func (t *proxy) similar(ix *index, path string) (names []string) {
	w := words(path)
	found := t.search(ix, &filter{query: strings.Join(w[:min(len(w), maxWords)], " ")})
	for _, it := range found[:min(len(found), 3)] {
		names = append(names, it.Name)
	}
	return names
}

// read makes the index searchable.
func (t *proxy) read(ix *index) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ix.docs != nil {
		return
	}
	c := t.corpora[ix.kind]
	if c == nil || len(c.terms) > maxTerms {
		c = &corpus{ids: make(map[string]int32)}
	}
	docs := make(map[string]*doc, len(ix.items))
	ix.docs = make([]*doc, len(ix.items))
	for i := range ix.items {
		it := &ix.items[i]
		d := c.docs[it.Name]
		if d == nil || !bytes.Equal(d.json, it.JSON) {
			d = c.read(ix.kind, it)
		}
		ix.docs[i] = d
		docs[it.Name] = d
	}
	c.docs = docs
	ix.terms = c.terms
	ix.count = make([]int32, len(c.terms))
	for _, d := range ix.docs {
		for _, t := range d.terms {
			ix.count[t.id]++
		}
	}
	if t.corpora == nil {
		t.corpora = make(map[spec.Kind]*corpus)
	}
	t.corpora[ix.kind] = c
}

// read reads an item of a kind.
func (c *corpus) read(kind spec.Kind, it *hub.Item) *doc {
	d := &doc{json: it.JSON}
	c.reads++
	if tags := rawjson.Get(it.JSON, "_meta", "tags"); tags != nil {
		rawjson.Array(tags, 2, func(tag json.RawMessage) error {
			if s, ok := rawjson.String(tag); ok {
				d.tags = append(d.tags, s)
			}
			return nil
		})
	}
	add := func(text string, weight float32) {
		for _, w := range words(text) {
			id, ok := c.ids[w]
			if !ok {
				id = int32(len(c.terms))
				w = strings.Clone(w) // not to keep the text
				c.ids[w] = id
				c.terms, c.in = append(c.terms, w), append(c.in, 0)
			}
			if c.in[id] != c.reads { // a page may give an item many
				c.in[id] = c.reads
				d.terms = append(d.terms, term{id, weight})
			}
		}
	}
	// From heavy to light: a term counts where it first stands.
	add(it.Source, weightName)
	if kind == spec.KindResource { // whose source is its URI
		add(text(it.JSON, "name"), weightName)
	}
	add(text(it.JSON, "title"), weightTitle)
	add(text(it.JSON, "annotations", "title"), weightTitle)
	for _, tag := range d.tags {
		add(tag, weightTitle)
	}
	add(string(it.Domain), weightDomain)
	description := text(it.JSON, "description")
	if label, rest, ok := strings.Cut(description, "] "); ok && strings.HasPrefix(label, "[") {
		description = rest // the hub's label says where it runs, not what it does
	}
	add(description, weightDescription)
	d.terms = slices.Clip(d.terms)
	return d
}

func text(raw json.RawMessage, path ...string) string {
	s, _ := rawjson.String(rawjson.Get(raw, path...))
	return s
}

// query is a query's words, matched with the terms of an index.
type query struct {
	exact, begins []uint32 // by term id: the words that are the term, or its beginning
	rarity        []float32
}

func newQuery(ix *index, text string) *query {
	ws := words(text)
	slices.Sort(ws)
	ws = slices.Compact(ws)
	ws = ws[:min(len(ws), maxWords)]
	q := &query{
		exact:  make([]uint32, len(ix.terms)),
		begins: make([]uint32, len(ix.terms)),
		rarity: make([]float32, len(ws)),
	}
	for n, w := range ws {
		df := int32(0)
		for id, t := range ix.terms {
			switch {
			case t == w:
				q.exact[id] |= 1 << n
			case len(w) >= 3 && strings.HasPrefix(t, w):
				q.begins[id] |= 1 << n
			default:
				continue
			}
			df += ix.count[id]
		}
		q.rarity[n] = float32(math.Log1p(float64(len(ix.docs)) / float64(1+df)))
	}
	return q
}

// score says how well a doc matches, 0 if not at all: the sum over the words of how
// rare one is and how heavy its best place, times the part of the words that are
// found.
func (q *query) score(d *doc) float32 {
	var best [maxWords]float32
	var found uint32
	for _, t := range d.terms {
		hits := q.exact[t.id] | q.begins[t.id]
		for found |= hits; hits != 0; hits &= hits - 1 {
			n := bits.TrailingZeros32(hits)
			weight := t.weight
			if q.exact[t.id]&(1<<n) == 0 {
				weight *= weightPrefix
			}
			best[n] = max(best[n], weight)
		}
	}
	if found == 0 {
		return 0
	}
	score := float32(0)
	for n, rarity := range q.rarity {
		score += best[n] * rarity
	}
	return score * float32(bits.OnesCount32(found)) / float32(len(q.rarity))
}

// words splits a text into its words in lower case: at what is no letter or digit,
// within camelCase, and at each character of a script without spaces. A plural is
// its singular.
func words(s string) []string {
	var ws []string
	start := -1
	flush := func(end int) {
		if start >= 0 {
			ws = append(ws, stem(strings.ToLower(s[start:end])))
			start = -1
		}
	}
	var last rune
	for i, r := range s {
		switch {
		case r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			flush(i)
			ws = append(ws, s[i:i+utf8.RuneLen(r)])
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			flush(i)
		case start < 0:
			start = i
		case unicode.IsUpper(r) && unicode.IsLower(last):
			flush(i)
			start = i
		}
		last = r
	}
	flush(len(s))
	return ws
}

// stem cuts an English plural, which is enough for names and short descriptions.
func stem(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
		return w[:len(w)-1]
	}
	return w
}
