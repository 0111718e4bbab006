package describe

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"tabhub/spec/rawjson"
)

// JSON in which hidden characters are escaped says the same as with the characters.
func TestCleanJSON(t *testing.T) {
	for _, c := range []struct{ v, want string }{
		{`"plain \"text\" \\u202e é \u00e9 \/ \n\t"`, `"plain \"text\" \\u202e é \u00e9 \/ \n\t"`},
		{`"a\u202eb"`, `"ab"`},
		{"\"a\u202eb\"", `"ab"`},
		{`"a\udb40\udc41b"`, `"ab"`},
		{`"a\uDB40\uDC41b😀\ud83d\ude00"`, `"ab😀😀"`},
		{`"\u001b[2J\u009b\b\f\r\u007f"`, `"[2J"`},
		{"\"\u007f\"", `""`},
		{`{"k\u200b":[1.50,{"x":"\u2066y\u2069"},null,"é"] , "n":1e2}`, `{"k":[1.50,{"x":"y"},null,"é"],"n":1e2}`},
		{`["a\u2028b"]`, `["a\nb"]`},
		{`"می\u200cخواهم"`, "\"می\u200cخواهم\""},
		{`12345678901234567890`, `12345678901234567890`},
	} {
		if got := string(CleanJSON(json.RawMessage(c.v))); got != c.want {
			t.Errorf("CleanJSON(%s) = %s, want %s", c.v, got, c.want)
		}
	}
}

func TestVisibleJSON(t *testing.T) {
	for v, want := range map[string]string{
		`{"a":"\u001b é 😀"}`:                                   `{"a":"\u001b é 😀"}`,
		"{\"a\u202e\":\"\u007f\u0085\u009b\U000e0041\u2028\"}": `{"a\u202e":"\u007f\u0085\u009b\udb40\udc41\u2028"}`,
		"{\r\n\t\"a\":\"\u202e\"}":                             "{ \n\t\"a\":\"\\u202e\"}",
	} {
		if got := string(VisibleJSON([]byte(v))); got != want {
			t.Errorf("VisibleJSON(%s) = %s, want %s", v, got, want)
		}
	}
}

// What goes to a terminal must neither move its cursor nor set its clipboard.
func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain\n\ttext é 漢字 👨\u200d👩":           "plain\n\ttext é 漢字 👨\u200d👩",
		"\x1b]52;c;ZXZpbA==\x07":                `\x1b]52;c;ZXZpbA==\a`,
		"\r\b\v\f\x00\x7f":                      `\r\b\v\f\x00\x7f`,
		"one\r\ntwo\r\r\n":                      "one\ntwo\\r\n",
		"\u0085\u009b2J\u009d":                  `\u0085\u009b2J\u009d`,
		"\x9b2J \xff ok":                        `\x9b2J \xff ok`,
		"pay\u202eto\u2066me\U000e0041\u200b\n": `pay\u202eto\u2066me\U000e0041\u200b` + "\n",
		"\ufffd":                                "\ufffd",
	} {
		if got := Visible(text); got != want {
			t.Errorf("Visible(%q) = %q, want %q", text, got, want)
		}
	}
}

// FuzzJSON: valid JSON stays valid, loses what is hidden and nothing else.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"a\u202e":["\udb40\udc41x\u200d",1.0,{"b":null}],"":""}`, "\"\u009b\u2028\ufeff é\"", `"\ud800"`, `"\\u202e\""`, `[`, "\"\\u200", `{"a":1,"a":"\r"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, v []byte) {
		hides := HidesInJSON(v) // whatever it is given
		if got := Visible(string(v)); strings.ContainsFunc(got, steers) || !utf8.ValidString(got) {
			t.Fatalf("Visible(%q) = %q", v, got)
		}
		if rawjson.Valid(v, 100) != nil {
			return
		}
		before, _ := decode(v)
		shown := VisibleJSON(v)
		after, err := decode(shown)
		if err != nil || !reflect.DeepEqual(before, after) || strings.ContainsFunc(string(shown), steers) {
			t.Fatalf("VisibleJSON(%q) = %q, %v", v, shown, err)
		}
		v = []byte(strings.TrimSpace(string(v)))
		clean := CleanJSON(v)
		after, err = decode(clean)
		want, same := cleaned(before)
		if err != nil || same && !reflect.DeepEqual(want, after) {
			t.Fatalf("CleanJSON(%q) = %q, %v", v, clean, err)
		}
		if !hides && (string(clean) != string(v) || !reflect.DeepEqual(want, before)) {
			t.Fatalf("%q hides something", v)
		}
	})
}

func decode(b []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// cleaned is what CleanJSON must make of a decoded value. ok is false if two names of
// an object become one.
func cleaned(v any) (clean any, ok bool) {
	ok = true
	below := func(v any) any {
		clean, fine := cleaned(v)
		ok = ok && fine
		return clean
	}
	switch v := v.(type) {
	case string:
		return CleanLines(v, math.MaxInt), true
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = below(e)
		}
		return out, ok
	case map[string]any:
		out := map[string]any{}
		for key, e := range v {
			out[CleanLines(key, math.MaxInt)] = below(e)
		}
		return out, ok && len(out) == len(v)
	}
	return v, true
}
