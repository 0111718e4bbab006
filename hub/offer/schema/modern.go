package schema

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"tabhub/spec/rawjson"
)

// circular reports whether a schema refers back to itself for the same value.
func (l *lister) circular(v json.RawMessage) bool {
	if l.loops == nil {
		l.loops = map[*byte]bool{}
	}
	if loops, seen := l.loops[&v[0]]; seen {
		return loops
	}
	l.loops[&v[0]] = true // until it is known that it does not
	loops := false
	visit := func(v json.RawMessage) { loops = loops || v[0] == '{' && l.circular(v) }
	for _, m := range l.fields(v) {
		switch m.key {
		case "$ref":
			if ref, ok := rawjson.String(m.v); ok {
				if path, err := pathOf(ref); err == nil && strings.HasPrefix(ref, "#") {
					if to, _ := l.find(path); to != nil {
						visit(to)
					}
				}
			}
		case "not", "if", "then", "else":
			visit(m.v)
		case "allOf", "anyOf", "oneOf":
			if m.v[0] == '[' {
				for e := range rawjson.Elements(m.v) {
					visit(e)
				}
			}
		case "dependentSchemas", "dependencies":
			if m.v[0] == '{' {
				for _, v := range rawjson.Members(m.v) {
					visit(v)
				}
			}
		}
	}
	l.loops[&v[0]] = loops
	return loops
}

const schema2020 = `"https://json-schema.org/draft/2020-12/schema"`

// bounds are the keywords that draft-04 has true or false for, and those whose bounds they exclude.
var bounds = [][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}}

// modern makes what a schema has of other drafts into what 2020-12 has for it.
func (l *lister) modern(f *fields, at *place) {
	if s := f.get("$schema"); s != nil && (at != nil || string(s) != schema2020) {
		l.changed = f.drop("$schema")
	}
	if at == nil && f.index("$defs") >= 0 {
		l.rootDefs = f.get("$defs")
		f.drop("$defs")
	}
	if f.drop("$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$defs", "definitions") {
		l.changed = true // what is referred to is written at the end
	}
	if f.drop("$dynamicRef", "$recursiveRef") {
		l.wrong(at, "dynamic references are not followed")
	}
	for _, pair := range bounds {
		key, limit := pair[0], pair[1]
		switch v := f.get(key); {
		case v == nil || v[0] != 't' && v[0] != 'f':
			continue
		case v[0] == 't' && f.get(limit) != nil:
			f.set(key, f.get(limit))
			f.drop(limit)
		default:
			f.drop(key)
		}
		l.changed = true
	}
	l.tuple(f, at)
	if v := f.get("dependencies"); v != nil || f.get("dependentRequired") != nil {
		l.dependencies(f, at)
	}
	if v := f.get("nullable"); v != nil {
		if types, wrong := typesOf(append(json.RawMessage(nil), orNull(f.get("type"))...)); v[0] == 't' && wrong == "" {
			f.set("type", appendTypes(nil, types|typeNull))
		}
		l.changed = f.drop("nullable")
	}
}

func orNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return null
	}
	return v
}

var null = json.RawMessage("null")

// dependencies tells the names that another property requires from the schemas that it asks for.
func (l *lister) dependencies(f *fields, at *place) {
	names, schemas := []byte{'{'}, []byte{'{'}
	add := func(out []byte, key string, v json.RawMessage) []byte {
		return append(rawjson.AppendKey(out, key), v...)
	}
	for _, key := range []string{"dependentSchemas", "dependentRequired", "dependencies"} {
		for _, m := range l.fields(f.get(key)) {
			switch {
			case m.v[0] == '[' && key != "dependentSchemas" && allStrings(m.v) && rawjson.Portable(m.v):
				names = add(names, m.key, appendStrings(nil, union(nil, stringsOf(m.v))))
			case m.v[0] != '[' && key != "dependentRequired":
				schemas = add(schemas, m.key, m.v)
			default:
				l.wrong(&place{&place{at, key}, m.key}, "must be an array of strings")
			}
		}
	}
	l.changed = f.drop("dependencies") || l.changed
	for key, v := range map[string][]byte{"dependentRequired": names, "dependentSchemas": schemas} {
		if f.drop(key); len(v) > 1 {
			f.set(key, append(v, '}'))
		}
	}
}

