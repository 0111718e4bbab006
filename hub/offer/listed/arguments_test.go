package listed

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"tabhub/hub/offer/schema"
	"tabhub/spec/rawjson"
)

// What clients name otherwise, or send as text, reaches the page as it wants it.
func TestArguments(t *testing.T) {
	const object = `{"type":"object","properties":`
	form := object + `{"user[email]":{"type":"string"},"tags[]":{"type":"array","items":` + object + `{"a b":{"type":"integer"}}}},"a_b":{"type":"string"}},"required":["user[email]"],"additionalProperties":false}`
	texts := object + `{"items":{"type":"array","items":` + object + `{"n":{"type":"integer"}}}},"n":{"type":"integer"},"b":{"type":"boolean"},"o":{"type":"object"},"s":{"type":"string"},"either":{"anyOf":[{"type":"string"},{"type":"array"}]},"choice":{"anyOf":[{"type":"array"},{"type":"null"}]},"level":{"enum":[1,2]},"code":{"type":"string","pattern":"^[A-Z]$"}}}`
	for _, c := range []struct{ schema, args, want, notes string }{ // want: JSON, or what the error says
		{form, `{"user_email":"a@b.c","tags":[{"a_b_2":1}],"a_b":"x"}`, `{"a_b":"x","tags[]":[{"a b":1}],"user[email]":"a@b.c"}`, ""},
		{form, `{"user[email]":"a@b.c"}`, `{"user[email]":"a@b.c"}`, ""},
		{form, `{"user_email":"a","user[email]":"b"}`, `/user_email: is the same argument as "user[email]"`, ""},
		{form, `{}`, `/user_email: is required`, ""},
		{form, `{"user_email":"a","tags":[{"a_b_2":"x"}]}`, `/tags/0/a_b_2: must be integer, got string`, ""},
		{form, `{"user_email":"a","no":1}`, `/no: is not a known member; known are a_b, tags, user_email`, ""},

		{texts, `{"items":"[{\"n\":1}]"}`, `{"items":[{"n":1}]}`, "/items: given as text, taken as array"},
		{texts, `{"items":"[{\"n\":\"1\"}]","b":" true "}`, `{"b":true,"items":[{"n":1}]}`, "/b: given as text, taken as boolean; /items: given as text, taken as array; /items/0/n: given as text, taken as number"},
		{texts, `{"n":"5","s":"5"}`, `{"n":5,"s":"5"}`, "/n: given as text, taken as number"},
		{texts, `{"n":"5.5"}`, `/n: must be integer, got string`, ""},
		{texts, `{"n":"five"}`, `/n: must be integer, got string`, ""},
		{texts, `{"o":"","n":" "}`, `{}`, "/n: an empty text, taken as left out; /o: an empty text, taken as left out"},
		{texts, `{"either":"[1]"}`, `{"either":"[1]"}`, ""},
		{texts, `{"choice":"[1]"}`, `{"choice":[1]}`, "/choice: given as text, taken as array"},
		{texts, `{"choice":"null"}`, `{"choice":null}`, "/choice: given as text, taken as null"},
		{texts, `{"level":"2"}`, `{"level":2}`, "/level: given as text, taken as number"},
		{texts, `{"level":"3"}`, `/level: must be one of 1, 2, got "3"`, ""},
		{texts, `"{\"n\":5}"`, `{"n":5}`, "the arguments: given as text, taken as object"},
		{texts, `"five"`, `arguments: must be object, got string`, ""},
		{texts, ` {"n": 9007199254740993}`, ` {"n": 9007199254740993}`, ""}, // the same bytes
		{texts, `{"n":"9007199254740993","code":"ab"}`, `/code: must match the pattern`, "/n: given as text, taken as number"},
	} {
		s := mustCompile(t, c.schema)
		got, notes, err := s.Arguments(json.RawMessage(c.args), Input(json.RawMessage(c.schema)).Names, true)
		if text := strings.Join(notes, "; "); text != c.notes {
			t.Errorf("%s: said %q, want %q", c.args, text, c.notes)
		}
		if strings.ContainsAny(c.want[:1], "{ ") {
			if err != nil || string(got) != c.want {
				t.Errorf("%s: %s, %v, want %s", c.args, got, err, c.want)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
	// What a value only misses, it misses for the page, too: in the form that the page takes.
	got, _, err := mustCompile(t, texts).Arguments(json.RawMessage(`{"n":"1","code":"ab"}`), nil, true)
	if v, ok := errors.AsType[*schema.Violations](err); !ok || !v.Lenient || string(got) != `{"code":"ab","n":1}` {
		t.Errorf("%s, %v", got, err)
	}
	// Where nothing is checked, only names change.
	got, _, err = mustCompile(t, form).Arguments(json.RawMessage(`{"tags":"x","user_email":1}`), Input(json.RawMessage(form)).Names, false)
	if err != nil || string(got) != `{"tags[]":"x","user[email]":1}` {
		t.Errorf("unchecked: %s, %v", got, err)
	}
}

// Whatever the schema, arguments are renamed to what it knows or refused, and stay JSON.
func FuzzArguments(f *testing.F) {
	for i := range 50 {
		g := &generator{Rand: rand.New(rand.NewPCG(uint64(i), 2))}
		f.Add(g.tool(), g.object(g.schema))
	}
	f.Fuzz(func(t *testing.T, raw, args string) {
		s, err := new(schema.Cache).Compile([]byte(raw))
		if err != nil || raw[0] != '{' || rawjson.Valid([]byte(args), 100) != nil {
			return
		}
		got, _, err := s.Arguments(json.RawMessage(args), Input(json.RawMessage(raw)).Names, true)
		if err == nil && rawjson.Valid(got, 200) != nil {
			t.Fatalf("%s\n%s\nbecomes %s", raw, args, got)
		}
	})
}

func mustCompile(t *testing.T, raw string) *schema.Schema {
	t.Helper()
	s, err := new(schema.Cache).Compile(json.RawMessage(raw))
	if err != nil {
		t.Fatalf("Compile(%.200s): %v", raw, err)
	}
	return s
}
