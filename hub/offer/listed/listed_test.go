package listed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"tabhub/hub/offer/keyword"
	"tabhub/hub/offer/schema"
	"tabhub/spec/rawjson"
)

const cart = `{"type":"object","properties":{"productId":{"type":"string","description":"The product"},"quantity":{"type":"integer","minimum":1,"maximum":99},"gift":{"type":"boolean","default":false}},"required":["productId"],"additionalProperties":false}`

// A page's schema must not cost a client all of its tools, nor the page its parameters.
func TestInput(t *testing.T) {
	const object = `{"type":"object","properties":`
	for _, c := range []struct{ raw, want string }{ // want "": the page's own bytes
		{cart, ""},
		{object + `{}}`, ""},
		{object + `{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":` + object + `{"next":{"$ref":"#/$defs/n"}}}}}`, ""},
		{object + `{"a":{"anyOf":[{"type":"string"},{"type":"null"}]},"b":{"type":["string","null"]}},"additionalProperties":false}`, ""},
		{`{ "$schema": ` + schema2020 + `, "type": "object", "properties": {} }`, ""},

		// What a model API wants to have.
		{`{"type":"object"}`, object + `{}}`},
		{`{}`, `{"type":"object","properties":{}}`},
		{`{"type":"object","required":[]}`, `{"type":"object","required":[],"properties":{}}`},
		{object + `{"a":{"type":"array"},"b":{"type":"object"}}}`, object + `{"a":{"type":"array","items":{}},"b":{"type":"object","properties":{}}}}`},
		{object + `{"a":true,"b":false,"c":{"items":true},"d":{"anyOf":[true,{"type":"string"}]}}}`,
			object + `{"a":{},"b":{"not":{}},"c":{"items":{},"type":"array"},"d":{"anyOf":[{},{"type":"string"}]}}}`},
		{`{"type":"object","required":["a"]}`, `{"type":"object","required":["a"],"properties":{"a":{}}}`},
		{object + `{"a":{"type":["string","number"],"minLength":1,"minimum":2,"title":"A"}}}`,
			object + `{"a":{"title":"A","anyOf":[{"type":"number","minimum":2},{"type":"string","minLength":1}]}}}`},

		// Names.
		{object + `{"user[email]":{"type":"string"},"$top":{"type":"integer","description":"How many."},"user_email":{}},"required":["user[email]"]}`,
			object + `{"user_email_2":{"description":"user[email]","type":"string"},"top":{"type":"integer","description":"How many."},"user_email":{}},"required":["user_email_2"]}`},
		{object + `{"密码":{"type":"string"},"":{}}}`, object + `{"arg":{"description":"密码","type":"string"},"arg_2":{"description":""}}}`},
		{object + `{"a":{"type":"array","items":` + object + `{"b c":{}},"additionalProperties":false}}}}`,
			object + `{"a":{"type":"array","items":` + object + `{"b_c":{"description":"b c"}},"additionalProperties":false}}}}`},

		// Older drafts.
		{`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"$ref":"#/definitions/A b"}},"definitions":{"A b":{"type":"string"}}}`,
			object + `{"a":{"$ref":"#/$defs/d1"}},"$defs":{"d1":{"type":"string"}}}`},
		{object + `{"r":{"type":"array","items":[{"type":"number"},{"type":"number"}]}}}`,
			object + `{"r":{"type":"array","prefixItems":[{"type":"number"},{"type":"number"}],"minItems":2,"maxItems":2,"items":{}}}}`},
		{object + `{"r":{"type":"array","items":[{"type":"number"}],"additionalItems":{"type":"string"}}}}`,
			object + `{"r":{"type":"array","items":{"anyOf":[{"type":"number"},{"type":"string"}]}}}}`},
		{object + `{"n":{"type":"number","minimum":0,"exclusiveMinimum":true},"m":{"type":"number","maximum":9,"exclusiveMaximum":false}}}`,
			object + `{"n":{"type":"number","exclusiveMinimum":0},"m":{"type":"number","maximum":9}}}`},
		{object + `{"a":{"type":"string","required":true},"b":{"type":"string","required":false}}}`, object + `{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"]}`},
		{object + `{"a":{"type":"object","dependencies":{"x":["y"],"y":{"minProperties":1}}}}}`,
			object + `{"a":{"type":"object","dependentRequired":{"x":["y"]},"dependentSchemas":{"y":{"minProperties":1}},"properties":{}}}}`},
		{object + `{"a":{"type":"string","nullable":true}}}`, object + `{"a":{"type":["null","string"]}}}`},

		{object + `{"a":{"type":"string","x-mcp-header":"Region"}}}`, ""},

		// At the top.
		{`{"oneOf":[` + object + `{"kind":{"const":"circle"},"r":{"type":"number"}},"required":["kind","r"]},` + object + `{"kind":{"const":"square"},"a":{"type":"number"}},"required":["kind","a"]}]}`,
			object + `{"kind":{"type":"string","enum":["circle","square"]},"r":{"type":"number"},"a":{"type":"number"}},"required":["kind"]}`},
		{object + `{"a":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, object + `{"a":{"type":"string"},"b":{}}}`},
		{`{"type":"object","allOf":[{"$ref":"#/$defs/A"},` + object + `{"b":{"type":"string"}},"required":["b"]}],"$defs":{"A":` + object + `{"a":{"type":"string"}},"required":["a"]}}}`,
			object + `{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}`},
		{`{"$ref":"#/$defs/A","$defs":{"A":` + object + `{"a":{"type":"string"}}}}}`, object + `{"a":{"type":"string"}}}`},
		{object + `{"a":{}},"if":{"required":["a"]},"then":` + object + `{"b":{"type":"string"}},"required":["b"]}}`, object + `{"a":{},"b":{"type":"string"}}}`},
		{object + `{"a":{}},"if":{"required":["a"]},"then":` + object + `{"b":{"type":"string"}}},"else":` + object + `{"b":{"type":"number"}}}}`, object + `{"a":{},"b":{"anyOf":[{"type":"string"},{"type":"number"}]}}}`},
		{object + `{"a":{}},"allOf":[{"if":{"required":["a"]},"then":` + object + `{"b":{"type":"string"}},"required":["b"]}},{"if":{"required":["c"]},"then":` + object + `{"b":{"type":"number"}}}}]}`, object + `{"a":{},"b":{"anyOf":[{"type":"string"},{"type":"number"}]}}}`},
		{object + `{"a":{}},"anyOf":[{"if":{"required":["a"]},"then":` + object + `{"b":{"type":"string"}}}},{"required":["a"]}]}`, object + `{"a":{},"b":{"type":"string"}}}`},
		{object + `{"a":{}},"not":{"required":["a"]},"enum":[{"a":1}]}`, object + `{"a":{}}}`},
		{object + `{"a":{}},"anyOf":[{"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false},{"required":["b"],"additionalProperties":false}]}`, object + `{"a":{},"b":{}}}`},

		// One wrong part.
		{object + `{"a":{"type":"int","minimum":1},"b":{"type":"any"},"c":{"description":7,"type":"string"},"d":{"$ref":"#/none"},"e":{"type":"string","minLength":-1}},"required":true}`,
			object + `{"a":{"type":"integer","minimum":1},"b":{},"c":{"type":"string"},"d":{},"e":{"type":"string"}}}`},
		{`{"type":"object","properties":[]}`, object + `{}}`},
		{object + `{"a":5,"b":{"enum":[]},"c":{"description":"half \ud83d"},"d":{"const":1e999}}}`, object + `{"a":{},"b":{},"c":{"description":"half �"},"d":{}}}`},
		{object + `{"a":{"title":"\u202eA","enum":["\u202e"]},"b\u202e":{}}}`, object + `{"a":{"title":"A"},"b":{"description":"b"}}}`},
		{object + `{"a":{"type":"string","pattern":"^[\\w-.]+$","format":"color"}}}`, object + `{"a":{"type":"string","description":"(pattern: ^[\\w-.]+$) (format: color)"}}}`},
		{object + `{"a":{"type":"string","x-order":1,"example":"b"}}}`, object + `{"a":{"type":"string"}}}`},
		{`{"type":"string","properties":{"a":{"type":"string"}}}`, object + `{"a":{"type":"string"}}}`},
	} {
		got := string(Input(json.RawMessage(c.raw)).JSON)
		if want := c.want; want == "" && got != c.raw || want != "" && got != want && !same(got, want) {
			t.Errorf("%s\n got %s\nwant %s", c.raw, got, want)
		}
		mustBeTaken(t, c.raw, json.RawMessage(got))
	}
}

