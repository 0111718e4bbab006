package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"tabhub/spec/rawjson"
)

// keyword2020 is what a listed schema may have under a keyword.
type keyword2020 struct {
	kind      kind
	types     typeSet // of the values that it says something of; 0: all
	onlyInput bool    // what clients make of it and what the hub makes of it is not always the same
}

// keywords2020 are the keywords that are read: those of JSON Schema 2020-12, and those of
// older drafts and of OpenAPI that modern translates.
var keywords2020 = map[string]keyword2020{
	"$schema": {kind: kindString}, "$id": {kind: kindString}, "id": {kind: kindString}, "$anchor": {kind: kindString}, "$comment": {kind: kindText},
	"$dynamicAnchor": {kind: kindString}, "$recursiveAnchor": {kind: kindBool}, "$vocabulary": {kind: kindProperties},
	"$ref": {kind: kindReference}, "$dynamicRef": {kind: kindString, onlyInput: true}, "$recursiveRef": {kind: kindString, onlyInput: true},
	"$defs": {kind: kindProperties}, "definitions": {kind: kindProperties},

	"title": {kind: kindText}, "description": {kind: kindText}, "default": {kind: kindValue}, "examples": {kind: kindTexts},
	"deprecated": {kind: kindBool}, "readOnly": {kind: kindBool}, "writeOnly": {kind: kindBool}, "nullable": {kind: kindBool},

	"type": {kind: kindTypes}, "enum": {kind: kindEnum}, "const": {kind: kindValue},
	"allOf": {kind: kindSchemas}, "anyOf": {kind: kindSchemas}, "oneOf": {kind: kindSchemas}, "not": {kind: kindSchema, onlyInput: true},
	"if": {kind: kindSchema, onlyInput: true}, "then": {kind: kindSchema, onlyInput: true}, "else": {kind: kindSchema, onlyInput: true},

	"minimum": {kind: kindNumber, types: numbers}, "maximum": {kind: kindNumber, types: numbers}, "multipleOf": {kind: kindNumber, types: numbers},
	"exclusiveMinimum": {kind: kindBound, types: numbers}, "exclusiveMaximum": {kind: kindBound, types: numbers},

	"minLength": {kind: kindCount, types: typeString}, "maxLength": {kind: kindCount, types: typeString},
	"pattern": {kind: kindString, types: typeString, onlyInput: true}, "format": {kind: kindString, types: typeString | numbers, onlyInput: true},
	"contentEncoding": {kind: kindString}, "contentMediaType": {kind: kindString},
	headerKeyword: {kind: kindString, onlyInput: true},

	"items": {kind: kindItems, types: typeArray}, "additionalItems": {kind: kindSchema, types: typeArray}, "prefixItems": {kind: kindSchemas, types: typeArray, onlyInput: true},
	"minItems": {kind: kindCount, types: typeArray}, "maxItems": {kind: kindCount, types: typeArray}, "uniqueItems": {kind: kindBool, types: typeArray},
	"contains": {kind: kindSchema, types: typeArray, onlyInput: true}, "minContains": {kind: kindCount, onlyInput: true}, "maxContains": {kind: kindCount, onlyInput: true},
	"unevaluatedItems": {kind: kindSchema, types: typeArray, onlyInput: true},

	"properties": {kind: kindProperties, types: typeObject}, "required": {kind: kindNames, types: typeObject},
	"additionalProperties": {kind: kindSchema, types: typeObject}, "patternProperties": {kind: kindProperties, types: typeObject, onlyInput: true},
	"propertyNames": {kind: kindSchema, types: typeObject, onlyInput: true}, "unevaluatedProperties": {kind: kindSchema, types: typeObject, onlyInput: true},
	"minProperties": {kind: kindCount, types: typeObject}, "maxProperties": {kind: kindCount, types: typeObject},
	"dependencies": {kind: kindDependencies, types: typeObject, onlyInput: true}, "dependentRequired": {kind: kindDependencies, types: typeObject, onlyInput: true},
	"dependentSchemas": {kind: kindProperties, types: typeObject, onlyInput: true},
}

const numbers = typeNumber | typeInteger

// headerKeyword is MCP's: the header of HTTP in which clients repeat an argument. It is the one
// keyword that is listed though JSON Schema does not know it.
const headerKeyword = "x-mcp-header"

// kind is what a keyword has to be.
type kind int

const (
	kindValue        kind = iota // anything
	kindText                     // that people and models read
	kindTexts                    // examples, which inform only
	kindString                   // for programs
	kindReference                // to a part of the same schema
	kindBool                     //
	kindNumber                   //
	kindBound                    // a number, or of draft-04 true or false
	kindCount                    // a whole number
	kindTypes                    // a type, or an array of types
	kindEnum                     // an array of values
	kindNames                    // an array of names of properties
	kindSchema                   //
	kindSchemas                  // an array of schemas
	kindItems                    // a schema, or of older drafts an array of schemas
	kindProperties               // an object of schemas
	kindDependencies             // an object of arrays of names, or of draft-07 of schemas
)

func (k keyword2020) nests() bool { return k.kind >= kindNames }

