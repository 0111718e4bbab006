package describe

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Visible returns text, which may be anything, so that it can be printed on a
// terminal: hidden characters are written as in Go, as \x1b or \u202e, and so are
// bytes that are not UTF-8. Line feeds, tabs and joiners stay; a line end of two
// characters becomes a line feed.
func Visible(text string) string {
	if !hidesRaw(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	for i, r := range text {
		switch {
		case r == utf8.RuneError && isByte(text[i:]):
			b.WriteString(`\x` + strconv.FormatUint(uint64(text[i]), 16))
		case r == '\r' && strings.HasPrefix(text[i+1:], "\n"):
		case steers(r):
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isByte reports whether text begins with a byte that is not UTF-8.
func isByte(text string) bool {
	_, size := utf8.DecodeRuneInString(text)
	return size == 1
}

// steers reports whether r is to be shown as an escape.
func steers(r rune) bool { return r != '\n' && r != '\t' && Hidden(r) && !isJoiner(r) }

// hidesRaw reports whether text holds anything that Visible shows as an escape.
func hidesRaw(text string) bool {
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c <= '~' || c == '\n' || c == '\t' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if steers(r) || r == utf8.RuneError && size == 1 {
			return true
		}
		i += size
	}
	return false
}
