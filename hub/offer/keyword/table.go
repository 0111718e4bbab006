package keyword

import (
	"bytes"
	"encoding/json"

	"tabhub/spec/rawjson"
)

// Keyword is what a schema may have under a keyword.
type Keyword struct {
	Form  Form
	Types Types // of the values that it says something of; 0: all
	// InputOnly keywords are not listed of a schema for results: clients and the hub do not
	// always evaluate them alike.
	InputOnly bool
}

// All are the keywords that are read: those of JSON Schema 2020-12, and those of older drafts and
// of OpenAPI.
var All = map[string]Keyword{
	"$schema": {Form: Text}, "$id": {Form: Text}, "id": {Form: Text}, "$anchor": {Form: Text}, "$comment": {Form: Prose},
	"$dynamicAnchor": {Form: Text}, "$recursiveAnchor": {Form: Bool}, "$vocabulary": {Form: Schemas},
	"$ref": {Form: Reference}, "$dynamicRef": {Form: Text, InputOnly: true}, "$recursiveRef": {Form: Text, InputOnly: true},
	"$defs": {Form: Schemas}, "definitions": {Form: Schemas},

	"title": {Form: Prose}, "description": {Form: Prose}, "default": {Form: Value}, "examples": {Form: Examples},
	"deprecated": {Form: Bool}, "readOnly": {Form: Bool}, "writeOnly": {Form: Bool}, "nullable": {Form: Bool},

	"type": {Form: TypeNames}, "enum": {Form: Values}, "const": {Form: Value},
	"allOf": {Form: SchemaList}, "anyOf": {Form: SchemaList}, "oneOf": {Form: SchemaList}, "not": {Form: Schema, InputOnly: true},
	"if": {Form: Schema, InputOnly: true}, "then": {Form: Schema, InputOnly: true}, "else": {Form: Schema, InputOnly: true},

	"minimum": {Form: Bound, Types: Number}, "maximum": {Form: Bound, Types: Number}, "multipleOf": {Form: Step, Types: Number},
	"exclusiveMinimum": {Form: Exclusive, Types: Number}, "exclusiveMaximum": {Form: Exclusive, Types: Number},

	"minLength": {Form: Count, Types: String}, "maxLength": {Form: Count, Types: String},
	"pattern": {Form: Text, Types: String, InputOnly: true}, "format": {Form: Text, Types: String | Number, InputOnly: true},
	"contentEncoding": {Form: Text}, "contentMediaType": {Form: Text},
	Header: {Form: Text, InputOnly: true},

	"items": {Form: Items, Types: Array}, "additionalItems": {Form: Schema, Types: Array}, "prefixItems": {Form: SchemaList, Types: Array},
	"minItems": {Form: Count, Types: Array}, "maxItems": {Form: Count, Types: Array}, "uniqueItems": {Form: Bool, Types: Array},
	"contains": {Form: Schema, Types: Array, InputOnly: true}, "minContains": {Form: Count, InputOnly: true}, "maxContains": {Form: Count, InputOnly: true},
	"unevaluatedItems": {Form: Schema, Types: Array, InputOnly: true},

	"properties": {Form: Schemas, Types: Object}, "required": {Form: Names, Types: Object},
	"additionalProperties": {Form: Schema, Types: Object}, "patternProperties": {Form: Schemas, Types: Object, InputOnly: true},
	"propertyNames": {Form: Schema, Types: Object, InputOnly: true}, "unevaluatedProperties": {Form: Schema, Types: Object, InputOnly: true},
	"minProperties": {Form: Count, Types: Object}, "maxProperties": {Form: Count, Types: Object},
	"dependencies": {Form: Dependencies, Types: Object, InputOnly: true}, "dependentRequired": {Form: NamesByName, Types: Object, InputOnly: true},
	"dependentSchemas": {Form: Schemas, Types: Object, InputOnly: true},
}

// Header is MCP's: the header of HTTP in which clients repeat an argument. It is the one
// keyword that is listed though JSON Schema does not know it.
const Header = "x-mcp-header"

// Form is the form that a keyword's value must have.
type Form int

// The forms of values.
const (
	Value        Form = iota // any
	Prose                    // a string that people and models read
	Examples                 // an array of values that inform only
	Text                     // a string for programs
	Reference                // to a part of the same schema
	Bool                     //
	Bound                    // a number
	Step                     // a number above 0
	Exclusive                // a number, or in draft-04 true or false
	Count                    // a whole number of at least 0
	TypeNames                // a type, or an array of types
	Values                   // an array of values
	Names                    // an array of names of properties
	NamesByName              // an object of arrays of names
	Schema                   //
	SchemaList               // an array of schemas
	Items                    // a schema, or in older drafts an array of schemas
	Schemas                  // an object of schemas
	Dependencies             // an object of arrays of names, and of schemas
)

// Nests reports whether what the value holds is read for itself.
func (f Form) Nests() bool { return f >= Names }

// Wrong says what is wrong with the value of a keyword, "" if nothing is. Whether the schemas in
// it are well formed is found where they are read.
func (f Form) Wrong(v json.RawMessage) string {
	isBool := v[0] == 't' || v[0] == 'f'
	ok, want := true, ""
	switch f {
	case Value, Values:
		if !rawjson.Portable(v) {
			return "holds half of a surrogate pair, or a number that is out of range"
		}
		ok, want = f == Value || len(Elements(v)) > 0, "an array with a value"
	case Examples:
		ok, want = v[0] == '[' && rawjson.Portable(v), "an array"
	case Prose:
		ok, want = v[0] == '"', "a string"
	case Text:
		ok, want = v[0] == '"' && rawjson.Portable(v), "a string"
	case Reference:
		ref, isString := rawjson.String(v)
		if !isString {
			return "must be a string"
		}
		if _, err := Path(ref); err != nil {
			return err.Error()
		}
	case Bool:
		ok, want = isBool, "true or false"
	case Bound, Step, Exclusive:
		if isBool && f == Exclusive {
			return ""
		}
		if v[0] != '-' && (v[0] < '0' || v[0] > '9') {
			return "must be a number"
		}
		if CheckNumber(string(v)) != nil || !rawjson.Portable(v) {
			return errNumber.Error()
		}
		ok, want = f != Step || Rat(string(v)).Sign() > 0, "more than 0"
	case Count:
		digits := !bytes.ContainsFunc(v, func(r rune) bool { return r < '0' || r > '9' })
		ok, want = digits && len(v) < 10 || v[0] >= '0' && v[0] <= '9' && CheckNumber(string(v)) == nil && Rat(string(v)).IsInt(), "a whole number of at least 0"
	case TypeNames:
		_, wrong := TypesOf(v)
		return wrong
	case Names:
		ok, want = allStrings(v) && rawjson.Portable(v), "an array of strings"
	case SchemaList:
		ok, want = len(Elements(v)) > 0, "an array of schemas"
	case Items:
		ok, want = v[0] == '{' || v[0] == '[' || isBool, "a schema"
	case Schemas:
		ok, want = v[0] == '{', "an object"
	case NamesByName, Dependencies:
		ok, want = v[0] == '{', "an object of arrays of strings"
		for _, v := range rawjson.Members(v) {
			ok = ok && (v[0] == '[' && allStrings(v) && rawjson.Portable(v) || v[0] != '[' && f == Dependencies)
		}
	}
	if ok {
		return ""
	}
	return "must be " + want
}