// wrongIn says what is wrong with the value of a keyword, "" if nothing is. Whether a schema
// is one is looked at where it is read.
func (l *lister) wrongIn(key string, k kind, v json.RawMessage) string {
	want := func(ok bool, what string) string {
		if ok {
			return ""
		}
		return "must be " + what
	}
	switch k {
	case kindValue, kindEnum:
		if !rawjson.Portable(v) {
			return "holds half of a surrogate pair, or a number that is out of range"
		}
		if k == kindEnum {
			return want(v[0] == '[' && !emptyArray(v), "an array with a value")
		}
	case kindTexts:
		return want(v[0] == '[' && rawjson.Portable(v), "an array")
	case kindText:
		return want(v[0] == '"', "a string")
	case kindString:
		return want(v[0] == '"' && rawjson.Portable(v), "a string")
	case kindReference:
		ref, ok := rawjson.String(v)
		if !ok {
			return "must be a string"
		}
		if !strings.HasPrefix(ref, "#") {
			return quoted(ref) + ` is refused: only references within the schema ("#…") are followed`
		}
		path, err := pathOf(ref)
		if err != nil {
			return "is not followed: only references to a place (\"#/…\") are"
		}
		to, _ := l.find(path)
		switch {
		case to == nil:
			return quoted(ref) + " leads to nothing"
		case to[0] != '{' && to[0] != 't' && to[0] != 'f':
			return "leads to what is no schema"
		case l.circular(to):
			return "leads back to itself without going into a member"
		}
	case kindBool:
		return want(v[0] == 't' || v[0] == 'f', "true or false")
	case kindBound, kindNumber:
		if k == kindBound && (v[0] == 't' || v[0] == 'f') {
			return ""
		}
		if v[0] != '-' && (v[0] < '0' || v[0] > '9') {
			return "must be a number"
		}
		if len(v) < 10 && key != "multipleOf" && !bytes.ContainsAny(v, "eE") {
			return ""
		}
		if checkNumber(string(v)) != nil || !rawjson.Portable(v) {
			return errNumber.Error()
		}
		if key == "multipleOf" {
			return want(numberOf(string(v)).Sign() > 0, "more than 0")
		}
	case kindCount:
		if len(v) < 10 && !bytes.ContainsFunc(v, func(r rune) bool { return r < '0' || r > '9' }) {
			return ""
		}
		ok := v[0] >= '0' && v[0] <= '9' && checkNumber(string(v)) == nil && numberOf(string(v)).IsInt()
		return want(ok, "a whole number of at least 0")
	case kindTypes:
		_, wrong := typesOf(v)
		return wrong
	case kindNames:
		return want(v[0] == '[' && rawjson.Portable(v) && allStrings(v), "an array of strings")
	case kindSchemas:
		return want(v[0] == '[' && !emptyArray(v), "an array of schemas")
	case kindItems:
		return want(v[0] == '{' || v[0] == '[' || v[0] == 't' || v[0] == 'f', "a schema")
	case kindProperties, kindDependencies:
		return want(v[0] == '{', "an object")
	}
	return ""
}

func emptyArray(v json.RawMessage) bool {
	for range rawjson.Elements(v) {
		return false
	}
	return true
}

func allStrings(v json.RawMessage) bool {
	for e := range rawjson.Elements(v) {
		if e[0] != '"' {
			return false
		}
	}
	return true
}

func stringsOf(v json.RawMessage) (all []string) {
	for e := range rawjson.Elements(v) {
		s, _ := rawjson.String(e)
		all = append(all, s)
	}
	return all
}

// appendStrings appends an array of strings.
func appendStrings(out []byte, all []string) []byte {
	out = append(out, '[')
	for i, s := range all {
		if i > 0 {
			out = append(out, ',')
		}
		out = rawjson.AppendString(out, s)
	}
	return append(out, ']')
}

// typesOf returns the types that the keyword type names; wrong says what is wrong with it, ""
// if nothing is.
func typesOf(v json.RawMessage) (types typeSet, wrong string) {
	if v[0] == '"' {
		if types = typeNames[string(v[1:len(v)-1])]; types != 0 {
			return types, ""
		}
	}
	var names []string
	if v[0] == '[' && allStrings(v) {
		names = stringsOf(v)
	} else if s, ok := rawjson.String(v); ok {
		names = append(names, s)
	}
	for _, name := range names {
		one := typeNamed(name)
		if one == 0 {
			return 0, cut(name) + " is no type"
		}
		types |= one
	}
	if types == 0 {
		return 0, "must name a type"
	}
	return types, ""
}

// typeNamed returns the type of a name, 0 if there is none.
func typeNamed(name string) typeSet {
	if t := typeNames[name]; t != 0 {
		return t
	}
	name = strings.ToLower(name)
	return typeNames[cmp.Or(otherNames[name], name)]
}

// otherNames are what pages call the types of JSON Schema besides.
var otherNames = map[string]string{
	"int": "integer", "long": "integer", "float": "number", "double": "number", "decimal": "number", "bool": "boolean", "str": "string", "text": "string",
	"list": "array", "tuple": "array", "dict": "object", "map": "object", "none": "null", "nil": "null",
}

// appendTypes appends the value of the keyword type.
func appendTypes(out []byte, types typeSet) []byte {
	names := types.names()
	if len(names) == 1 {
		return rawjson.AppendString(out, names[0])
	}
	return appendStrings(out, names)
}

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
