package schema

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"tabhub/spec/rawjson"
)

// Where two implementations differ, a page gets arguments that it has excluded, or none
// that it asks for.
func FuzzAgreesWithAnotherImplementation(f *testing.F) {
	args := []string{`{}`, `{"a":1}`, `{"a":"x","b":[1,2.5,"é"],"c":{"a":null}}`, `{"a":1e3,"b":true}`, `{"a":-0,"a":"\u00e9"}`, `[]`, `{"b":[]}`, `{"c":{"c":{"a":9007199254740993}}}`}
	schemas := []string{
		cart, `true`, `{}`, `{"type":"object","additionalProperties":{"type":["integer","null"]}}`,
		`{"properties":{"a":{"enum":[1,"x",null,[1]]},"b":{"type":"array","items":{"type":"number","exclusiveMinimum":0,"maximum":2.5},"minItems":1},"c":{"required":["a"],"additionalProperties":false}}}`,
		`{"properties":{"a":{"anyOf":[{"type":"string","minLength":1,"maxLength":1},{"type":"integer","minimum":-1}]}},"required":["a","b"]}`,
		`{"properties":{"a":{"allOf":[{"const":1},{}]},"c":{"properties":{"c":{"properties":{"a":{"maximum":9007199254740992}}}}}}}`,
		`{"required":["a"],"additionalProperties":{"type":"string"}}`,
		`{"type":"object","type":"object","required":["a"],"required":["b"]}`,
		`{"required":["a"],"additionalProperties":false}`, `{"required":["a","a"]}`, `{"enum":[[1e999]]}`, `{"x":1e999}`,
		`{"properties":{"a":{"maximum":0E700}}}`,
	}
	for _, s := range schemas {
		for _, a := range args {
			f.Add(s, a)
		}
	}
	f.Fuzz(func(t *testing.T, schema, args string) {
		if rawjson.Valid([]byte(schema), 32) != nil || rawjson.Valid([]byte(args), 100) != nil {
			return
		}
		new(comparison).agree(t, schema, json.RawMessage(args))
	})
}

// The same for random schemas of each draft.
func FuzzRandomSchemasAgree(f *testing.F) {
	for seed := range uint64(100) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(3, seed))
		var values []json.RawMessage
		for range 5 {
			values = append(values, json.RawMessage(randomValue(r, 3)))
		}
		schema := json.RawMessage(richSchema(r, 3))
		for d := range drafts {
			new(comparison).agree(t, of(d, schema), values...)
		}
	})
}

func pick(r *rand.Rand, all ...string) string { return all[r.IntN(len(all))] }

func randomNumber(r *rand.Rand) string {
	return pick(r, "0", "1", "-1", "2", "1.0", "1.5", "0.1", "0.10000000000000000001", "9007199254740992", "9007199254740993", "1e1", "-0")
}

func randomScalar(r *rand.Rand) string {
	return pick(r, "null", "true", "false", `""`, `"a"`, `"ab"`, `"é"`, `"\u00e9"`, `"漢字"`, randomNumber(r), randomNumber(r))
}

func randomValue(r *rand.Rand, depth int) string {
	var all []string
	switch n := r.IntN(4); {
	case depth == 0 || depth < 3 && n == 0:
		return randomScalar(r)
	case depth < 3 && n == 1:
		for range r.IntN(3) {
			all = append(all, randomValue(r, depth-1))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	for range r.IntN(4) {
		all = append(all, pick(r, `"a"`, `"b"`, `"\u0061"`, `"c"`)+":"+randomValue(r, depth-1))
	}
	return "{" + strings.Join(all, ",") + "}"
}
