package schema

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"tabhub/spec/rawjson"
)

var drafts = map[draft]struct {
	url   string
	draft *jsonschema.Draft
}{
	draft04:   {"http://json-schema.org/draft-04/schema#", jsonschema.Draft4},
	draft06:   {"http://json-schema.org/draft-06/schema#", jsonschema.Draft6},
	draft07:   {"http://json-schema.org/draft-07/schema#", jsonschema.Draft7},
	draft2019: {"https://json-schema.org/draft/2019-09/schema", jsonschema.Draft2019},
	draft2020: {"https://json-schema.org/draft/2020-12/schema", jsonschema.Draft2020},
}

// group are the cases of one schema in the JSON-Schema-Test-Suite.
type group struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
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

// of returns a schema of another draft.
func of(d draft, schema json.RawMessage) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(schema, &members) != nil {
		return string(schema)
	}
	members["$schema"] = fmt.Appendf(nil, "%q", drafts[d].url)
	b, _ := json.Marshal(members)
	return string(b)
}

// newAny compiles any schema.
func newAny(raw string) (*Schema, error) {
	doc, err := rawjson.Decode([]byte(raw))
	if err != nil {
		return nil, err
	}
	return newSchema(&doc)
}

// What JSON Schema says about arguments is what a page relies on. Schemas that refer to
// others are refused.
func TestSuite(t *testing.T) {
	for dir, d := range map[string]draft{"draft7": draft07, "draft2020-12": draft2020} {
		cases, refused := 0, 0
		for _, g := range suite(t, dir) {
			cases += len(g.Tests)
			s, err := newAny(of(d, g.Schema))
			if err != nil {
				refused += len(g.Tests)
				if !strings.Contains(err.Error(), "is refused") && !strings.Contains(err.Error(), "leads to 2 parts") {
					t.Errorf("%s %s: %v", dir, g.Description, err)
				}
				continue
			}
			for _, c := range g.Tests {
				if err := s.Check(c.Data); (err == nil) != c.Valid {
					t.Errorf("%s %s: %s: %s with %s: %v", dir, g.Description, c.Description, g.Schema, c.Data, err)
				}
			}
		}
		if cases < 800 || refused > cases/8 {
			t.Errorf("%s: %d of %d cases refused", dir, refused, cases)
		}
	}
}

// other is what another implementation makes of a schema.
func other(raw string) (*jsonschema.Schema, error) {
	whole, err := decode(raw)
	if err != nil {
		return nil, err
	}
	loose, _ := decode(raw)
	v, err := rawjson.Decode([]byte(raw))
	if err != nil {
		return nil, err
	}
	d := draftOf(&v)
	w := walker{draft4: d == draft04, refs: map[string]bool{}}
	for _, doc := range []any{whole, loose} {
		if err := w.schema(doc, true); err != nil {
			return nil, err
		}
	}
	compile := func(doc any) (*jsonschema.Schema, error) {
		c := jsonschema.NewCompiler()
		c.DefaultDraft(drafts[d].draft)
		c.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) { return anyPattern{newPattern(pattern)}, nil })
		if err := c.AddResource("test://schema", doc); err != nil {
			return nil, err
		}
		return c.Compile("test://schema")
	}
	s, err := compile(whole)
	if err != nil || !w.unmatched {
		return s, err
	}
	loosen(loose)
	return compile(loose)
}

// anyPattern is a pattern that need not be one that Go can match.
type anyPattern struct{ *lazyPattern }

func (p anyPattern) String() string { return p.written }

func decode(raw string) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// comparison counts what two implementations say.
type comparison struct{ valid, invalid, refused int }

// apart is what only one of two implementations refuses.
var apart = regexp.MustCompile("duplicate anchor|leads to|leads back|out of any range|more than|too much work|more work")

// agree fails if two implementations differ about values.
func (c *comparison) agree(t *testing.T, schema string, values ...json.RawMessage) {
	t.Helper()
	s, err := newAny(schema)
	theirs, theirErr := other(schema)
	if err != nil || theirErr != nil {
		// Limits are ours, and theirs knows no part by a name that two have, even if
		// nothing refers to it.
		if (err == nil) != (theirErr == nil) && !apart.MatchString(fmt.Sprint(err, theirErr)) {
			t.Errorf("%s: %v, theirs: %v", schema, err, theirErr)
		}
		c.refused++
		return
	}
	for _, value := range values {
		ours, err := rawjson.Decode(value)
		if err != nil {
			continue
		}
		if _, err := measure(&ours); err != nil {
			continue // a limit that theirs has not
		}
		v, err := decode(string(value))
		if err != nil {
			t.Fatal(err)
		}
		err, theirErr := s.Check(value), theirs.Validate(v)
		if (err == nil) != (theirErr == nil) {
			t.Errorf("%s with %s: %v, theirs: %v", schema, value, err, theirErr)
		}
		if err == nil {
			c.valid++
		} else {
			c.invalid++
		}
	}
}