// same reports whether two texts are the same but for the order of members.
func same(a, b string) bool {
	var values [2]any
	for i, s := range []string{a, b} {
		if json.Unmarshal([]byte(s), &values[i]) != nil {
			return false
		}
	}
	x, _ := json.Marshal(values[0])
	y, _ := json.Marshal(values[1])
	return bytes.Equal(x, y)
}

// What is listed for results is what clients check them by: no more than the hub checks itself.
func TestOutput(t *testing.T) {
	const object = `{"type":"object","properties":`
	for _, c := range []struct{ raw, want string }{
		{object + `{"total":{"type":"integer"}},"required":["total"]}`, ""},
		{object + `{"at":{"type":"string","format":"date-time","pattern":"^2"},"r":{"type":"array","items":[{"type":"number"}]},"p":{"type":"number","multipleOf":0.01}}}`,
			object + `{"at":{"type":"string"},"r":{"type":"array","items":{}},"p":{"type":"number"}}}`},
		{object + `{"user[email]":{"type":"string"},"a":{}},"required":["user[email]","a"],"additionalProperties":false}`, object + `{"a":{}},"required":["a"]}`},
		{`{"type":"object","anyOf":[` + object + `{"a":{"type":"string"}}},` + object + `{"b":{"type":"string"}}}]}`, object + `{}}`},
		{object + `{"a":{"oneOf":[{"pattern":"^a"},{"minLength":3}]},"b":{"not":{"type":"string"}}}}`, object + `{"a":{"anyOf":[{},{}]},"b":{}}}`},
	} {
		got := string(Output(json.RawMessage(c.raw)).JSON)
		if c.want == "" && got != c.raw || c.want != "" && !same(got, c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.raw, got, c.want)
		}
		mustBeTaken(t, c.raw, json.RawMessage(got))
	}
}

