package describe

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

// A character that is missing here is one with which a page can write to a model, or
// to a terminal, what its user does not see.
func TestHidden(t *testing.T) {
	for _, r := range []rune{
		0, '\a', '\b', '\r', '\x1b', 0x7f, 0x80, 0x85, 0x9b, 0x9d, // controls
		'\u200e', '\u200f', '\u061c', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069', // bidirectional
		'\u00ad', '\u034f', '\u115f', '\u1160', '\u17b4', '\u180b', '\u180e', '\u200b', '\u2060', '\u2061', '\u2064', '\u206a', '\u3164', '\ufeff', '\uffa0',
		zwnj, zwj, vs15, vs16, '\ufe00', 0xe0100, 0xe01ef,
		0xe0000, 0xe0001, 0xe0020, 0xe0041, 0xe007f, 0xe0080, 0xe0fff, // tags, and what is reserved beside them
		'\ufff0', '\ufff9', '\ufffa', '\ufffb', '\u2028', '\u2029', 0x1bca0, 0x1d173,
		'\ufdd0', '\ufdef', '\ufffe', '\uffff', 0x1fffe, 0x10ffff,
	} {
		if !Hidden(r) {
			t.Errorf("%U counts as shown", r)
		}
	}
	for _, r := range " ~é\u00a0\u0600\u06dd\u0301ة字한ท\ufffd\ue000😀" {
		if Hidden(r) {
			t.Errorf("%U counts as hidden", r)
		}
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= utf8.RuneSelf && Hidden(r) != isHidden(r) {
			t.Errorf("%U: the short way says %t", r, Hidden(r))
		}
		if unicode.Is(unicode.Bidi_Control, r) && !Hidden(r) || unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) && Hidden(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
			t.Errorf("%U: hidden is %t", r, Hidden(r))
		}
	}
}

// Persian words, Indic conjuncts and emoji of several parts are what people write;
// the same characters elsewhere are a code.
func TestJoiners(t *testing.T) {
	for text, want := range map[string]string{
		"می\u200cخواهم":                      "می\u200cخواهم",
		"क्\u200dष":                          "क्\u200dष",
		"👨\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f⃣":   "👨\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f⃣",
		"👩🏽\u200d🚀🏳\ufe0f\u200d🌈":            "👩🏽\u200d🚀🏳\ufe0f\u200d🌈",
		"☺\ufe0e":                            "☺\ufe0e",
		"a\u200db\u200cc\ufe0fd":             "abcd",
		"☺\ufe0e\ufe0f\ufe0e":                "☺\ufe0e",
		"می\u200c\u200d\u200cخواهم":          "می\u200cخواهم",
		"👨\u200d\u200b👩":                     "👨👩",
		"\u200d\ufe0f\u200c":                 "",
		"👨\u200d":                            "👨",
		"🏴\U000e0067\U000e0062\U000e007f ok": "🏴 ok",
	} {
		if got := Clean(text, 999); got != want {
			t.Errorf("Clean(%+q) = %+q, want %+q", text, got, want)
		}
		if got := CleanLines(text, 999); got != want {
			t.Errorf("CleanLines(%+q) = %+q, want %+q", text, got, want)
		}
	}
}

func TestForbidden(t *testing.T) {
	for s, want := range map[string]rune{
		"plain name, ok":                    0,
		"lines\r\nand\ttabs":                0,
		"می\u200cخواهم \u200fعربي\u200e":    0,
		"🏳\ufe0f\u200d🌈 Donau\u00addampfer": 0,
		"a\u202eb":                             '\u202e',
		"a\x1b[2J":                             '\x1b',
		"a\u009b2J":                            '\u009b',
		"que\U000e0041ry":                      0xe0041,
		"zero\u200bwidth":                      '\u200b',
		"a\ufeff":                              '\ufeff',
		"\u200d\u200c\u200d a code of joiners": '\u200d',
		"\u200e\u200e\u200e":                   '\u200e',
		"a\U000e0101":                          0xe0101,
	} {
		if r, ok := Forbidden(s); r != want || ok != (want != 0) {
			t.Errorf("Forbidden(%+q) = %U, %t, want %U", s, r, ok, want)
		}
	}
}
