package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var samples = []string{
	`{}`, `[]`, `null`, `true`, `false`, `0`, `-0`, `-`, `01`, `1.`, `1.5e+10`, `1e`, `.5`, `+1`, `1e5x`, `tru`, `nulll`,
	`"a"`, `"`, `"\u00e9\ud83d\ude00\ud800x"`, `"\x"`, `"\u12"`, "\"a\nb\"", "\"\xff\"", "\"é漢😀\"", "\"\xed\xa0\x80\"", "\"\xf0\x9f\"",
	` { "a" : [ 1 , 2 , { } ] , "a" : "x\"y\\" , "b" : null } `, `{"a":1,}`, `[1,]`, `[,1]`, `{"a"}`, `{a:1}`, `{"a":1]`, `[1}`, `[[[]]]`, `{"a":{"b":{"c":[1,2]}}}`, `[1] 2`, ``, ` `, `[`, `{`, `{"a`, `{"a"`, `{"a":`, `{"a":1`,
	`"0123456789012345678901234567890123456789"`, `"01234567\\"`, `"0123456\""`, `123456789012345678901234567890.5`, "\"\\u2028\u2028\"",
}

func FuzzAgainstEncodingJSON(f *testing.F) {
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
		for range Members(b) {
		}
		for range Elements(b) {
		}
		String(b)
		Compact(nil, b)
		walked := countByCursor(Over(b))
		WellFormed(b)
		got, decodeErr := Decode(b)
		if (decodeErr == nil) != want {
			t.Fatalf("Decode(%q): %v, want valid=%v", b, decodeErr, want)
		}
		if !want {
			// A damaged frame must never be taken for a smaller whole one.
			if Object(b, 10_000, func(string, json.RawMessage) error { return nil }) == nil ||
				Array(b, 10_000, func(json.RawMessage) error { return nil }) == nil {
				t.Fatalf("Object or Array accepts %q", b)
			}
			return
		}
		var v any
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(plainValue(got), v) {
			t.Fatalf("Decode(%q) = %#v, want %#v", b, got, v)
		}
		if n := countMembers(b); walked != n {
			t.Fatalf("a Cursor over %q met %d members, want %d", b, walked, n)
		}
		wellFormed, err := Decode(WellFormed(b))
		if err != nil || !reflect.DeepEqual(plainValue(wellFormed), v) || bytes.Contains(b, []byte(`\u`)) && holdsHalf(WellFormed(b)) {
			t.Fatalf("WellFormed(%q) = %q, %v", b, WellFormed(b), err)
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
			for k, raw := range Members(b) {
				if _, ok := v[k]; !ok || Valid(raw, 10_000) != nil {
					t.Fatalf("Members(%q) yields %q: %q", b, k, raw)
				}
			}
			for k, raw := range last {
				if got, err := Decode(raw); err != nil || !reflect.DeepEqual(plainValue(got), v[k]) {
					t.Fatalf("Object(%q)[%q] = %q", b, k, raw)
				}
				if got := Get(b, k); !bytes.Equal(got, raw) {
					t.Fatalf("Get(%q, %q) = %q, want %q", b, k, got, raw)
				}
			}
		case []any:
			n := 0
			if err := Array(b, 10_000, func(raw json.RawMessage) error {
				if got, err := Decode(raw); err != nil || !reflect.DeepEqual(plainValue(got), v[n]) {
					t.Fatalf("Array(%q)[%d] = %q", b, n, raw)
				}
				n++
				return nil
			}); err != nil || n != len(v) {
				t.Fatalf("Array(%q): %v, %d elements", b, err, n)
			}
			for raw := range Elements(b) {
				if Valid(raw, 10_000) != nil {
					t.Fatalf("Elements(%q) yields %q", b, raw)
				}
				n--
			}
			if n != 0 {
				t.Fatalf("Elements(%q) yields another number", b)
			}
		}
	})
}