// A schema that results fit which are no objects is not listed: the client would throw each of them
// away.
func TestOutputIsOfObjects(t *testing.T) {
	for raw, listed := range map[string]bool{
		`{"type":"object"}`:                      true,
		`{"type":["object"]}`:                    true,
		`{"type":"Object"}`:                      true,
		`{"properties":{"a":{"type":"string"}}}`: true,
		`{"$ref":"#/definitions/r","definitions":{"r":{"type":"object"}}}`:            true,
		`{"$ref":"#/$defs/r","$defs":{"r":{"$ref":"#/$defs/s"},"s":{"required":[]}}}`: true,
		`{"anyOf":[{"type":"object"},{"required":["error"]}]}`:                        true,
		`{"allOf":[{"title":"a"},{"type":"object"}]}`:                                 true,
		`{"type":"object","anyOf":[{"title":"a"},{"required":["error"]}]}`:            true,
		`{"type":"object","properties":{"next":{"$ref":"#"}}}`:                        true,

		`{}`:                                          false,
		`{"title":"anything"}`:                        false,
		`{"type":"array","items":{}}`:                 false,
		`{"items":{"type":"string"}}`:                 false,
		`{"minLength":1}`:                             false,
		`{"enum":["a","b"]}`:                          false,
		`{"const":5}`:                                 false,
		`{"type":["object","null"]}`:                  false,
		`{"type":"object","nullable":true}`:           false,
		`{"type":["object","array"],"properties":{}}`: false,
		`{"$ref":"#"}`:                                false,
		`{"$ref":"#/$defs/r","$defs":{"r":{"type":"array"}}}`:              false,
		`{"$ref":"https://e.com/r"}`:                                       false,
		`{"anyOf":[{"type":"object"},{"type":"null"}]}`:                    false,
		`{"oneOf":[{"$ref":"#/$defs/r"}],"$defs":{"r":{"type":"string"}}}`: false,
		`{"anyOf":[]}`:                                  false,
		`{"allOf":[{"type":"array"}]}`:                  false,
		`{"not":{"type":"object"}}`:                     false,
		`{"type":"optional","def":{"type":"optional"}}`: false,
	} {
		l := Output(json.RawMessage(raw))
		if (l.JSON != nil) != listed || !listed && len(l.Wrong) != 1 {
			t.Errorf("%s: listed as %s, %q", raw, l.JSON, l.Wrong)
		}
	}
}