// tuple makes arrays whose first items have schemas of their own, in which drafts differ, into
// arrays of just those, or into arrays of any of them.
func (l *lister) tuple(f *fields, at *place) {
	if items := f.get("items"); items != nil && items[0] == '[' {
		l.changed = true
		rest := f.get("additionalItems")
		f.drop("items", "additionalItems")
		if l.output {
			l.lost++
			return
		}
		if !emptyArray(items) {
			f.set("prefixItems", items)
		}
		if rest != nil {
			f.set("items", rest)
		}
	}
	l.changed = f.drop("additionalItems") || l.changed
	prefix, rest := f.get("prefixItems"), f.get("items")
	if rest != nil && rest[0] == 'f' {
		l.changed = true
		f.drop("items")
		if prefix == nil {
			f.set("maxItems", json.RawMessage("0"))
			return
		}
	}
	if prefix == nil {
		return
	}
	var all []json.RawMessage
	for e := range rawjson.Elements(prefix) {
		all = append(all, e)
	}
	n := strconv.Itoa(len(all))
	is := func(key string) bool { return f.get(key) == nil || string(f.get(key)) == n }
	if (rest == nil || rest[0] != '{' || len(l.fields(rest)) == 0) && is("minItems") && is("maxItems") {
		if f.get("minItems") == nil || f.get("maxItems") == nil {
			l.change(at, "is listed with just %s items", n)
		}
		f.set("minItems", json.RawMessage(n))
		f.set("maxItems", json.RawMessage(n))
		return
	}
	l.change(at, "is listed as an array of any of its items, in any order")
	f.drop("prefixItems")
	most, err := strconv.Atoi(string(orNull(f.get("maxItems"))))
	switch {
	case rest != nil && rest[0] == '{':
		all = append(all, rest)
	case (rest == nil || rest[0] == 't') && (err != nil || most > len(all)):
		f.drop("items")
		return
	}
	f.set("items", oneKeyword("anyOf", all))
}

// oneKeyword returns a schema with one keyword, an array of schemas.
func oneKeyword(key string, all []json.RawMessage) json.RawMessage {
	out := append(rawjson.AppendKey([]byte{'{'}, key), '[')
	for i, v := range all {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, "]}"...)
}

// required makes a schema require what it says is required, whatever the draft, and know of
// each such property, as validators that are strict want it.
func (l *lister) required(f *fields, at *place) {
	properties := l.fields(f.get("properties"))
	names := stringsOf(f.get("required"))
	had, changed := len(names), false
	unlisted := func(name string) bool { return strings.ContainsRune(name, '\uFFFD') || l.output && !isKey(name) }
	properties = slices.DeleteFunc(properties, func(p field) bool {
		if unlisted(p.key) {
			if l.lost++; !l.output {
				l.wrong(at, "%s cannot be the name of a property", quoted(p.key))
			}
			f.drop("additionalProperties")
			changed = true
			return true
		}
		if p.v[0] == '{' && string(rawjson.Get(p.v, "required")) == "true" && !slices.Contains(names, p.key) { // draft-03
			names = append(names, p.key)
			l.change(at, "requires %s", quoted(p.key))
		}
		return false
	})
	added := len(names) > had
	if len(names) > 0 {
		names = slices.DeleteFunc(union(nil, names), unlisted)
	}
	for _, name := range names {
		if properties.index(name) < 0 {
			properties, changed = append(properties, field{name, json.RawMessage("{}")}), true
		}
	}
	if added || len(names) != had {
		l.changed = true
		if f.drop("required"); len(names) > 0 {
			f.set("required", appendStrings(nil, names))
		}
	}
	if changed {
		l.changed = true
		f.set("properties", properties.object())
	}
}

