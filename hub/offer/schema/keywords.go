package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
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