// The author of a page learns which part of a schema is wrong, and what was made of the others.
func TestNotes(t *testing.T) {
	for _, c := range []struct{ schema, wrong, changed string }{
		{`{"type":"object","properties":{"a":{"type":"strin"}}}`, `/properties/a/type: strin is no type`, ""},
		{`{"type":"object","properties":{"a":{"type":null}}}`, `/properties/a/type: must name a type`, ""},
		{`{"type":"object","properties":{"a":5}}`, `/properties/a: must be an object, true or false`, ""},
		{`{"type":"object","properties":"a"}`, `/properties: must be an object`, ""},
		{`{"type":"object","required":"a"}`, `/required: must be an array of strings`, ""},
		{`{"type":"object","Required":[]}`, `/Required: must be spelled "required"`, ""},
		{`{"type":"object","minProperties":-1}`, `/minProperties: must be a whole number of at least 0`, ""},
		{`{"type":"object","multipleOf":1e999999999}`, `/multipleOf: has a number that is out of any range`, ""},
		{`{"type":"string"}`, `/type: must be "object", not "string"`, ""},
		{`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`, `only references within the schema`, ""},
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}`, `/properties/a/$ref: "#/$defs/none" leads to nothing`, ""},
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, "leads back to itself", ""},
		{`{"type":"object","properties":{"a":{"enum":["\u202e"]}}}`, "holds the character U+202E", ""},
		{`{"type":"object","properties":{"a[]":{}}}`, "", `"a[]" is called a, as model APIs refuse such names`},
		{`{"type":"object","oneOf":[{"required":["a"]}]}`, "", "its alternatives are listed as properties"},
		{`{"type":"object","properties":{"a":{"type":"int"}}}`, "", `/properties/a/type: "int" is listed as "integer"`},
		{`{"type":"object","properties":{"a":{"items":[{}]}}}`, "", `is listed with just 1 items`},
		// What libraries' schemas are as JSON.
		{`{"def":{"type":"object","shape":{"a":{"def":{"type":"string"},"type":"string"}}},"type":"object"}`, `it looks like a schema of Zod: give z.toJSONSchema(schema)`, ""},
		{`{"~standard":{"vendor":"zod","version":1},"def":{"type":"union","options":[]},"type":"union"}`, `it looks like a schema of Zod: give z.toJSONSchema(schema)`, ""},
		{`{"_def":{"unknownKeys":"strip","catchall":{"_def":{"typeName":"ZodNever"}},"typeName":"ZodObject"},"~standard":{"version":1,"vendor":"zod"},"_cached":null}`, `it looks like a schema of Zod: give z.toJSONSchema(schema) of Zod 4, or zodToJsonSchema(schema)`, ""},
		{`{"a":{"def":{"type":"string"},"type":"string"}}`, `its members look like schemas of Zod: make an object of them there, and give z.toJSONSchema(schema)`, ""},
		{`{"type":"object","properties":{"a":{"_def":{"checks":[],"typeName":"ZodString","coerce":false}}}}`, `/properties/a: it looks like a schema of Zod`, ""},
		{`{"kind":"schema","type":"object","expects":"Object","async":false,"entries":{},"~standard":{"version":1,"vendor":"valibot"}}`, `it looks like a schema of Valibot: give toJsonSchema(schema) of @valibot/to-json-schema`, ""},
		{`{"required":[{"key":"a","value":"string"}],"domain":"object"}`, `it looks like a schema of ArkType: give schema.toJsonSchema()`, ""},
		{`{"~standard":{"version":1,"vendor":"acme"}}`, `it looks like a schema of acme: give the JSON Schema that it stands for`, ""},
		{`{"type":"object","properties":{"def":{"type":"string"},"_def":{"type":"object"},"domain":{"type":"string"},"~standard":{"type":"object"}}}`, "", "is called standard"},
		{cart, "", ""},
	} {
		l := Input(json.RawMessage(c.schema))
		for _, of := range []struct {
			got  []string
			want string
		}{{l.Wrong, c.wrong}, {l.Changed, c.changed}} {
			if got := strings.Join(of.got, "; "); !strings.Contains(got, of.want) || of.want == "" && got != "" {
				t.Errorf("%s: %q, want %q", c.schema, got, of.want)
			}
		}
	}
}

// rules are what model APIs and hosts refuse, by the names that the guide has for them.
var rules = map[string]func(s map[string]any, top bool) bool{
	"no `properties` beside `type: object`": func(s map[string]any, top bool) bool { return (top || s["type"] == "object") && s["properties"] == nil },
	"a name outside `[A-Za-z0-9_.-]{1,64}`": func(s map[string]any, _ bool) bool {
		properties, _ := s["properties"].(map[string]any)
		for name := range properties {
			if !regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`).MatchString(name) {
				return true
			}
		}
		return false
	},
	"`oneOf`, `anyOf`, `allOf`, `not`, `enum` or `if` at the top": func(s map[string]any, top bool) bool {
		return top && slices.ContainsFunc([]string{"oneOf", "anyOf", "allOf", "not", "enum", "const", "if", "$ref"}, func(key string) bool { return s[key] != nil })
	},
	"`type: array` without `items`":      func(s map[string]any, _ bool) bool { return s["type"] == "array" && s["items"] == nil },
	"another type at the top":            func(s map[string]any, top bool) bool { return top && s["type"] != "object" },
	"half of a surrogate pair":           nil, // looked for in the text
	"what is not JSON Schema 2020-12":    nil, // looked at by a validator
	"`true` or `false` as a subschema":   nil, // found on the way
	"keywords that nobody knows":         nil, // refused by ajv, if it is strict
	"a pattern that is not JavaScript's": nil, // likewise
}

