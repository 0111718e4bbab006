package item

import (
	"strings"

	"tabhub/spec/rawjson"
)

// Says reports whether a word, in lower case, is in the item's name, title or description.
func (it *Item) Says(word string) bool { return strings.Contains(it.said(), word) }

// said returns these texts in lower case. The first call collects them, since most items are never
// searched.
func (it *Item) said() string {
	if s := it.words.Load(); s != nil {
		return *s
	}
	var b strings.Builder
	for key, v := range rawjson.Members(it.Definition()) {
		switch key {
		case "name", "uri", "uriTemplate", "title", "description":
			text, _ := rawjson.String(v)
			b.WriteString(strings.ToLower(text))
			b.WriteByte('\n')
		}
	}
	said := b.String()
	it.words.Store(&said)
	return said
}
