package describe

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const ellipsis = "…"

// Clean returns text in at most limit bytes without what a reader cannot see: control
// and format characters (bidirectional overrides, zero-width characters, tags),
// variation selectors and other invisible ones are removed, each run of white space,
// line ends included, becomes one space, and none is left at the ends. Invalid UTF-8
// becomes U+FFFD. Longer text is cut between two characters and ends in "…".
func Clean(text string, limit int) string {
	if len(text) <= limit && isClean(text) {
		return text
	}
	var b strings.Builder
	b.Grow(max(0, min(len(text), limit)))
	cut := 0 // the length of the longest part that leaves room for the ellipsis
	gap := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			gap = b.Len() > 0
			continue
		case invisible(r):
			continue
		}
		size := utf8.RuneLen(r)
		if gap {
			size++
		}
		if b.Len()+size > limit {
			if limit < len(ellipsis) {
				return ""
			}
			return b.String()[:cut] + ellipsis
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(r)
		if b.Len()+len(ellipsis) <= limit {
			cut = b.Len()
		}
	}
	return b.String()
}

// CleanLines is Clean for text of several lines: white space stays as it is, but for
// control characters other than the line feed and the tab.
func CleanLines(text string, limit int) string {
	if len(text) <= limit && isPlain(text) {
		return text
	}
	var b strings.Builder
	b.Grow(max(0, min(len(text), limit)))
	cut := 0 // the length of the longest part that leaves room for the ellipsis
	for _, r := range text {
		if r != '\n' && r != '\t' && invisible(r) {
			continue
		}
		if b.Len()+utf8.RuneLen(r) > limit {
			if limit < len(ellipsis) {
				return ""
			}
			return b.String()[:cut] + ellipsis
		}
		b.WriteRune(r)
		if b.Len()+len(ellipsis) <= limit {
			cut = b.Len()
		}
	}
	return b.String()
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

// invisible reports whether r, no space, shows nothing by itself.
func invisible(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.Is(unicode.Cc, r) ||
		// Arabic and other number signs are format characters that do show.
		unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
