package listed

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"tabhub/hub/offer/keyword"
	"tabhub/spec/rawjson"
)

// Bounds on the alternatives at the top of a schema that are made into properties.
const (
	maxAlternatives = 50
	maxFoldDepth    = 8
)

// top returns the fields of the schema's top as model APIs take them: for an object, and
// without a reference, alternatives, or values. What is taken away is checked nevertheless, by the
// page's schema: the properties of all alternatives are listed.
func (l *lister) top(f keyword.Fields) keyword.Fields {
	if v := f.Get("type"); string(v) != `"object"` {
		if types, _ := keyword.TypesOf(orNull(v)); v != nil && types&keyword.Object == 0 {
			l.wrong(&keyword.Place{Token: "type"}, `must be "object", not %.40s`, v)
		}
		l.changed = true
		f.Set("type", json.RawMessage(`"object"`))
	}
	l.drop(&f, "nullable")
	l.addBranches(&f, 0)
	for _, key := range []string{"enum", "const", "not", "if", "then", "else"} {
		if f.Drop(key) {
			l.change(&keyword.Place{Token: key}, "is not listed, as model APIs refuse it there; it is checked")
		}
	}
	folds := false
	for _, key := range alternatives {
		v := f.Get(key)
		if v == nil {
			continue
		}
		if why := l.wrongIn(keyword.Field{Key: key, Value: v}); why != "" {
			l.wrong(&keyword.Place{Token: key}, "%s", why)
			f.Drop(key)
			continue
		}
		folds = true
	}
	if !folds {
		return f
	}
	l.change(nil, "its alternatives are listed as properties, as model APIs refuse allOf, anyOf, oneOf and $ref at the top; they are checked")
	return l.fold(f, 0)
}

// alternatives are the keywords in whose place the properties of their schemas are listed.
var alternatives = []string{"$ref", "allOf", "anyOf", "oneOf"}

// onlyObjects reports whether only objects fit a schema. One without a type is for what its
// keywords are about.
func (l *lister) onlyObjects(v json.RawMessage, depth int) bool {
	if len(v) == 0 || v[0] != '{' || depth > maxFoldDepth {
		return len(v) > 0 && v[0] == 'f' // as no value fits it
	}
	is := func(v json.RawMessage) bool { return l.onlyObjects(v, depth+1) }
	f := l.fields(v)
	var types, about keyword.Types
	for _, m := range f {
		about |= keyword.All[m.Key].Types
		all := keyword.Elements(m.Value)
		switch m.Key {
		case "type":
			types, _ = keyword.TypesOf(m.Value)
		case "$ref":
			all = []json.RawMessage{l.referred(m.Value)}
			fallthrough
		case "allOf":
			if slices.ContainsFunc(all, is) {
				return true
			}
		case "anyOf", "oneOf":
			if len(all) > 0 && !slices.ContainsFunc(all, func(v json.RawMessage) bool { return !is(v) }) {
				return true
			}
		}
	}
	return cmp.Or(types, about) == keyword.Object && string(f.Get("nullable")) != "true"
}

// fold returns a schema's fields with the properties of all of its alternatives in their place.
// What does not come to properties is left to the page's schema.
func (l *lister) fold(f keyword.Fields, depth int) keyword.Fields {
	f = slices.Clone(f)
	each := keyword.Elements(f.Get("allOf")) // of which each counts
	if ref := f.Get("$ref"); ref != nil {
		each = append(each, orNull(l.referred(ref)))
	}
	either := [][]json.RawMessage{keyword.Elements(f.Get("anyOf")), keyword.Elements(f.Get("oneOf"))}
	f.Drop(alternatives...)
	if depth > maxFoldDepth || l.work < 0 {
		return f
	}
	into := l.fields(f.Get("properties"))
	required := keyword.Strings(f.Get("required"))
	closed := false
	var branches []keyword.Fields
	for _, v := range each {
		part, _ := l.part(v, depth)
		branches = append(branches, l.branches(part, depth)...)
		closed = closed || isClosed(part)
		into = both(into, l.fields(part.Get("properties")))
		required = union(required, keyword.Strings(part.Get("required")))
	}
	into = l.withBranches(into, branches)
	for _, all := range either {
		if l.output || len(all) > maxAlternatives {
			continue // properties of one alternative would be asked of another
		}
		var parts []keyword.Fields
		for _, v := range all {
			if part, fits := l.part(v, depth); fits {
				l.addBranches(&part, depth)
				parts = append(parts, part)
			}
		}
		if len(parts) == 0 {
			continue
		}
		var more []string
		into, more = l.either(into, parts)
		required = union(required, more)
		l.say(parts, required)
		closed = closed || !slices.ContainsFunc(parts, func(f keyword.Fields) bool { return !isClosed(f) })
	}
	f.Set("properties", into.JSON())
	if f.Drop("required"); len(required) > 0 {
		f.Set("required", keyword.AppendStrings(nil, required))
	}
	if closed && !f.Has("additionalProperties") {
		f.Set("additionalProperties", json.RawMessage("false"))
	}
	return f
}

// branches returns the schemas then and else of a schema.
func (l *lister) branches(f keyword.Fields, depth int) (all []keyword.Fields) {
	for _, key := range []string{"then", "else"} {
		if v := f.Get(key); v != nil && f.Has("if") && !l.output {
			part, _ := l.part(v, depth)
			all = append(all, part)
		}
	}
	return all
}

