package describe

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const ellipsis = "…"

// Clean returns text in at most limit bytes without what a reader cannot see: hidden
// characters are removed, but for joiners between what they join; each run of white
// space, line ends included, becomes one space, and none is left at the ends. Invalid
// UTF-8 becomes U+FFFD. Longer text is cut between two characters and ends in "…".
func Clean(text string, limit int) string {
	if len(text) <= limit && isClean(text) {
		return text
	}
	w := writer{limit: limit}
	w.b.Grow(max(0, min(len(text), limit)))
	gap := false
	for i, r := range text {
		switch {
		case unicode.IsSpace(r):
			gap = w.b.Len() > 0
			continue
		case gap && !Hidden(r):
			// The space and what follows it come together, so that none ends the text.
			if !w.fits(1 + utf8.RuneLen(r)) {
				return w.end()
			}
			w.add(' ', "")
			gap = false
		case gap:
			continue
		}
		if !w.add(r, text[i:]) {
			return w.end()
		}
	}
	return w.b.String()
}

// CleanLines is Clean for text of several lines: white space stays as it is, but for
// control characters other than the line feed and the tab. A line or paragraph
// separator becomes a line feed.
func CleanLines(text string, limit int) string {
	if len(text) <= limit && isPlain(text) {
		return text
	}
	w := writer{limit: limit}
	w.b.Grow(max(0, min(len(text), limit)))
	for i, r := range text {
		if r == '\u2028' || r == '\u2029' {
			r = '\n'
		}
		if !w.add(r, text[i:]) {
			return w.end()
		}
	}
	return w.b.String()
}

// writer collects what of a text can be seen.
type writer struct {
	b     strings.Builder
	limit int
	last  rune
	cut   int // the length of the longest part that leaves room for the ellipsis
}

func (w *writer) fits(size int) bool { return w.b.Len()+size <= w.limit }

// add appends r, with which rest begins, if it is to be seen. It reports whether
// there is room for it.
func (w *writer) add(r rune, rest string) bool {
	if r != '\n' && r != '\t' && Hidden(r) {
		if !isJoiner(r) {
			return true
		}
		after, _ := utf8.DecodeRuneInString(rest[utf8.RuneLen(r):])
		if !joins(w.last, r, after) {
			return true
		}
	}
	if !w.fits(utf8.RuneLen(r)) {
		return false
	}
	w.b.WriteRune(r)
	w.last = r
	if w.fits(len(ellipsis)) && r != ' ' && r != zwj && r != zwnj {
		w.cut = w.b.Len()
	}
	return true
}

// end returns the text cut short.
func (w *writer) end() string {
	if w.limit < len(ellipsis) {
		return ""
	}
	return w.b.String()[:w.cut] + ellipsis
}

// isPlain reports whether text is ASCII that CleanLines would not change.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// isClean reports whether text is plain ASCII that Clean would not change.
func isClean(text string) bool {
	space := true
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' || c == ' ' && space {
			return false
		}
		space = c == ' '
	}
	return !space || text == ""
}
