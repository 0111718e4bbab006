package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"tabhub/spec/rawjson"
)

// Bounds on the alternatives at the top of a schema that are made into properties.
const (
	maxAlternatives = 50
	maxFoldDepth    = 8
)

// top returns the fields of the schema's top as model APIs take them: for an object, and
// without a reference, alternatives, or values. What is taken away is checked nevertheless, by the
// page's schema: the properties of all alternatives are listed, and a schema that does not
// come to properties is listed as that of a single argument.
func (l *lister) top(f fields) fields {
	if v := f.get("type"); v == nil || string(v) != `"object"` {
		types := typeObject
		if v != nil {
			types, _ = typesOf(v)
			l.changed = true
		}
		if types&typeObject == 0 {
			l.wrong(&place{nil, "type"}, `must be "object", not %.40s`, v)
		}
		if f.set("type", json.RawMessage(`"object"`)); v == nil {
			l.changed = true
		}
	}
	l.changed = f.drop("nullable") || l.changed
	for _, key := range []string{"then", "else"} {
		if v := f.get(key); v != nil && f.get("if") != nil && !l.output {
			if part, is, ok := l.part(v, 0); is && ok {
				f.set("properties", add(l.fields(f.get("properties")), l.fields(part.get("properties"))).object())
			}
		}
	}
	for _, key := range []string{"enum", "const", "not", "if", "then", "else"} {
		if f.drop(key) {
			l.change(&place{nil, key}, "is not listed, as model APIs refuse it there; it is checked")
		}
	}
	if v := f.get("$ref"); v != nil && l.wrongIn("$ref", kindReference, v) != "" {
		l.wrong(&place{nil, "$ref"}, "%s", l.wrongIn("$ref", kindReference, v))
		f.drop("$ref")
	}
	had := 0
	for _, key := range []string{"$ref", "allOf", "anyOf", "oneOf"} {
		v := f.get(key)
		if v == nil {
			continue
		}
		if key != "$ref" && v[0] != '[' {
			l.wrong(&place{nil, key}, "must be an array of schemas")
			f.drop(key)
			continue
		}
		had++
	}
	if had == 0 {
		return f
	}
	if folded, ok := l.fold(f, 0); ok {
		l.change(nil, "its alternatives are listed as properties, as model APIs refuse allOf, anyOf, oneOf and $ref at the top; they are checked")
		return folded
	}
	if l.output {
		l.change(nil, "allOf, anyOf, oneOf and $ref at the top are not listed")
		f.drop("$ref", "allOf", "anyOf", "oneOf")
		return f
	}
	return l.wrap()
}

// onlyObjects reports whether it is for objects that a schema is, and for nothing else. One without a
// type is for what its keywords are about.
func (l *lister) onlyObjects(v json.RawMessage, depth int) bool {
	if v[0] != '{' || depth > maxFoldDepth {
		return v[0] == 'f' // as no value fits it
	}
	is := func(v json.RawMessage) bool { return l.onlyObjects(v, depth+1) }
	f := l.fields(v)
	var types, about typeSet
	for _, m := range f {
		about |= keywords2020[m.key].types
		switch m.key {
		case "type":
			types, _ = typesOf(m.v)
		case "$ref":
			s, _ := rawjson.String(m.v)
			if path, err := pathOf(s); err == nil && strings.HasPrefix(s, "#") {
				if to, _ := l.find(path); to != nil && is(to) {
					return true
				}
			}
		case "allOf":
			if slices.ContainsFunc(slices.Collect(rawjson.Elements(m.v)), is) {
				return true
			}
		case "anyOf", "oneOf":
			all := slices.Collect(rawjson.Elements(m.v))
			if len(all) > 0 && !slices.ContainsFunc(all, func(v json.RawMessage) bool { return !is(v) }) {
				return true
			}
		}
	}
	return cmp.Or(types, about) == typeObject && string(f.get("nullable")) != "true"
}

// wrap returns the fields of a schema that has the page's as that of its only argument.
func (l *lister) wrap() fields {
	l.keys = map[string]bool{}
	allKeys(l.root, l.keys)
	l.wrapper = "input"
	for l.keys[l.wrapper] {
		l.wrapper += "_"
	}
	inner := l.fields(l.root)
	inner.set("type", json.RawMessage(`"object"`))
	inner.drop("$schema", "$defs", "definitions")
	l.change(nil, "is listed as the schema of the argument %s, as model APIs refuse allOf, anyOf, oneOf and $ref at the top", l.wrapper)
	l.about = "All arguments are members of the one argument " + l.wrapper + "."
	return fields{
		{"type", json.RawMessage(`"object"`)},
		{"properties", fields{{l.wrapper, inner.object()}}.object()},
		{"required", appendStrings(nil, []string{l.wrapper})},
	}
}

// foldable are the keywords of an alternative that come to properties, or that the hub checks.
var foldable = []string{
	"type", "properties", "required", "additionalProperties", "allOf", "anyOf", "oneOf", "$ref", "not", "minProperties", "maxProperties", "dependentRequired",
	"title", "description", "$comment", "default", "examples", "deprecated", "$schema", "$id", "$defs", "definitions", "nullable", "readOnly", "writeOnly",
}

