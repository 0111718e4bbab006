package schema

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tabhub/spec/rawjson"
)

// What the plan accepts must be what the whole schema accepts: else a page gets
// arguments that it has excluded.
func FuzzPlanAgreesWithFull(f *testing.F) {
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
		var c Cache
		s, err := c.Compile(json.RawMessage(schema))
		if err != nil || rawjson.Valid([]byte(args), 100) != nil {
			return
		}
		full, err := newFull(schema)
		if err != nil {
			t.Fatalf("%s has a plan but: %v", schema, err)
		}
		doc, _ := rawjson.Decode([]byte(args))
		if _, _, err := limits(doc, new(int)); err != nil {
			return // a plan does not look at numbers that its schema does not look at
		}
		err = full.check(json.RawMessage(args))
		if s.plan != nil && s.plan.accepts(rawjson.Get([]byte(args))) && err != nil {
			t.Fatalf("the plan of %s accepts %s: %v", schema, args, err)
		}
		if again := s.Check(json.RawMessage(args)); (again == nil) != (err == nil) {
			t.Fatalf("%s with %s: %v, %v", schema, args, err, again)
		}
	})
}

// The same for schemas and arguments that are made to meet each other's edges.
func TestPlanAgreesWithFull(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	planned, accepted, refused := 0, 0, 0
	for range 1500 {
		schema := `{"type":"object",` + randomSchema(r, 3)[1:]
		schema = strings.Replace(schema, ",}", "}", 1)
		s := mustCompile(t, schema)
		if s.plan == nil {
			continue
		}
		planned++
		full, err := newFull(schema)
		if err != nil {
			t.Fatalf("%s has a plan but: %v", schema, err)
		}
		for range 20 {
			args := randomValue(r, 3)
			err := full.check(json.RawMessage(args))
			switch fast := s.plan.accepts([]byte(args)); {
			case fast && err != nil:
				t.Fatalf("the plan of %s accepts %s: %v", schema, args, err)
			case fast:
				accepted++
			case err != nil:
				refused++
			}
		}
	}
	if planned < 1000 || accepted < 1000 || refused < 1000 {
		t.Errorf("%d plans, %d accepted, %d refused: too few to say anything", planned, accepted, refused)
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
