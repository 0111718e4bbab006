package pagecheck

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// An author must be able to tell by the schema what the check calls with.
func TestSamples(t *testing.T) {
	for schema, want := range map[string][]string{
		``:                  {`{}`},
		`{"type":"object"}`: {`{}`},
		`{"properties":{"query":{"type":"string"},"max":{"type":"integer","minimum":5}},"required":["query"]}`:                                          {`{"query":"text"}`, `{"max":5,"query":"text"}`},
		`{"properties":{"a":{"default":3},"b":{"enum":["x","y"]},"c":{"examples":["e"]},"d":{"const":null}}}`:                                           {`{}`, `{"a":3,"b":"x","c":"e","d":null}`},
		`{"properties":{"when":{"type":"string","format":"date"},"code":{"type":"string","pattern":"^[A-Z]{3}-\\d{2,}$"}},"required":["when","code"]}`:  {`{"code":"AAA-11","when":"2026-01-31"}`},
		`{"properties":{"n":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}},"required":["n"]}`:                                             {`{"n":0.5}`},
		`{"properties":{"n":{"type":"integer","minimum":-9,"maximum":-3,"multipleOf":2}},"required":["n"]}`:                                             {`{"n":-4}`},
		`{"properties":{"n":{"type":"number","multipleOf":0.25,"minimum":3.1}},"required":["n"]}`:                                                       {`{"n":3.25}`},
		`{"properties":{"s":{"type":"string","minLength":6,"maxLength":8},"t":{"type":"string","maxLength":2}},"required":["s","t"]}`:                   {`{"s":"textxx","t":"te"}`},
		`{"properties":{"to":{"type":"object","properties":{"city":{"type":"string"},"zip":{"type":"string"}},"required":["city"]}},"required":["to"]}`: {`{"to":{"city":"text"}}`, `{"to":{"city":"text","zip":"text"}}`},
		`{"properties":{"tags":{"type":"array","items":{"type":"string"},"minItems":2,"uniqueItems":true}},"required":["tags"]}`:                        {`{"tags":["text","text2"]}`},
		`{"$defs":{"id":{"type":"integer"}},"properties":{"id":{"$ref":"#/$defs/id"}},"required":["id"]}`:                                               {`{"id":1}`},
		`{"properties":{"v":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"required":["v"]}`:                                                        {`{"v":"text"}`},
		`{"properties":{"v":{"type":["null","boolean"]}},"required":["v"]}`:                                                                             {`{"v":true}`},
		`{"properties":{"next":{"$ref":"#"}}}`: {`{}`, `{"next":{"next":{}}}`},
		`{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"null"}},"required":["b"]}]}`: {`{"a":"text","b":null}`},
	} {
		got, err := Samples(json.RawMessage(schema))
		if err != nil {
			t.Errorf("%s: %v", schema, err)
		}
		var all []string
		for _, one := range got {
			all = append(all, string(one))
		}
		if fmt.Sprint(all) != fmt.Sprint(want) {
			t.Errorf("%s\n got %q\nwant %q", schema, all, want)
		}
	}
}

func TestSamplesThatCannotBeMade(t *testing.T) {
	for schema, want := range map[string]string{
		`{"properties":{"a":{"type":"integer","minimum":3,"maximum":2}},"required":["a"]}`: "does not fit",
		`{"properties":{"a":{"type":"string","pattern":"^a\\b\\Bb$"}},"required":["a"]}`:   "no text can be made by the pattern",
		`{"properties":{"a":{"$ref":"#"}},"required":["a"]}`:                               "more than is made up",
		`{"properties":{"a":{"type":"array","minItems":1000000}},"required":["a"]}`:        "more than is made up",
		`{"properties":{"a":{"type":"string","minLength":99999999999}},"required":["a"]}`:  "more than is made up",
		`{"type":"array"}`: "type must be",
		`{"properties":{"a":{"not":{}}},"required":["a"]}`:                           "does not fit",
		`{"properties":{"a":{"type":"integer","default":"seven"}},"required":["a"]}`: "must be integer",
	} {
		got, err := Samples(json.RawMessage(schema))
		if err == nil || !strings.Contains(err.Error(), want) || len(got) > 0 {
			t.Errorf("%s: %s, %v; want an error with %q", schema, got, err, want)
		}
	}
}

// Schemas that can be fulfilled have samples, which are valid by another implementation, too.
func TestSamplesOfManySchemas(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 3000 {
		properties, required := map[string]any{}, []string{}
		for i := range 1 + r.IntN(4) {
			name := fmt.Sprintf("p%d", i)
			properties[name] = schemaOf(r, 3)
			if r.IntN(2) == 0 {
				required = append(required, name)
			}
		}
		schema := mustJSON(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false})
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("tool.json", doc); err != nil {
			t.Fatal(err)
		}
		other, err := c.Compile("tool.json")
		if err != nil {
			t.Fatal(err)
		}
		all, err := Samples(schema)
		if err != nil || len(all) == 0 {
			t.Fatalf("%s: %s, %v", schema, all, err)
		}
		for _, one := range all {
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(one)))
			if err != nil {
				t.Fatalf("%s: %v", one, err)
			}
			if err := other.Validate(v); err != nil {
				t.Fatalf("%s is not valid by %s: %v", one, schema, err)
			}
		}
		again, _ := Samples(schema)
		if fmt.Sprintf("%s", all) != fmt.Sprintf("%s", again) {
			t.Fatalf("%s: %s, then %s", schema, all, again)
		}
	}
}

// schemaOf makes a schema that some value is valid by.
func schemaOf(r *rand.Rand, depth int) map[string]any {
	low := r.IntN(200) - 100
	kinds := 9
	if depth == 0 {
		kinds = 6
	}
	switch r.IntN(kinds) {
	case 0:
		return map[string]any{"type": "string", "minLength": r.IntN(5), "maxLength": 5 + r.IntN(50)}
	case 1:
		return map[string]any{"type": "integer", "minimum": low, "maximum": low + 10 + r.IntN(100), "multipleOf": 1 + r.IntN(10)}
	case 2:
		return map[string]any{"type": "number", "exclusiveMinimum": low, "exclusiveMaximum": float64(low) + r.Float64() + 0.01}
	case 3:
		return map[string]any{"enum": []any{low, "x", nil}}
	case 4:
		patterns := []string{`^[a-z]+$`, `^\d{4}-\d{2}$`, `^(red|green)$`, `[A-F0-9]{8}`, `^.{3,9}$`, `^[^a-z]{2}$`, `^\S+@\S+$`, `^$|^x{2}$`}
		return map[string]any{"type": "string", "pattern": patterns[r.IntN(len(patterns))]}
	case 5:
		return map[string]any{"type": []string{"boolean", "null"}}
	case 6:
		return map[string]any{"type": "array", "items": map[string]any{"type": []string{"string", "integer"}[r.IntN(2)]}, "minItems": r.IntN(4), "uniqueItems": r.IntN(2) == 0}
	case 7:
		return map[string]any{"oneOf": []any{
			map[string]any{"type": "object", "properties": map[string]any{"a": schemaOf(r, depth-1)}, "required": []string{"a"}},
			map[string]any{"type": "boolean"},
		}}
	}
	return map[string]any{"type": "object", "properties": map[string]any{"a": schemaOf(r, depth-1), "b": schemaOf(r, depth-1)}, "required": []string{"b"}}
}