// mustBeTaken fails if a model API would refuse a listed schema.
func mustBeTaken(t *testing.T, raw string, listed json.RawMessage) {
	t.Helper()
	if rawjson.CheckPortable(listed) != nil {
		t.Fatalf("%s\nis listed with half of a surrogate pair:\n%s", raw, listed)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(listed))
	if err != nil {
		t.Fatalf("%s\nis listed as\n%s\n%v", raw, listed, err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseRegexpEngine(func(s string) (jsonschema.Regexp, error) { // Go's has no look around
		if !keyword.NewPattern(s).InJavaScript() {
			return nil, fmt.Errorf("%q is no pattern", s)
		}
		return regexpStub(s), nil
	})
	err = c.AddResource("listed.json", doc)
	if err == nil {
		_, err = c.Compile("listed.json")
	}
	if err != nil {
		t.Fatalf("%s\nis listed as\n%s\n%v", raw, listed, err)
	}
	var visit func(v any, top bool)
	visit = func(v any, top bool) {
		s, ok := v.(map[string]any)
		if !ok {
			t.Fatalf("%s\nis listed as\n%s\nwith %v as a subschema", raw, listed, v)
		}
		for name, refuses := range rules {
			if refuses != nil && refuses(s, top) {
				t.Fatalf("%s\nis listed as\n%s\nwith %s", raw, listed, name)
			}
		}
		for key, v := range s {
			k, known := keyword.All[key]
			if !known {
				t.Fatalf("%s\nis listed as\n%s\nwith the keyword %s", raw, listed, key)
			}
			switch of := v.(type) {
			case []any:
				if k.Form == keyword.SchemaList {
					for _, v := range of {
						visit(v, false)
					}
				}
			case map[string]any:
				switch k.Form {
				case keyword.Schemas:
					for _, v := range of {
						visit(v, false)
					}
				case keyword.Schema, keyword.Items:
					visit(v, false)
				}
			case bool:
				if k.Form == keyword.Schema && key != "additionalProperties" {
					visit(v, false)
				}
			}
		}
	}
	visit(doc, true)
}

type regexpStub string

func (s regexpStub) MatchString(string) bool { return false }
func (s regexpStub) String() string          { return string(s) }

// The guide says of each rule which API or host has it, and where that was published.
func TestGuideHasTheRules(t *testing.T) {
	guide, err := os.ReadFile("../../../spec/docs/USE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(guide), "\n## What model APIs refuse\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var named []string
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, " | "); len(cells) == 4 && strings.Contains(cells[3], "https://") {
			named = append(named, strings.TrimPrefix(cells[0], "| "))
		}
	}
	for name := range rules {
		if !slices.Contains(named, name) {
			t.Errorf("the guide does not have: %s", name)
		}
	}
	for _, name := range named {
		if _, ok := rules[name]; !ok {
			t.Errorf("no listed schema is checked for: %s", name)
		}
	}
}

// Whatever a page gives, what is listed is taken.
func FuzzListed(f *testing.F) {
	for i := range 50 {
		f.Add((&generator{Rand: rand.New(rand.NewPCG(uint64(i), 1))}).tool())
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if err := schema.Check([]byte(raw)); err != nil || raw[0] != '{' {
			return
		}
		mustBeTaken(t, raw, Input(json.RawMessage(raw)).JSON)
		if output := Output(json.RawMessage(raw)).JSON; output != nil {
			mustBeTaken(t, raw, output)
		}
	})
}

// Random schemas, and a validator that refuses whatever it has not heard of: ajv for 2020-12, if it
// is strict; for results also as the TypeScript SDK sets it up.
func TestListedIsTakenByAjv(t *testing.T) {
	const modules = "../../../cmd/tabhub/testdata/clients/node_modules"
	if _, err := os.Stat(modules + "/node/bin/node"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("npm ci in cmd/tabhub/testdata/clients installs ajv")
	}
	var lines bytes.Buffer
	g := &generator{Rand: rand.New(rand.NewPCG(1, 1))}
	for lines.Len() < 1<<19 {
		raw := g.tool()
		if err := schema.Check([]byte(raw)); err != nil || raw[0] != '{' {
			continue
		}
		output := Output(json.RawMessage(raw)).JSON
		if output == nil { // it is not listed
			output = Nothing
		}
		line, err := json.Marshal([]any{Input(json.RawMessage(raw)).JSON, output, raw})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	cmd := exec.CommandContext(t.Context(), modules+"/node/bin/node", "testdata/ajv.cjs", modules)
	cmd.Stdin = &lines
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
