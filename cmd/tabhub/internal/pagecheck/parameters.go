package pagecheck

import (
	"encoding/json"

	"tabhub/spec/rawjson"
)

// maxNested is how deep parameters within parameters are looked at.
const maxNested = 4

// parameters looks at the parameters that a schema names.
func parameters(r *report, schema json.RawMessage) { nested(r, schema, "", maxNested) }

func nested(r *report, schema json.RawMessage, path string, left int) {
	properties := rawjson.Get(schema, "properties")
	if left == 0 || len(properties) == 0 || properties[0] != '{' {
		return
	}
	for name, of := range rawjson.Members(properties) {
		at := path + name
		if !constrains(of, types...) {
			r.add(Warning, ParameterUntyped, "give it a type, such as \"string\"", "parameter %s has no type: a model cannot know what to write", at)
		}
		if !constrains(of, "description", "title") {
			severity, hint := Warning, "say what it is, in which unit or form, and where it comes from"
			if path != "" || constrains(of, "enum", "const", "format", "pattern", "default", "examples") {
				severity = Note
			}
			r.add(severity, ParameterUndescribed, hint, "parameter %s has no description", at)
		}
		nested(r, of, at+".", left-1)
		nested(r, rawjson.Get(of, "items"), at+"[].", left-1)
	}
}

// types are the keywords by which a schema says what a value is.
var types = []string{"type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "properties", "items", "not", "if"}

// constrains reports whether a schema has one of some keywords.
func constrains(schema json.RawMessage, keywords ...string) bool {
	for _, k := range keywords {
		if v := rawjson.Get(schema, k); len(v) > 0 && string(v) != `""` {
			return true
		}
	}
	return false
}