// plainValue returns v as encoding/json decodes it, numbers as json.Number.
func plainValue(v Value) any {
	switch v.Kind {
	case KindBool:
		return v.Text == "true"
	case KindNumber:
		return json.Number(v.Text)
	case KindString:
		return v.Text
	case KindArray:
		all := []any{}
		for _, e := range v.Elements {
			all = append(all, plainValue(e))
		}
		return all
	case KindObject:
		all := map[string]any{}
		for _, m := range v.Members {
			all[m.Name] = plainValue(m.Value)
		}
		return all
	}
	return nil
}

// countMembers returns the number of members at all depths.
func countMembers(b []byte) (n int) {
	for _, v := range Members(b) {
		n += 1 + countMembers(v)
	}
	for e := range Elements(b) {
		n += countMembers(e)
	}
	return n
}

// countByCursor is countMembers for what begins where c stands, past which it then stands.
func countByCursor(c *Cursor) (n int) {
	switch c.First() {
	case '{':
		for _, ok := c.Key(); ok; _, ok = c.Key() {
			n += 1 + countByCursor(c)
		}
	case '[':
		for c.Element() {
			n += countByCursor(c)
		}
	default:
		c.Skip()
	}
	return n
}

// holdsHalf reports whether a string in b holds half of a surrogate pair, by its escapes.
func holdsHalf(b []byte) bool {
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		if b[i+1] != 'u' {
			i++
			continue
		}
		r, _ := hex4(b[i+2:])
		if r >= 0xd800 && r < 0xe000 {
			if r, size := pair(r, b[i:]); r == utf8.RuneError || size != 12 {
				return true
			}
			i += 6
		}
		i += 5
	}
	return false
}

func TestCursor(t *testing.T) {
	c := Over([]byte(` { "a" : [ 1 , {"\u0062":"}"} ] , "c":{} } `))
	next := func(want string) {
		t.Helper()
		if key, ok := c.Key(); key != want || ok != (want != "") {
			t.Fatalf("the next name is %q, want %q", key, want)
		}
	}
	next("a")
	if !c.Element() || string(c.Skip()) != "1" || !c.Element() {
		t.Fatal("the elements are not found")
	}
	next("b")
	if v := c.Skip(); string(v) != `"}"` {
		t.Fatalf("the value is %s", v)
	}
	next("")
	if c.Element() {
		t.Fatal("an element too many")
	}
	next("c")
	next("")
	next("")
}

func TestWellFormed(t *testing.T) {
	for v, want := range map[string]string{
		`"plain \n \\ud800"`:                         `"plain \n \\ud800"`,
		`"cut \ud83d here"`:                          `"cut \ufffd here"`,
		`{"\uDC00":["\ud83d\ude00","\ud83d\ud83d"]}`: `{"\ufffd":["\ud83d\ude00","\ufffd\ufffd"]}`,
		`"\\\ud83d"`:                                 `"\\\ufffd"`,
		`"\u0041\ude00\ud83d\ude00\ud83d"`:           `"\u0041\ufffd\ud83d\ude00\ufffd"`,
	} {
		if got := string(WellFormed([]byte(v))); got != want {
			t.Errorf("%s: %s, want %s", v, got, want)
		}
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "quo\"te\\", "\x00\x1f\x7f\b\f\n\r\t", "é漢😀\u2028\u2029", "\xff\xed\xa0\x80", "0123456789abcdef\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := AppendString(nil, s)
		if err := Valid(b, 0); err != nil {
			t.Fatalf("AppendString(%q) = %q: %v", s, b, err)
		}
		// A round trip through encoding/json shows what invalid UTF-8 becomes.
		std, _ := json.Marshal(s)
		var want string
		if err := json.Unmarshal(std, &want); err != nil {
			t.Fatal(err)
		}
		if got, ok := String(b); !ok || got != want {
			t.Fatalf("String(AppendString(%q)) = %q, %v", s, got, ok)
		}
		if bytes.ContainsAny(b, "\n\r\u2028\u2029") {
			t.Fatalf("AppendString(%q) = %q has a line break", s, b)
		}
	})
}

