package listed

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"tabhub/hub/offer/keyword"
)

// generator makes schemas as pages write them: of all drafts, with what is wrong at any place.
type generator struct {
	*rand.Rand
	depth int
}

// schema returns any schema.
func (g *generator) schema() string {
	if g.depth > 4 || g.IntN(12) == 0 {
		return pick(g.Rand, `{}`, `true`, `false`, `{"type":"string"}`, `{"type":"null"}`, `5`, `null`, `[]`, `"string"`, `{"$ref":"#"}`)
	}
	g.depth++
	defer func() { g.depth-- }()
	var members []string
	for range g.IntN(6) {
		key := keywordNames[g.IntN(len(keywordNames))]
		members = append(members, quotedJSON(key)+":"+g.value(key))
	}
	return "{" + strings.Join(members, ",") + "}"
}

var keywordNames = func() []string {
	all := []string{"Required", "x-note", "example", "optional", "enumNames"}
	for key := range keyword.All {
		if key != keyword.Header { // which strict validators do not know
			all = append(all, key)
		}
	}
	for range 6 {
		all = append(all, "type", "properties", "items", "required", "anyOf")
	}
	slices.Sort(all)
	return all
}()

func quotedJSON(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func (g *generator) name() string {
	return pick(g.Rand, "a", "b", "kind", "user[email]", "tags[]", "$top", "密码", "a b", "", strings.Repeat("x", 70), "__proto__", "constructor", "a_b", "user_email", "\u202e", "type", "properties", "description")
}

func (g *generator) names() string {
	var all []string
	for range g.IntN(3) {
		all = append(all, quotedJSON(g.name()))
	}
	return "[" + strings.Join(all, ",") + "]"
}

func (g *generator) list(f func() string) string {
	var all []string
	for range g.IntN(4) {
		all = append(all, f())
	}
	return "[" + strings.Join(all, ",") + "]"
}

func (g *generator) object(f func() string) string {
	var all []string
	for range g.IntN(4) {
		all = append(all, quotedJSON(g.name())+":"+f())
	}
	return "{" + strings.Join(all, ",") + "}"
}

// value returns a value of a keyword, one of twelve a wrong one.
func (g *generator) value(key string) string {
	if g.IntN(12) == 0 {
		return pick(g.Rand, `null`, `true`, `"x"`, `-1`, `1.5`, `[]`, `{}`, `[1]`, `"\ud83d"`, `1e999`, `{"a":1}`, `[{"type":"string"}]`)
	}
	switch keyword.All[key].Form {
	case keyword.Prose, keyword.Text:
		switch key {
		case "pattern":
			return quotedJSON(pick(g.Rand, `^a+$`, `^[\w-.]+$`, `(?=a)b`, `(`, `\p{L}`, `[a-z]{2,}`, `\-`, `a{,3}`, `^\d{3}-\d{4}$`, `(?<y>a)\k<y>`, `(a)\1`, `\1`, `[\d-x]`, `x*?`, `^*`, `[]`, `[^]`, `\u00e9`, `{`))
		case "format":
			return quotedJSON(pick(g.Rand, "date", "date-time", "email", "color", "int32", "uri", ""))
		case "$schema":
			return pick(g.Rand, `"http://json-schema.org/draft-07/schema#"`, schema2020, `"http://json-schema.org/draft-04/schema#"`, `"x"`)
		case "$id", "id", "$anchor":
			return quotedJSON(pick(g.Rand, "x", "https://e.com/s", "#x"))
		}
		return pick(g.Rand, `"t"`, `"half \ud83d"`, `"bidi \u202e"`, `""`)
	case keyword.Examples:
		return g.list(func() string { return pick(g.Rand, `1`, `"a"`, `{"a":"\ud83d"}`) })
	case keyword.Reference:
		return quotedJSON(pick(g.Rand, "#", "#/$defs/a", "#/definitions/a", "#/properties/a", "#/properties/user%5Bemail%5D", "#/$defs/none", "#x", "http://e.com/x", "#/properties/a/items/0", "#/required", "#/allOf/0"))
	case keyword.Bool:
		return pick(g.Rand, `true`, `false`)
	case keyword.Bound, keyword.Step, keyword.Exclusive:
		return pick(g.Rand, `0`, `1`, `-3`, `0.01`, `1e3`, `true`, `9007199254740993`)
	case keyword.Count:
		return pick(g.Rand, `0`, `1`, `2`, `3`, `2.0`)
	case keyword.TypeNames:
		return pick(g.Rand, `"string"`, `"object"`, `"array"`, `"int"`, `"number"`, `"any"`, `["string","null"]`, `["string","number"]`, `["object","array","null"]`, `["integer","number"]`, `["object"]`, `[]`, `[{"type":"string"}]`)
	case keyword.Values:
		return pick(g.Rand, `["a","b"]`, `[1,"1",null]`, `[]`, `["\ud83d"]`, `[{"a":1}]`, `["a","a"]`)
	case keyword.Names:
		return pick(g.Rand, g.names(), g.names(), `true`)
	case keyword.Schema:
		return g.schema()
	case keyword.Items:
		return pick(g.Rand, g.schema(), g.list(g.schema))
	case keyword.SchemaList:
		return g.list(g.schema)
	case keyword.Schemas:
		return g.object(g.schema)
	case keyword.Dependencies, keyword.NamesByName:
		return g.object(func() string { return pick(g.Rand, g.names(), g.schema()) })
	}
	return pick(g.Rand, `1`, `"a"`, `null`, `{"a":[1,2]}`, `[]`)
}

// tool returns a schema as one of a tool, with properties most of the time.
func (g *generator) tool() string {
	s := g.schema()
	if s[0] != '{' || g.IntN(3) == 0 {
		return s
	}
	more := fmt.Sprintf(`{"type":"object","properties":%s,"$defs":%s`, g.object(g.schema), g.object(g.schema))
	if s == "{}" {
		return more + "}"
	}
	return more + "," + s[1:]
}

func pick(r *rand.Rand, all ...string) string { return all[r.IntN(len(all))] }