// object returns an object with these members.
func (f fields) object() json.RawMessage {
	out := []byte{'{'}
	for _, m := range f {
		out = append(rawjson.AppendKey(out, m.key), m.v...)
	}
	return append(out, '}')
}

// never is what types returns of a schema that no value fits.
const never typeSet = 1 << 7

// types gives a schema the type that its keywords are about, if it names none, and takes away
// the keywords that are about others; several types become alternatives. It returns the
// types that a value of the schema can have. context are those that the value has anyway.
func (l *lister) types(f *fields, at *place, context typeSet) typeSet {
	types := context
	if v := f.get("type"); v != nil {
		named, _ := typesOf(v)
		if named&typeNumber != 0 {
			named &^= typeInteger
		}
		if types = named; context != 0 {
			types = named & context
			if context&typeNumber != 0 {
				types = named & (context | typeInteger)
			} else if named&typeNumber != 0 {
				types |= context & typeInteger
			}
			if types == 0 {
				return never
			}
		}
		if v[0] == '"' && types == named && typeNames[string(v[1:len(v)-1])] != 0 {
			// It is as it must be.
		} else if want := appendTypes(nil, types); string(want) != string(v) && (named != types || v[0] == '"' || !sameNames(v, types)) {
			if _, ok := rawjson.String(v); ok {
				l.change(&place{at, "type"}, "%s is listed as %s", v, want)
			}
			l.changed = true
			f.set("type", want)
		}
	}
	if types == 0 && !l.output {
		for _, t := range [...]typeSet{typeObject, typeArray, typeString, numbers} {
			if slices.ContainsFunc(*f, func(m field) bool { return keywords2020[m.key].types&t != 0 }) {
				l.changed = true
				types = t &^ typeInteger
				f.set("type", appendTypes(nil, types))
				break
			}
		}
	}
	applies := func(key string, types typeSet) bool {
		about := keywords2020[key].types
		return about == 0 || about&types != 0
	}
	*f = slices.DeleteFunc(*f, func(m field) bool {
		ok := applies(m.key, types)
		l.changed = l.changed || !ok
		return !ok
	})
	if rest := types &^ typeNull; rest&(rest-1) == 0 || f.get("type") == nil {
		return types
	}
	// Validators that are strict know no union of types.
	l.changed = true
	var branches []json.RawMessage
	for _, name := range types.names() {
		t := typeNames[name]
		branch := fields{{"type", rawjson.AppendString(nil, name)}}
		for _, m := range *f {
			if keywords2020[m.key].types != 0 && applies(m.key, t) {
				branch = append(branch, m)
			}
		}
		branches = append(branches, branch.object())
	}
	*f = slices.DeleteFunc(*f, func(m field) bool { return m.key == "type" || keywords2020[m.key].types != 0 })
	if f.get("anyOf") == nil {
		f.set("anyOf", arrayOf(branches))
		return 0
	}
	all := []json.RawMessage{oneKeyword("anyOf", branches)}
	for e := range rawjson.Elements(orEmptyArray(f.get("allOf"))) {
		all = append(all, e)
	}
	f.set("allOf", arrayOf(all))
	return 0
}

// sameNames reports whether the keyword type has these types as it must have them.
func sameNames(v json.RawMessage, types typeSet) bool {
	names := stringsOf(v)
	slices.Sort(names)
	want := types.names()
	slices.Sort(want)
	return len(want) > 1 && slices.Equal(names, want)
}

func arrayOf(all []json.RawMessage) json.RawMessage {
	v := oneKeyword("", all)
	return v[len(`{"":`) : len(v)-1]
}

func orEmptyArray(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("[]")
	}
	return v
}

