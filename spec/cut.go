package spec

import (
	"strings"
	"unicode/utf8"
)

// maxWireTitle is how long a title may be in a message; the hub cuts it to MaxTitle.
const maxWireTitle = 4096

// Cut shortens a URL or title that is too long.
func (m *Register) Cut() {
	m.TabURL = cutURL(m.TabURL)
	m.Title = cutText(m.Title, maxWireTitle)
}

// Cut shortens a URL or title that is too long.
func (m *TabState) Cut() {
	if m.URL != nil {
		*m.URL = cutURL(*m.URL)
	}
	if m.Title != nil {
		*m.Title = cutText(*m.Title, maxWireTitle)
	}
}

// cutURL shortens a URL that is too long to one that still names the page: without
// fragment and query. It is "" if even that is too long.
func cutURL(u string) string {
	for _, sep := range []string{"#", "?"} {
		if len(u) <= MaxURI {
			return u
		}
		u, _, _ = strings.Cut(u, sep)
	}
	if len(u) > MaxURI {
		return ""
	}
	return u
}

// cutText cuts s to at most n bytes, between runes.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
