package describe

import (
	"unicode"
	"unicode/utf8"
)

// Characters that show nothing themselves and still belong to how people write.
const (
	zwnj = '\u200c' // keeps two letters apart: Persian, Indic scripts
	zwj  = '\u200d' // joins two letters or two emoji
	vs15 = '\ufe0e' // the symbol before it as text
	vs16 = '\ufe0f' // the symbol before it as an emoji
)

// Hidden reports whether a reader does not see r, or is made to see something else
// than what is there:
//
//   - control characters, those of C1 and the delete character included; they steer a
//     terminal
//   - format characters: bidirectional marks, embeddings, overrides and isolates,
//     zero-width characters, tags (U+E0000 to U+E007F), interlinear annotations, the
//     soft hyphen; but not the number signs of Arabic, Syriac and Kaithi, which show
//   - variation selectors, also those from U+E0100 on
//   - the rest of Unicode's Default_Ignorable_Code_Point, such as the Hangul fillers
//   - the line and the paragraph separator, and noncharacters
//
// The line feed and the tab are hidden by this definition; functions for text of
// several lines let them be. So is what joins letters and emoji, U+200C, U+200D,
// U+FE0E and U+FE0F, which Clean and CleanLines leave where writing needs it.
func Hidden(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case r >= 0xa0 && r < 0x34f && r != '\u00ad', r >= 0x2070 && r < 0xfdd0 && r != '\u3164', r >= 0x1f000 && r < 0x1fb00:
		return false // most of what is written, without a search
	}
	return isHidden(r)
}

func isHidden(r rune) bool {
	return unicode.In(r, hidden...) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

var hidden = []*unicode.RangeTable{
	unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector,
	unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point,
}

// isJoiner reports whether r is one of the characters that stay where writing needs
// them.
func isJoiner(r rune) bool { return r == zwnj || r == zwj || r == vs15 || r == vs16 }

// joins reports whether a joiner between two characters does what it is made for. So
// at most one stays between two characters that show, and text cannot be written
// with joiners alone.
func joins(before, joiner, after rune) bool {
	switch joiner {
	case vs15, vs16:
		return isSymbol(before)
	case zwj:
		if (isSymbol(before) || before == vs16 || before >= 0x1f3fb && before <= 0x1f3ff) && isSymbol(after) {
			return true
		}
	}
	return unicode.In(before, joined...) && unicode.In(after, joined...)
}

// isSymbol reports whether r may be an emoji, or be shown as one.
func isSymbol(r rune) bool {
	switch r {
	case '#', '*', '‼', '⁉', '〰':
		return true
	case utf8.RuneError:
		return false
	}
	return r >= '0' && r <= '9' || r >= utf8.RuneSelf && unicode.In(r, unicode.So, unicode.Sm)
}

// joined are the scripts whose letters take other forms beside one another.
var joined = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
	unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
	unicode.Tibetan, unicode.Myanmar, unicode.Khmer, unicode.Balinese, unicode.Javanese,
}

// maxTolerated is how many tolerated characters may stand side by side in data: an
// emoji's selector and the joiner after it.
const maxTolerated = 2

// Forbidden returns the first hidden character that must not be in a string which
// cannot be cleaned, because a program compares it: a name, a key, a value to choose.
// ok is false if there is none. Line ends, tabs, joiners, the soft hyphen and the
// marks U+061C, U+200E and U+200F are tolerated there, the latter up to two side by
// side, since they occur in names that people have written.
func Forbidden(s string) (r rune, ok bool) {
	run := 0
	for _, r := range s {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || !Hidden(r):
			run = 0
			continue
		case isJoiner(r), r == '\u00ad', r == '\u061c', r == '\u200e', r == '\u200f':
			if run++; run <= maxTolerated {
				continue
			}
		}
		return r, true
	}
	return 0, false
}
