package schema

import (
	"encoding/json"
	"fmt"
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

// The same for schemas as most are, and arguments that are made to meet their edges.
func TestSimpleSchemasAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var c comparison
	for range 1500 {
		schema := `{"type":"object",` + randomSchema(r, 3)[1:]
		schema = strings.Replace(schema, ",}", "}", 1)
		var values []json.RawMessage
		for range 20 {
			values = append(values, json.RawMessage(randomValue(r, 3)))
		}
		c.agree(t, schema, values...)
	}
	if c.valid < 1000 || c.invalid < 1000 || c.refused > 500 {
		t.Errorf("%d valid, %d invalid, %d refused: too few to say anything", c.valid, c.invalid, c.refused)
	}
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

func randomSchema(r *rand.Rand, depth int) string {
	sub := func() string {
		if depth == 0 || r.IntN(8) == 0 {
			return pick(r, "true", "{}", `{"type":"string"}`, `{"type":["integer","null"]}`, `{"type":"number"}`)
		}
		return randomSchema(r, depth-1)
	}
	keyword := []func() string{
		func() string { return `"properties":{"a":` + sub() + `,"b":` + sub() + `}` },
		func() string { return `"properties":{"a":` + sub() + `}` },
		func() string { return `"required":` + pick(r, `["a"]`, `["a","b"]`, `["c"]`, `[]`) },
		func() string { return `"additionalProperties":` + pick(r, "false", sub()) },
		func() string { return `"items":` + sub() },
		func() string { return fmt.Sprintf(`"minItems":%d,"maxItems":%d`, r.IntN(2), r.IntN(3)) },
		func() string { return fmt.Sprintf(`"minLength":%d,"maxLength":%d`, r.IntN(2), r.IntN(3)) },
		func() string { return `"minimum":` + randomNumber(r) + `,"exclusiveMaximum":` + randomNumber(r) },
		func() string { return `"maximum":` + randomNumber(r) },
		func() string { return `"enum":[` + randomScalar(r) + `,` + randomScalar(r) + `,{"a":1}]` },
		func() string { return `"const":` + randomScalar(r) },
		func() string { return `"anyOf":[` + sub() + `,` + sub() + `]` },
		func() string { return `"allOf":[` + sub() + `]` },
		func() string { return `"description":"x","x-order":[1,2]` },
	}
	seen := map[string]bool{}
	var all []string
	for range 1 + r.IntN(3) {
		k := keyword[r.IntN(len(keyword))]()
		if name, _, _ := strings.Cut(k, ":"); !seen[name] {
			seen[name] = true
			all = append(all, k)
		}
	}
	return "{" + strings.Join(all, ",") + "}"
}