// Each position of a special byte relative to the 8-byte words must be found.
func TestSpecialBytesAtEveryOffset(t *testing.T) {
	for n := range 40 {
		for c := range 256 {
			for _, around := range []byte{' ', '!', '~', 0x7f, '#', '[', ']'} {
				s := bytes.Repeat([]byte{around}, n)
				s = append(append(s, byte(c)), bytes.Repeat([]byte{around}, 20)...)
				b := append(append([]byte{'"'}, s...), '"')
				if got, want := Valid(b, 0) == nil, json.Valid(b) && utf8.Valid(b); got != want {
					t.Fatalf("byte %#x at %d among %q: valid %v, want %v", c, n, around, got, want)
				}
			}
		}
	}
}

func TestDepth(t *testing.T) {
	nest := func(n int) []byte {
		return []byte(strings.Repeat(`{"a":[`, n/2) + strings.Repeat(`]}`, n/2))
	}
	for _, depth := range []int{2, 64, 128, 512, 514, 1024} {
		b := nest(depth)
		if err := Valid(b, depth); err != nil {
			t.Errorf("depth %d at limit %d: %v", depth, depth, err)
		}
		if Valid(b, depth-1) == nil {
			t.Errorf("depth %d passes limit %d", depth, depth-1)
		}
		nop := func(string, json.RawMessage) error { return nil }
		if err := Object(b, depth, nop); err != nil {
			t.Errorf("Object: depth %d at limit %d: %v", depth, depth, err)
		}
		if Object(b, depth-1, nop) == nil {
			t.Errorf("Object: depth %d passes limit %d", depth, depth-1)
		}
	}
	if Array([]byte(`[]`), 0, func(json.RawMessage) error { return nil }) == nil || Valid([]byte(`1`), 0) != nil {
		t.Error("limit 0 must allow scalars only")
	}
	// A frame made of brackets must cost neither the stack nor the process.
	deep := bytes.Repeat([]byte{'['}, 8<<20)
	if Valid(deep, 1<<30) == nil {
		t.Error("unclosed brackets are valid")
	}
	if _, err := Decode(deep); err == nil {
		t.Error("Decode takes any depth")
	}
	Get(deep, "a")
}

func TestErrorsSayWhere(t *testing.T) {
	for in, want := range map[string]string{
		``:               "invalid JSON at byte 0: unexpected end",
		`{"a":1,}`:       "invalid JSON at byte 7: expected a member name",
		`{"a" 1}`:        "invalid JSON at byte 5: expected :",
		`{"a":"x` + "\n": "invalid JSON at byte 7: control character in a string",
		"[\"\xff\"]":     "invalid JSON at byte 2: invalid UTF-8",
		`[1 2]`:          "invalid JSON at byte 3: expected , or ]",
		`{} {}`:          "invalid JSON at byte 3: unexpected data after the value",
		`["\q"]`:         "invalid JSON at byte 2: invalid escape",
		`[01]`:           "invalid JSON at byte 2: expected , or ]",
		`[nul]`:          "invalid JSON at byte 1: expected null",
	} {
		if err := Valid([]byte(in), 8); err == nil || err.Error() != want {
			t.Errorf("Valid(%q) = %v, want %s", in, err, want)
		}
	}
}

func TestObjectMembersInOrder(t *testing.T) {
	var got []string
	err := Object([]byte(" { \"b\" : [1, 2] , \"a\\n\":{} ,\"b\": \"x\" } \n"), 2, func(k string, v json.RawMessage) error {
		got = append(got, k+"="+string(v))
		return nil
	})
	if want := []string{"b=[1, 2]", "a\n={}", `b="x"`}; err != nil || !slices.Equal(got, want) {
		t.Fatalf("%q, %v; want %q", got, err, want)
	}
	stop := errors.New("stop")
	if err := Object([]byte(`{"a":1,"b":?}`), 2, func(string, json.RawMessage) error { return stop }); err != stop {
		t.Fatalf("error of f is not returned: %v", err)
	}
	// A caller that appends to a value must not write into its neighbour.
	b := []byte(`{"a":1,"b":2}`)
	Object(b, 2, func(_ string, v json.RawMessage) error { _ = append(v, '!'); return nil })
	_ = append(Get(b, "a"), '!')
	if string(b) != `{"a":1,"b":2}` {
		t.Fatalf("append to a value changed the input: %s", b)
	}
}

