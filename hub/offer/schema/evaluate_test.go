package schema

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"tabhub/hub/offer/keyword"
	"tabhub/spec/rawjson"
)

// group are the cases of one schema in the JSON-Schema-Test-Suite.
type group struct {
	Schema json.RawMessage
	Tests  []struct{ Data json.RawMessage }
}

// suite returns the JSON-Schema-Test-Suite for a draft, which a module in use carries.
func suite(t *testing.T, dir string) (all []group) {
	module, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/google/jsonschema-go/jsonschema").Output()
	if err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(strings.TrimSpace(string(module)), "testdata", dir)
	files, err := filepath.Glob(filepath.Join(in, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no suite in %s: %v", in, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var groups []group
		if err := json.Unmarshal(raw, &groups); err != nil {
			t.Fatal(err)
		}
		all = append(all, groups...)
	}
	return all
}

// unchecked are the keywords that are left to the page, and those that say what a schema is.
var unchecked = []string{"$schema", "$id", "id", "$anchor", "$dynamicRef", "$recursiveRef", "format", "unevaluatedItems", "unevaluatedProperties", "contentSchema"}

// asRead writes a schema in 2020-12 as it is read here, for another implementation. keyword
// says that v is a schema, or an array of some.
func asRead(v any, schema bool) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = asRead(v[i], schema)
		}
	case map[string]any:
		if !schema {
			for key, sub := range v {
				v[key] = asRead(sub, true)
			}
			return v
		}
		if patterns, ok := v["patternProperties"].(map[string]any); ok {
			for pattern := range patterns {
				if keyword.NewPattern(pattern) == nil {
					delete(patterns, pattern)
					delete(v, "additionalProperties")
				}
			}
		}
		if all, ok := v["dependencies"].(map[string]any); ok {
			both, _ := v["allOf"].([]any)
			for name, d := range all {
				key := "dependentSchemas"
				if _, isList := d.([]any); isList {
					key = "dependentRequired"
				}
				both = append(both, map[string]any{key: map[string]any{name: d}})
			}
			delete(v, "dependencies")
			v["allOf"] = both
		}
		for _, key := range unchecked {
			delete(v, key)
		}
		if ref, ok := v["$ref"].(string); ok && ref != "#" && !strings.HasPrefix(ref, "#/") {
			delete(v, "$ref")
		}
		for key, sub := range v {
			switch _, isBool := sub.(bool); {
			case isBool && strings.HasPrefix(key, "exclusive"):
				delete(v, key)
			case slices.Contains([]string{"items", "additionalItems", "additionalProperties", "prefixItems", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "contains", "propertyNames"}, key):
				v[key] = asRead(sub, true)
			case slices.Contains([]string{"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"}, key):
				v[key] = asRead(sub, false)
			}
		}
		if prefix, ok := v["items"].([]any); ok {
			delete(v, "items")
			v["prefixItems"] = prefix
			if rest, ok := v["additionalItems"]; ok {
				v["items"] = rest
			}
		}
		delete(v, "additionalItems")
	}
	return v
}

func decode(raw string) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// agree fails if another implementation differs about values. It returns how many there were that
// both know the schema for.
func agree(t *testing.T, schema string, values ...json.RawMessage) (valid, invalid int) {
	t.Helper()
	if _, err := rawjson.Decode([]byte(schema)); err != nil {
		return 0, 0
	}
	ours := newSchema(bytes.TrimSpace([]byte(schema)))
	v, _ := decode(schema)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) { return anyPattern{pattern}, nil })
	if ours.root.loose || c.AddResource("test://schema", asRead(v, true)) != nil {
		return 0, 0
	}
	theirs, err := c.Compile("test://schema")
	if err != nil {
		return 0, 0
	}
	for _, value := range values {
		if v, err := rawjson.Decode(value); err != nil {
			continue
		} else if err := measure(&v); err != nil {
			continue // a limit that theirs has not
		}
		v, _ := decode(string(value))
		err, theirErr := ours.Check(value), theirs.Validate(v)
		if (err == nil) != (theirErr == nil) {
			t.Errorf("%s with %s: %v, theirs: %v", schema, value, err, theirErr)
		}
		if err == nil {
			valid++
		} else {
			invalid++
		}
	}
	return valid, invalid
}

// anyPattern is a pattern that need not be one that is matched here.
type anyPattern struct{ string }

func (p anyPattern) String() string { return p.string }
func (p anyPattern) MatchString(s string) bool {
	ours := keyword.NewPattern(p.string)
	return ours == nil || ours.MatchString(s)
}

