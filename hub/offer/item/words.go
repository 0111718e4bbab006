package item

import (
	"strings"

	"tabhub/spec/rawjson"
)

// Says reports whether a word, in lower case, is in what the page calls the item or says of
// it.
func (it *Item) Says(word string) bool { return strings.Contains(it.said(), word) }

// said returns the item's texts in lower case. They are collected when they are asked for
// first, since most items are never searched for.
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