// complete gives a schema what model APIs want it to have, and takes away what has no effect,
// which strict validators refuse.
func (l *lister) complete(f *fields, at *place, types typeSet) {
	add := func(key, v string) {
		l.changed = true
		f.set(key, json.RawMessage(v))
	}
	has := func(key string) bool { return f.get(key) != nil }
	drop := func(keys ...string) { l.changed = f.drop(keys...) || l.changed }
	if has("type") && types&typeObject != 0 && !has("properties") {
		add("properties", "{}")
	}
	if has("type") && types&typeArray != 0 && !has("items") {
		add("items", "{}")
	}
	for _, key := range [...]string{"not", "if"} {
		if v := f.get(key); v != nil && l.losesIn(v, at, types) {
			drop(key) // what excludes less would exclude more
		}
	}
	if !has("if") {
		drop("then", "else")
	} else if !has("then") && !has("else") {
		drop("if")
	}
	least, most := cmp.Or(string(f.get("minContains")), "1"), string(f.get("maxContains"))
	if !has("contains") || most == "" && least == "0" || most != "" && numberOf(least).Cmp(numberOf(most)) > 0 {
		drop("contains", "minContains", "maxContains")
	}
	if v := f.get("unevaluatedProperties"); v != nil && v[0] == 't' {
		drop("unevaluatedProperties")
	}
	if v := f.get("multipleOf"); l.output && v != nil && !numberOf(string(v)).IsInt() {
		drop("multipleOf") // clients reckon in binary
	}
	if s, ok := rawjson.String(orNull(f.get("pattern"))); ok && !isPattern(s) {
		l.lost++
		drop("pattern")
		l.describe(f, "pattern: "+cut(s))
	}
	if s, ok := rawjson.String(orNull(f.get("format"))); ok && !slices.Contains(formats, s) {
		drop("format")
		l.describe(f, "format: "+cut(s))
	}
	if v := f.get("patternProperties"); v != nil {
		l.patterns(f, v, at)
	}
	if has("propertyNames") {
		for _, p := range l.fields(f.get("properties")) {
			if !isKey(p.key) {
				drop("propertyNames") // which the alias may not fit
				l.lost++
				break
			}
		}
	}
}

// losesIn reports whether a schema loses a check when it is listed.
func (l *lister) losesIn(v json.RawMessage, at *place, types typeSet) bool {
	loses, known := l.loses[&v[0]]
	if !known {
		if l.loses == nil {
			l.loses = map[*byte]bool{}
		}
		lost := l.lost
		l.schema(nil, v, at, types)
		loses = l.lost > lost
		l.loses[&v[0]] = loses
	}
	return loses
}

// formats are those that validators know.
var formats = []string{
	"date", "time", "date-time", "duration", "uri", "uri-reference", "uri-template", "email", "hostname", "ipv4", "ipv6", "regex", "uuid",
	"json-pointer", "relative-json-pointer",
}

// describe adds to the description of a schema what it cannot say otherwise.
func (l *lister) describe(f *fields, text string) {
	said, _ := rawjson.String(orNull(f.get("description")))
	if said != "" {
		said += " "
	}
	f.set("description", rawjson.AppendString(nil, said+"("+text+")"))
}

// patterns keeps those patterns of names that clients can match and that match no property,
// which strict validators refuse.
func (l *lister) patterns(f *fields, v json.RawMessage, at *place) {
	var kept fields
	properties := l.fields(f.get("properties"))
	for _, m := range l.fields(v) {
		ok := isPattern(m.key) && programOf(m.key) <= maxProgram
		if ok {
			p := newPattern(m.key)
			ok = !slices.ContainsFunc(properties, func(m field) bool { return p.MatchString(m.key) || p.MatchString(l.alias(m.key)) })
		}
		if ok {
			kept = append(kept, m)
		}
	}
	if len(kept) == len(l.fields(v)) {
		return
	}
	l.changed = true
	l.lost++
	f.drop("patternProperties", "additionalProperties")
	if len(kept) > 0 {
		f.set("patternProperties", kept.object())
	}
}
