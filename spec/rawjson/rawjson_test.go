package rawjson

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"
)

var samples = []string{
	`{}`, `[]`, `null`, `true`, `false`, `0`, `-0`, `-`, `01`, `1.`, `1.5e+10`, `1e`, `.5`, `+1`, `1e5x`, `tru`, `nulll`,
	`"a"`, `"`, `"\u00e9\ud83d\ude00\ud800x"`, `"\x"`, `"\u12"`, "\"a\nb\"", "\"\xff\"", "\"é漢😀\"", "\"\xed\xa0\x80\"", "\"\xf0\x9f\"",
	` { "a" : [ 1 , 2 , { } ] , "a" : "x\"y\\" , "b" : null } `, `{"a":1,}`, `[1,]`, `[,1]`, `{"a"}`, `{a:1}`, `{"a":1]`, `[1}`, `[[[]]]`, `{"a":{"b":{"c":[1,2]}}}`, `[1] 2`, ``, ` `, `[`, `{`, `{"a`, `{"a"`, `{"a":`, `{"a":1`,
	`"0123456789012345678901234567890123456789"`, `"01234567\\"`, `"0123456\""`, `123456789012345678901234567890.5`, "\"\\u2028\u2028\"",
}

func FuzzRawJSON(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		err := Valid(b, 10_000)
		want := json.Valid(b) && utf8.Valid(b)
		if (err == nil) != want {
			t.Fatalf("Valid(%q) = %v, want valid=%v", b, err, want)
		}
		Get(b, "a", "b")
		String(b)
		Compact(nil, b)
		got, decodeErr := Decode(b)
		if (decodeErr == nil) != want {
			t.Fatalf("Decode(%q): %v, want valid=%v", b, decodeErr, want)
		}
		if !want {
			return
		}
		var v any
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, v) {
			t.Fatalf("Decode(%q) = %#v, want %#v", b, got, v)
		}
		var compact bytes.Buffer
		json.Compact(&compact, b)
		if got := Compact(nil, b); !bytes.Equal(got, compact.Bytes()) {
			t.Fatalf("Compact(%q) = %q, want %q", b, got, compact.Bytes())
		}
		switch v := v.(type) {
		case string:
			if s, ok := String(b); !ok || s != v {
				t.Fatalf("String(%q) = %q, %v", b, s, ok)
			}
		case map[string]any:
			last := map[string]json.RawMessage{}
			if err := Object(b, 10_000, func(k string, raw json.RawMessage) error { last[k] = raw; return nil }); err != nil {
				t.Fatal(err)
			}
			if len(last) != len(v) {
				t.Fatalf("Object(%q) saw %d members, want %d", b, len(last), len(v))
			}
			for k, raw := range last {
				if got, err := Decode(raw); err != nil || !reflect.DeepEqual(got, v[k]) {
					t.Fatalf("Object(%q)[%q] = %q", b, k, raw)
				}
				if got := Get(b, k); !bytes.Equal(got, raw) {
					t.Fatalf("Get(%q, %q) = %q, want %q", b, k, got, raw)
				}
			}
		case []any:
			n := 0
			if err := Array(b, 10_000, func(raw json.RawMessage) error {
				if got, err := Decode(raw); err != nil || !reflect.DeepEqual(got, v[n]) {
					t.Fatalf("Array(%q)[%d] = %q", b, n, raw)
				}
				n++
				return nil
			}); err != nil || n != len(v) {
				t.Fatalf("Array(%q): %v, %d elements", b, err, n)
			}
		}
	})
}