// addBranches adds the properties that only the branches of a schema have to its own.
func (l *lister) addBranches(f *keyword.Fields, depth int) {
	if branches := l.branches(*f, depth); branches != nil {
		f.Set("properties", l.withBranches(l.fields(f.Get("properties")), branches).JSON())
	}
}

// withBranches adds the properties that only branches have.
func (l *lister) withBranches(properties keyword.Fields, branches []keyword.Fields) keyword.Fields {
	var more []keyword.Fields
	for _, f := range branches {
		only := slices.DeleteFunc(l.fields(f.Get("properties")), func(m keyword.Field) bool { return properties.Has(m.Key) })
		more = append(more, keyword.Fields{{Key: "properties", Value: only.JSON()}})
	}
	properties, _ = l.either(properties, more)
	return properties
}

// isClosed reports whether the properties of a schema are all that there may be.
func isClosed(f keyword.Fields) bool {
	return string(f.Get("additionalProperties")) == "false" && !f.Has("patternProperties")
}

// part returns the fields of an alternative, folded themselves; fits is false if no object fits it.
func (l *lister) part(v json.RawMessage, depth int) (f keyword.Fields, fits bool) {
	if v[0] == 'f' {
		return nil, false
	}
	f = slices.DeleteFunc(l.fields(v), func(m keyword.Field) bool { return l.wrongIn(m) != "" })
	if types, _ := keyword.TypesOf(orNull(f.Get("type"))); types != 0 && types&keyword.Object == 0 {
		return nil, false
	}
	return l.fold(f, depth+1), true
}

// both merges properties that a value must have all of.
func both(into, more keyword.Fields) keyword.Fields {
	for _, m := range more {
		i := into.Index(m.Key)
		switch {
		case i < 0:
			into = append(into, m)
		case isBare(into[i].Value):
			into[i].Value = m.Value
		case !bytes.Equal(into[i].Value, m.Value) && !isBare(m.Value):
			into[i].Value = oneKeyword("allOf", into[i].Value, m.Value)
		}
	}
	return into
}

// isBare reports whether a schema asks for a type at most.
func isBare(v json.RawMessage) bool {
	f, _ := keyword.FieldsOf(v)
	_, ok := f.OnlyTypes()
	return v[0] == 't' || v[0] == '{' && ok && !f.Has("description")
}

// either merges properties of alternatives, and returns what each of them requires.
func (l *lister) either(into keyword.Fields, parts []keyword.Fields) (_ keyword.Fields, required []string) {
	var names []string
	of := map[string][]json.RawMessage{}
	for i, part := range parts {
		need := keyword.Strings(part.Get("required"))
		if i == 0 {
			required = slices.Clone(need)
		}
		required = slices.DeleteFunc(required, func(name string) bool { return !slices.Contains(need, name) })
		properties := l.fields(part.Get("properties"))
		for _, name := range need {
			if !properties.Has(name) && !into.Has(name) {
				properties = append(properties, keyword.Field{Key: name, Value: json.RawMessage("{}")})
			}
		}
		for _, m := range properties {
			if of[m.Key] == nil {
				names = append(names, m.Key)
			}
			if !slices.ContainsFunc(of[m.Key], func(v json.RawMessage) bool { return bytes.Equal(v, m.Value) }) {
				of[m.Key] = append(of[m.Key], m.Value)
			}
		}
	}
	for _, name := range names {
		if v := into.Get(name); v == nil || isBare(v) {
			into.Set(name, anyOf(of[name]))
		}
	}
	return into, required
}

// anyOf returns a schema for what fits one of several: the values together, if each is for
// a value.
func anyOf(all []json.RawMessage) json.RawMessage {
	if len(all) == 1 {
		return all[0]
	}
	var values []json.RawMessage
	for _, v := range all {
		f, _ := keyword.FieldsOf(v)
		of := keyword.Elements(f.Get("enum"))
		if c := f.Get("const"); c != nil {
			of = append(of, c)
		}
		if len(of) == 0 {
			return oneKeyword("anyOf", all...)
		}
		values = append(values, of...)
	}
	schema := keyword.Fields{{Key: "enum", Value: keyword.ArrayOf(values...)}}
	if !slices.ContainsFunc(values, func(v json.RawMessage) bool { return v[0] != '"' }) {
		schema = append(schema, keyword.Field{Key: "type", Value: json.RawMessage(`"string"`)})
	}
	return schema.JSON()
}

// union returns the texts of both, each once.
func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// maxAbout bounds what is said of alternatives.
const maxAbout = 300

// say tells the model which arguments belong together.
func (l *lister) say(parts []keyword.Fields, required []string) {
	var all []string
	for _, part := range parts {
		var names []string
		for _, name := range keyword.Strings(part.Get("required")) {
			shown := l.alias(name)
			if v := rawjson.Get(orNull(part.Get("properties")), name, "const"); v != nil && len(v) < 40 {
				shown += " " + string(v)
			} else if slices.Contains(required, name) {
				continue
			}
			names = append(names, shown)
		}
		if len(names) == 0 {
			return
		}
		all = append(all, strings.Join(names, " and "))
	}
	if text := "Its arguments are those of one of these: " + strings.Join(all, "; ") + "."; l.about == "" && len(text) <= maxAbout && len(all) > 1 {
		l.about = text
	}
}
