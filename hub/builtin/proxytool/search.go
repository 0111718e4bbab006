package proxytool

import (
	"cmp"
	"encoding/json"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tabhub/hub/lists"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// The weights of the places in which a word stands.
const (
	weightName        = 4
	weightTitle       = 3
	weightDomain      = 2
	weightDescription = 1
	weightPrefix      = 0.5 // times, if it only begins a word there
)

// search returns the items of a kind that pass f: in their order, or if there is a query those
// that hold one of its words, best first.
func search(kind spec.Kind, items []*lists.Item, f *filter) []*lists.Item {
	items = slices.DeleteFunc(items, func(it *lists.Item) bool { return !f.accepts(it) })
	if f.query == "" {
		return items
	}
	query := slices.Compact(slices.Sorted(words(f.query)))
	query = query[:min(len(query), maxWords)]
	var matches []match
	holds := make([]int, len(query)) // how many items hold a word
	for _, it := range items {
		m := match{item: it, weights: make([]float32, len(query))}
		m.read(kind, query)
		for n, w := range m.weights {
			if w > 0 {
				holds[n]++
				m.found++
			}
		}
		if m.found > 0 {
			matches = append(matches, m)
		}
	}
	// The sum over the words of how rare one is and how heavy its best place, times the part of
	// the words that are found.
	for i := range matches {
		m := &matches[i]
		for n, w := range m.weights {
			m.score += w * float32(math.Log1p(float64(len(items))/float64(1+holds[n])))
		}
		m.score *= float32(m.found)
	}
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	found := make([]*lists.Item, len(matches))
	for i := range matches {
		found[i] = matches[i].item
	}
	return found
}

// match is how an item matches a query.
type match struct {
	item    *lists.Item
	weights []float32 // of the best place of each of the query's words, 0 if it is not there
	found   int       // how many are
	score   float32
}

// read looks for a query's words in an item of a kind.
func (m *match) read(kind spec.Kind, query []string) {
	in := func(text string, weight float32) {
		for w := range words(text) {
			for n, q := range query {
				switch {
				case !strings.HasPrefix(w, q):
				case len(w) == len(q):
					m.weights[n] = max(m.weights[n], weight)
				case len(q) >= 3:
					m.weights[n] = max(m.weights[n], weight*weightPrefix)
				}
			}
		}
	}
	in(m.item.Source, weightName)
	in(string(m.item.Domain), weightDomain)
	for key, value := range rawjson.Members(m.item.JSON) {
		text, _ := rawjson.String(value)
		switch key {
		case "name":
			if kind == spec.KindResource { // whose source is its URI
				in(text, weightName)
			}
		case "title":
			in(text, weightTitle)
		case "annotations":
			title, _ := rawjson.String(rawjson.Get(value, "title"))
			in(title, weightTitle)
		case "_meta":
			for _, tag := range tagsOf(rawjson.Get(value, "tags")) {
				in(tag, weightTitle)
			}
		case "description":
			if label, rest, ok := strings.Cut(text, "] "); ok && strings.HasPrefix(label, "[") {
				text = rest // the hub's label says where it runs, not what it does
			}
			in(text, weightDescription)
		}
	}
}

// tagsOf returns those of a list that are strings.
func tagsOf(list json.RawMessage) (tags []string) {
	if list != nil {
		rawjson.Array(list, 2, func(tag json.RawMessage) error {
			if s, ok := rawjson.String(tag); ok {
				tags = append(tags, s)
			}
			return nil
		})
	}
	return tags
}

// words yields the words of a text in lower case: at what is no letter or digit,
// within camelCase, and at each character of a script without spaces. A plural is
// its singular.
func words(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := -1
		flush := func(end int) bool {
			from := start
			start = -1
			return from < 0 || yield(stem(strings.ToLower(s[from:end])))
		}
		var last rune
		for i, r := range s {
			goesOn := true
			switch {
			case r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
				goesOn = flush(i) && yield(s[i:i+utf8.RuneLen(r)])
			case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
				goesOn = flush(i)
			case start < 0:
				start = i
			case unicode.IsUpper(r) && unicode.IsLower(last):
				goesOn = flush(i)
				start = i
			}
			if !goesOn {
				return
			}
			last = r
		}
		flush(len(s))
	}
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
