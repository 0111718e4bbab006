package pack

import (
	"encoding/json"
	"slices"
	"strings"

	"tabhub/spec/rawjson"
)

// shape puts a JSON Schema in words that have all that it says: {query: string "Words", limit?: integer, at
// least 1}. What has no words stays JSON.
func shape(schema json.RawMessage) string {
	words, ok := kindOf(schema)
	if !ok {
		return compact(schema)
	}
	description := ""
	for key, v := range rawjson.Members(schema) {
		text, isText := rawjson.String(v)
		switch {
		case slices.Contains(ofKind, key):
		case key == "description" && isText:
			description = " " + quoted(text)
		case key == "additionalProperties" && string(v) == "false":
			words += ", nothing else"
		case key == "additionalProperties":
			words += ", other members " + shape(v)
		case bounds[key] != "":
			words += ", " + bounds[key] + " " + compact(v)
		default:
			return compact(schema)
		}
	}
	return words + description
}

// ofKind are the members of a schema that kindOf puts in words.
var ofKind = []string{"type", "properties", "required", "items", "enum"}

// bounds are the words for what else a value must be.
var bounds = map[string]string{
	"minimum": "at least", "maximum": "at most", "minLength": "length at least", "maxLength": "length at most", "minItems": "length at least",
	"maxItems": "length at most", "pattern": "matching", "format": "as", "default": "if absent", "title": "titled",
}

// kindOf says what a value is; false if that has no words.
func kindOf(schema json.RawMessage) (string, bool) {
	if schema[0] != '{' {
		return "", false
	}
	enum, properties, items, required := rawjson.Get(schema, "enum"), rawjson.Get(schema, "properties"), rawjson.Get(schema, "items"), rawjson.Get(schema, "required")
	types := textsOf(rawjson.Get(schema, "type"))
	of := strings.Join(types, " or ")
	switch {
	case slices.Contains(types, ""):
		return "", false
	case properties != nil:
		return members(properties, textsOf(required)), properties[0] == '{' && of == "object" && enum == nil && items == nil
	case required != nil:
		return "", false
	case items != nil:
		return "list of " + shape(items), of == "array" && enum == nil
	case enum != nil:
		return strings.TrimSpace(of + " one of " + compact(enum)), true
	case of == "":
		return "anything", rawjson.Get(schema, "type") == nil
	}
	return visibleText(of), true
}

// members puts the members of an object in words; those that may be absent have a question mark.
func members(properties json.RawMessage, required []string) string {
	var all []string
	for name, v := range rawjson.Members(properties) {
		mark := "?"
		if i := slices.Index(required, name); i >= 0 {
			required, mark = slices.Delete(required, i, i+1), ""
		}
		all = append(all, visibleText(name)+mark+": "+shape(v))
	}
	for _, name := range required { // of which the schema says nothing else
		all = append(all, visibleText(name)+": anything")
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// textsOf returns the texts that a value is or has.
func textsOf(v json.RawMessage) (all []string) {
	if text, ok := rawjson.String(v); ok {
		return []string{text}
	}
	for e := range rawjson.Elements(v) {
		text, _ := rawjson.String(e)
		all = append(all, text)
	}
	return all
}
