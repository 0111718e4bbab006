package consent

import (
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"tabhub/describe"
	"tabhub/spec/rawjson"
)

// leaf is a value of a JSON text that has no members, and where it stands, such as
// ["items", "0", "name"]; the path of the whole text is empty. An empty object or array is a leaf, too.
type leaf struct {
	path  []string
	value json.RawMessage
}

// name returns the path in one text.
func (l leaf) name() string { return strings.Join(l.path, "/") }

// leaves yields all of v, valid JSON, in its order. A name that stands twice is yielded
// twice. A path is valid until yield returns.
func leaves(v json.RawMessage) iter.Seq[leaf] {
	return func(yield func(leaf) bool) { walk(nil, v, yield) }
}

func walk(path []string, v json.RawMessage, yield func(leaf) bool) bool {
	empty := true
	switch v[0] {
	case '{':
		for name, member := range rawjson.Members(v) {
			if empty = false; name == "" {
				name = `""`
			}
			if !walk(append(path, name), member, yield) {
				return false
			}
		}
	case '[':
		i := 0
		for element := range rawjson.Elements(v) {
			empty = false
			if !walk(append(path, strconv.Itoa(i)), element, yield) {
				return false
			}
			i++
		}
	}
	return !empty || yield(leaf{path, v})
}

// text returns a value for people: a string without its quotes, all else as JSON.
func (l leaf) text() string {
	if s, ok := rawjson.String(l.value); ok {
		return s
	}
	return string(l.value)
}

// shown returns text of others on one line: what cannot be seen is written as an escape. Of
// what is longer than limit characters the middle is left out: "…" stands for the cut ones.
func shown(text string, limit int) (s string, cut int) {
	head, tail := text, ""
	if n := utf8.RuneCountInString(text); n > limit {
		cut = n - limit
		head, tail = text[:runes(text, limit-limit/2)], text[runes(text, n-limit/2):]
	}
	s = clean(head)
	if cut > 0 {
		s += "…" + clean(tail)
	}
	return s, cut
}

// line is shown for a name or a title.
func line(text string) string {
	s, _ := shown(text, maxName)
	return s
}

func clean(text string) string {
	text = describe.Visible(text)
	return describe.Clean(text, len(text)*utf8.UTFMax)
}

// runes returns where the nth character of text begins.
func runes(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}