// Where the suite does not say so, for each draft, two implementations must.
func TestAgreesWithAnotherImplementation(t *testing.T) {
	var c comparison
	for d := range drafts {
		for _, dir := range []string{"draft7", "draft2020-12"} {
			for _, g := range suite(t, dir) {
				var values []json.RawMessage
				for _, c := range g.Tests {
					values = append(values, c.Data)
				}
				c.agree(t, of(d, g.Schema), values...)
			}
		}
		r := rand.New(rand.NewPCG(1, uint64(d)))
		for range 200 {
			var values []json.RawMessage
			for range 5 {
				values = append(values, json.RawMessage(randomValue(r, 3)))
			}
			c.agree(t, of(d, json.RawMessage(richSchema(r, 3))), values...)
		}
	}
	if c.valid < 5000 || c.invalid < 2000 || c.refused < 500 {
		t.Errorf("%d valid, %d invalid, %d refused: too few to say anything", c.valid, c.invalid, c.refused)
	}
}

// richSchema returns a random schema with all keywords, some of them not well-formed.
func richSchema(r *rand.Rand, depth int) string {
	sub := func() string {
		if depth == 0 || r.IntN(8) == 0 {
			return pick(r, "true", "{}", "false", `{"type":"string"}`, `{"type":["integer","null"]}`, `{"$ref":"#/definitions/d"}`, `{"$ref":"#x"}`, `{"required":["a"]}`, `{"pattern":"^(?=a)"}`)
		}
		return richSchema(r, depth-1)
	}
	list := func() string {
		all := sub()
		for range r.IntN(3) {
			all += "," + sub()
		}
		return "[" + all + "]"
	}
	keywords := []func() string{
		func() string { return `"properties":{"a":` + sub() + `,"b":` + sub() + `}` },
		func() string {
			return `"patternProperties":{"` + pick(r, "a", "^b", ".", "^(?!a)") + `":` + sub() + `}`
		},
		func() string { return `"required":` + pick(r, `["a"]`, `["a","b"]`, `["a","a"]`) },
		func() string { return `"additionalProperties":` + sub() },
		func() string { return `"propertyNames":` + pick(r, `{"maxLength":1}`, `{"enum":["a"]}`, sub()) },
		func() string { return `"dependencies":{"a":` + pick(r, `["b"]`, `["b","c"]`, sub()) + `}` },
		func() string { return `"dependentRequired":{"a":["b"]}` },
		func() string { return `"dependentSchemas":{"a":` + sub() + `}` },
		func() string { return `"unevaluatedProperties":` + sub() },
		func() string { return `"unevaluatedItems":` + sub() },
		func() string { return `"items":` + pick(r, sub(), sub(), list()) },
		func() string { return `"prefixItems":` + list() },
		func() string { return `"additionalItems":` + sub() },
		func() string { return `"contains":` + sub() },
		func() string { return `"minContains":` + pick(r, "0", "1", "2") + `,"maxContains":1` },
		func() string { return `"minProperties":1,"maxProperties":` + pick(r, "1", "2", "2.0") },
		func() string { return `"minItems":1,"maxItems":` + pick(r, "1", "1e3", "1.5", "99999999999999999999") },
		func() string { return `"uniqueItems":` + pick(r, "true", "false") },
		func() string { return `"minLength":1,"maxLength":` + pick(r, "1", "2", "-1") },
		func() string {
			return `"minimum":` + randomNumber(r) + `,"exclusiveMaximum":` + pick(r, "true", randomNumber(r))
		},
		func() string {
			return `"maximum":` + randomNumber(r) + `,"exclusiveMinimum":` + pick(r, "false", randomNumber(r))
		},
		func() string { return `"multipleOf":` + pick(r, "1", "0.1", "2") },
		func() string { return `"enum":[` + randomScalar(r) + `,{"a":1}]` },
		func() string { return `"const":` + randomValue(r, 2) },
		func() string { return `"pattern":"` + pick(r, "a", "^.$") + `"` },
		func() string { return `"anyOf":` + list() },
		func() string { return `"allOf":` + list() },
		func() string { return `"oneOf":` + list() },
		func() string { return `"not":` + sub() },
		func() string { return `"if":` + sub() + `,"then":` + sub() + `,"else":` + sub() },
		func() string { return `"type":` + pick(r, `"string"`, `["number","integer"]`, `"object"`, `"array"`) },
	}
	all := []string{`"definitions":{"d":{"type":"integer","maximum":3}}`}
	if depth == 3 {
		all[0] = `"definitions":{"d":{"type":"integer","maximum":3},"e":{"$anchor":"x","type":"string"},"f":{"$id":"#x"},"g":{"id":"#x","minLength":2}}`
	}
	for _, i := range r.Perm(len(keywords))[:1+r.IntN(4)] {
		all = append(all, keywords[i]())
	}
	return "{" + strings.Join(all, ",") + "}"
}