func TestGet(t *testing.T) {
	b := []byte(` {"jsonrpc":"2.0", "params" : {"name":"x","name":"y\\\"}", "a\u0062":[{}] , "n":-1.5e3} ,"id":7} `)
	for _, c := range []struct {
		path []string
		want string
	}{
		{[]string{"id"}, "7"},
		{[]string{"params", "name"}, `"y\\\"}"`},
		{[]string{"params", "ab"}, `[{}]`},
		{[]string{"params", "n"}, `-1.5e3`},
		{[]string{"params", "n", "x"}, ""},
		{[]string{"nope"}, ""},
		{nil, string(bytes.TrimSpace(b))},
	} {
		if got := Get(b, c.path...); string(got) != c.want || (got == nil) != (c.want == "") {
			t.Errorf("Get(%q) = %q, want %q", c.path, got, c.want)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	b := envelope(1 << 10)
	var seen int
	f := func(k string, v json.RawMessage) error { seen += len(k) + len(v); return nil }
	for name, run := range map[string]func(){
		"Valid":  func() { Valid(b, 16) },
		"Object": func() { Object(b, 16, f) },
		"Get":    func() { Get(b, "params", "arguments") },
	} {
		if n := testing.AllocsPerRun(100, run); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// envelope is a tools/call whose one argument is a string of n bytes.
func envelope(n int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"website_tool_example_com_echo","arguments":{"text":"%s"}}}`, strings.Repeat("a long ASCII text ", n/18+1)[:n])
}

func BenchmarkEnvelope64K(b *testing.B) {
	msg := envelope(64 << 10)
	wide := fmt.Appendf(nil, `{"text":"%s"}`, strings.Repeat("漢字かな ", 64<<10/13))
	small := envelope(16)
	list := []byte(`[` + strings.Repeat(`{"name":"add_to_cart","inputSchema":{"type":"object","properties":{"id":{"type":"integer","minimum":-1.5}}},"n":[1,22,333,true]},`, 500) + `{}]`)
	run := func(name string, in []byte, f func()) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
	nop := func(string, json.RawMessage) error { return nil }
	run("Valid", msg, func() { Valid(msg, 512) })
	run("Object", msg, func() { Object(msg, 512, nop) })
	run("Get", msg, func() { Get(msg, "params", "arguments") })
	run("Decode", msg, func() { Decode(msg) })
	run("Compact", msg, func() { Compact(make([]byte, 0, len(msg)), msg) })
	text := string(msg)
	run("AppendString", msg, func() { AppendString(make([]byte, 0, len(msg)+99), text) })
	run("encoding-json.Valid", msg, func() { json.Valid(msg) })
	run("encoding-json.Unmarshal", msg, func() {
		var v struct {
			Method string
			Params json.RawMessage
		}
		json.Unmarshal(msg, &v)
	})
	run("Valid/wide", wide, func() { Valid(wide, 512) })
	run("Valid/small", small, func() { Valid(small, 512) })
	run("Object/small", small, func() { Object(small, 512, nop) })
	run("Get/small", small, func() { Get(small, "params", "arguments") })
	run("Cursor/small", small, func() { countByCursor(Over(small)) })
	run("Decode/small", small, func() { Decode(small) })
	run("Valid/schemas", list, func() { Valid(list, 512) })
	run("Compact/schemas", list, func() { Compact(make([]byte, 0, len(list)), list) })
	run("encoding-json.Valid/schemas", list, func() { json.Valid(list) })
}

func TestAppendMember(t *testing.T) {
	b := []byte{'{'}
	for _, m := range [][2]string{{"a", "1"}, {"", `"{"`}, {"\n", "{}"}} {
		b = AppendMember(b, m[0], []byte(m[1]))
	}
	if got := string(append(b, '}')); got != `{"a":1,"":"{","\n":{}}` {
		t.Error(got)
	}
}