// fold returns a schema's fields with the properties of all of its alternatives. It reports
// false if that would lose what only the page could check.
func (l *lister) fold(f fields, depth int) (_ fields, ok bool) {
	if depth > maxFoldDepth || l.work < 0 {
		return nil, false
	}
	f = slices.Clone(f)
	into := l.fields(f.get("properties"))
	required := stringsOf(orEmptyArray(f.get("required")))
	closed := false
	var all []json.RawMessage // of which each counts
	if ref := f.get("$ref"); ref != nil {
		s, _ := rawjson.String(ref)
		path, _ := pathOf(s)
		to, _ := l.find(path)
		if to == nil {
			return nil, false
		}
		all = append(all, to)
	}
	if v := f.get("allOf"); v != nil {
		all = slices.AppendSeq(all, rawjson.Elements(v))
	}
	for _, v := range all {
		part, is, ok := l.part(v, depth)
		if !ok || !is {
			return nil, false
		}
		closed = closed || string(part.get("additionalProperties")) == "false"
		into = both(into, l.fields(part.get("properties")))
		required = union(required, stringsOf(orEmptyArray(part.get("required"))))
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		v := f.get(key)
		if v == nil {
			continue
		}
		if l.output {
			return nil, false // properties of one alternative would be asked of another
		}
		var parts []fields
		for e := range rawjson.Elements(v) {
			part, is, ok := l.part(e, depth)
			if !ok || len(parts) == maxAlternatives {
				return nil, false
			}
			if is {
				parts = append(parts, part)
			}
		}
		if len(parts) == 0 {
			return nil, false
		}
		var more []string
		into, more = l.either(into, parts)
		required = union(required, more)
		l.say(parts, required)
		all := true
		for _, part := range parts {
			all = all && string(part.get("additionalProperties")) == "false"
		}
		closed = closed || all
	}
	f.drop("$ref", "allOf", "anyOf", "oneOf", "required")
	f.set("properties", into.object())
	if len(required) > 0 {
		f.set("required", appendStrings(nil, required))
	}
	if closed && f.get("additionalProperties") == nil {
		f.set("additionalProperties", json.RawMessage("false"))
	}
	return f, true
}

// part returns the fields of one alternative; is is false if no object fits it, ok if it
// does not come to properties.
func (l *lister) part(v json.RawMessage, depth int) (f fields, is, ok bool) {
	switch v[0] {
	case 't':
		return nil, true, true
	case '{':
		f = l.fields(v)
	default:
		return nil, false, v[0] == 'f'
	}
	if t := f.get("type"); t != nil {
		if types, wrong := typesOf(t); wrong == "" && types&typeObject == 0 {
			return nil, false, true
		}
	}
	for _, m := range f {
		_, known := keywords2020[m.key]
		k := keywords2020[m.key].kind
		if known && !slices.Contains(foldable, m.key) || known && l.wrongIn(m.key, k, m.v) != "" || m.key == "additionalProperties" && m.v[0] == '{' {
			return nil, false, false
		}
	}
	f, ok = l.fold(f, depth+1)
	return f, true, ok
}

// add adds properties that are not there yet.
func add(into, more fields) fields {
	for _, m := range more {
		if into.index(m.key) < 0 {
			into = append(into, m)
		}
	}
	return into
}

// both merges properties that a value must have all of.
func both(into, more fields) fields {
	for _, m := range more {
		i := into.index(m.key)
		switch {
		case i < 0:
			into = append(into, m)
		case isBare(into[i].v):
			into[i].v = m.v
		case !bytes.Equal(into[i].v, m.v) && !isBare(m.v):
			into[i].v = oneKeyword("allOf", []json.RawMessage{into[i].v, m.v})
		}
	}
	return into
}

// isBare reports whether a schema asks for a type at most.
func isBare(v json.RawMessage) bool {
	doc, err := rawjson.Decode(v)
	if err != nil || doc.Kind != rawjson.KindObject {
		return v[0] == 't'
	}
	_, ok := onlyTypes(&doc)
	return ok && doc.Member("description") == nil
}

// either merges properties of alternatives, and returns what each of them requires.
func (l *lister) either(into fields, parts []fields) (_ fields, required []string) {
	var names []string
	of := map[string][]json.RawMessage{}
	for i, part := range parts {
		need := stringsOf(orEmptyArray(part.get("required")))
		if i == 0 {
			required = need
		}
		required = slices.DeleteFunc(slices.Clone(required), func(name string) bool { return !slices.Contains(need, name) })
		known := l.fields(part.get("properties"))
		for _, name := range need {
			if known.index(name) < 0 && into.index(name) < 0 {
				known = append(known, field{name, json.RawMessage("{}")})
			}
		}
		for _, m := range known {
			if of[m.key] == nil {
				names = append(names, m.key)
			}
			if !slices.ContainsFunc(of[m.key], func(v json.RawMessage) bool { return bytes.Equal(v, m.v) }) {
				of[m.key] = append(of[m.key], m.v)
			}
		}
	}
	for _, name := range names {
		v := anyOf(of[name])
		if i := into.index(name); i < 0 {
			into = append(into, field{name, v})
		} else if isBare(into[i].v) {
			into[i].v = v
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
		c := json.RawMessage(nil)
		if v[0] == '{' {
			c = rawjson.Get(v, "const")
			for e := range rawjson.Elements(orEmptyArray(rawjson.Get(v, "enum"))) {
				values = append(values, e)
			}
		}
		switch {
		case c != nil:
			values = append(values, c)
		case v[0] != '{' || rawjson.Get(v, "enum") == nil:
			return oneKeyword("anyOf", all)
		}
	}
	out := append([]byte(`{"enum":`), arrayOf(values)...)
	if strings.HasPrefix(string(values[0]), `"`) && allStrings(arrayOf(values)) {
		out = append([]byte(`{"type":"string","enum":`), arrayOf(values)...)
	}
	return append(out, '}')
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
func (l *lister) say(parts []fields, required []string) {
	var all []string
	for _, part := range parts {
		var names []string
		for _, name := range stringsOf(orEmptyArray(part.get("required"))) {
			shown := l.alias(name)
			if v := rawjson.Get(orNull(part.get("properties")), name, "const"); v != nil && len(v) < 40 {
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