// What JSON Schema says about arguments is what a page relies on. Two implementations must agree
// about the cases of the suite, and about random ones.
func TestAgreesWithAnotherImplementation(t *testing.T) {
	valid, invalid := 0, 0
	count := func(v, i int) { valid, invalid = valid+v, invalid+i }
	for _, dir := range []string{"draft7", "draft2020-12"} {
		for _, g := range suite(t, dir) {
			var values []json.RawMessage
			for _, c := range g.Tests {
				values = append(values, c.Data)
			}
			count(agree(t, string(g.Schema), values...))
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var values []json.RawMessage
		for range 5 {
			values = append(values, json.RawMessage(randomValue(r, 3)))
		}
		count(agree(t, randomSchema(r, 3), values...))
	}
	if valid < 1500 || invalid < 700 {
		t.Errorf("%d valid, %d invalid: too few to say anything", valid, invalid)
	}
}

// Where two implementations differ, a page gets arguments that it has excluded, or none
// that it asks for.
func FuzzAgreesWithAnotherImplementation(f *testing.F) {
	args := []string{`{}`, `{"a":1}`, `{"a":"x","b":[1,2.5,"é"],"c":{"a":null}}`, `{"a":-0,"a":"\u00e9"}`, `[]`, `{"c":{"c":{"a":9007199254740993}}}`}
	schemas := []string{
		cart, `true`, `{}`, `{"type":"object","additionalProperties":{"type":["integer","null"]}}`,
		`{"properties":{"a":{"anyOf":[{"type":"string","minLength":1,"maxLength":1},{"type":"integer","minimum":-1}]}},"required":["a","b"]}`,
		`{"properties":{"a":{"allOf":[{"const":1},{}]},"c":{"properties":{"c":{"properties":{"a":{"maximum":9007199254740992}}}}}}}`,
		`{"type":"object","type":"object","required":["a"],"required":["b"]}`,
		`{"enum":[[1e999]]}`, `{"x":1e999}`, `{"properties":{"a":{"maximum":0E700}}}`,
	}
	for _, s := range schemas {
		for _, a := range args {
			f.Add(s, a)
		}
	}
	f.Fuzz(func(t *testing.T, schema, args string) {
		if rawjson.Valid([]byte(schema), 32) == nil && rawjson.Valid([]byte(args), 100) == nil {
			agree(t, schema, json.RawMessage(args))
		}
	})
}

// randomSchema returns a random schema, which may not be well-formed.
func randomSchema(r *rand.Rand, depth int) string {
	sub := func() string {
		if depth == 0 || r.IntN(8) == 0 {
			return pick(r, "true", "{}", "false", `{"type":"string"}`, `{"type":["integer","null"]}`, `{"$ref":"#/definitions/d"}`, `{"required":["a"]}`)
		}
		return randomSchema(r, depth-1)
	}
	list := func() string { return "[" + sub() + "," + sub() + "]" }
	keywords := []func() string{
		func() string { return `"properties":{"a":` + sub() + `,"b":` + sub() + `}` },
		func() string { return `"required":` + pick(r, `["a"]`, `["a","b"]`) },
		func() string { return `"additionalProperties":` + sub() },
		func() string { return `"patternProperties":{"` + pick(r, "a", "^b", ".") + `":` + sub() + `}` },
		func() string { return `"propertyNames":` + pick(r, `{"maxLength":1}`, `{"enum":["a"]}`, sub()) },
		func() string { return `"dependencies":{"a":` + pick(r, `["b"]`, `["b","c"]`, sub()) + `}` },
		func() string { return `"dependentRequired":{"a":["b"]},"dependentSchemas":{"b":` + sub() + `}` },
		func() string { return `"contains":` + sub() + `,"minContains":` + pick(r, "0", "1", "2") },
		func() string { return `"contains":` + sub() + `,"maxContains":1` },
		func() string { return `"minProperties":1,"maxProperties":` + pick(r, "1", "2", "2.0") },
		func() string { return `"uniqueItems":true` },
		func() string { return `"if":` + sub() + `,"then":` + sub() + `,"else":` + sub() },
		func() string { return `"items":` + pick(r, sub(), list()) + `,"additionalItems":` + sub() },
		func() string { return `"prefixItems":` + list() },
		func() string { return `"minItems":1,"maxItems":` + pick(r, "1", "1e3", "1.5", "99999999999999999999") },
		func() string { return `"minLength":1,"maxLength":` + pick(r, "1", "2", "-1") },
		func() string {
			return `"minimum":` + randomNumber(r) + `,"exclusiveMaximum":` + randomNumber(r)
		},
		func() string { return `"maximum":` + randomNumber(r) + `,"multipleOf":` + pick(r, "1", "0.1", "2") },
		func() string { return `"enum":[` + randomScalar(r) + `,{"a":1}]` },
		func() string { return `"const":` + randomValue(r, 2) },
		func() string { return `"pattern":"` + pick(r, "a", "^.$") + `"` },
		func() string { return `"anyOf":` + list() + `,"oneOf":` + list() },
		func() string { return `"allOf":` + list() },
		func() string { return `"not":` + sub() },
		func() string { return `"type":` + pick(r, `"string"`, `["number","integer"]`, `"object"`, `"array"`) },
	}
	all := []string{`"definitions":{"d":{"type":"integer","maximum":3}}`}
	for _, i := range r.Perm(len(keywords))[:1+r.IntN(4)] {
		all = append(all, keywords[i]())
	}
	return "{" + strings.Join(all, ",") + "}"
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
