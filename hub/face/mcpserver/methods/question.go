package methods

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"tabhub/describe"
	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// lacks returns the capabilities, and parts of some, that a client would need for what r asks of
// it and has not.
func lacks(capabilities, r json.RawMessage) (missing []string) {
	for _, q := range rawjson.Members(jsonrpc.OrEmpty(rawjson.Get(r, "inputRequests"))) {
		method, _ := rawjson.String(rawjson.Get(q, "method"))
		params := jsonrpc.OrEmpty(rawjson.Get(q, "params"))
		var capability, part string
		switch method {
		case askPerson:
			capability, part = "elicitation", "form"
			if asksURL(params) {
				part = "url"
			}
		case "sampling/createMessage":
			capability = "sampling"
			if rawjson.Get(params, "tools") != nil || rawjson.Get(params, "toolChoice") != nil {
				part = "tools"
			}
		case "roots/list":
			capability = "roots"
		default:
			missing = append(missing, method)
			continue
		}
		if !declares(capabilities, capability, part) {
			missing = append(missing, strings.TrimSuffix(capability+"."+part, "."))
		}
	}
	return missing
}

// declares reports whether capabilities has one, and a part of it that is not "". Elicitation
// that names no part is that of forms.
func declares(capabilities json.RawMessage, capability, part string) bool {
	c := rawjson.Get(jsonrpc.OrEmpty(capabilities), capability)
	return c != nil && (part == "" || rawjson.Get(c, part) != nil || part == "form" && rawjson.Get(c, "url") == nil)
}

// asksURL reports whether the parameters of an elicitation are those of an address to open.
func asksURL(params json.RawMessage) bool {
	return string(rawjson.Get(params, "mode")) == `"url"`
}

// wrongQuestion says what is wrong with the elicitations of r, a result that asks back; "" if
// nothing is. Clients fail on such a one, and their users do not learn whose fault that is.
func wrongQuestion(r json.RawMessage) string {
	for _, q := range rawjson.Members(jsonrpc.OrEmpty(rawjson.Get(r, "inputRequests"))) {
		if method, _ := rawjson.String(rawjson.Get(q, "method")); method != askPerson {
			continue
		}
		params := jsonrpc.OrEmpty(rawjson.Get(q, "params"))
		mode, schema := rawjson.Get(params, "mode"), jsonrpc.OrEmpty(rawjson.Get(params, "requestedSchema"))
		fields, required := rawjson.Get(schema, "properties"), rawjson.Get(schema, "required")
		switch {
		case !isText(rawjson.Get(params, "message")):
			return "there is no message"
		case asksURL(params):
			address, _ := rawjson.String(rawjson.Get(params, "url"))
			if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
				return "url must be an address with https or http"
			}
		case mode != nil && string(mode) != `"form"`:
			return `mode must be "form" or "url"`
		case string(rawjson.Get(schema, "type")) != `"object"`, fields == nil, fields[0] != '{':
			return `requestedSchema must be {"type": "object", "properties": {…}}`
		case required != nil && !isList(required, isText):
			return "required of requestedSchema must be a list of names"
		default:
			for name, field := range rawjson.Members(fields) {
				if wrong := wrongField(field); wrong != "" {
					return fmt.Sprintf("%q in requestedSchema: %s", describe.Clean(name, spec.MaxName), wrong)
				}
			}
		}
	}
	return ""
}

// wrongField says what is wrong with the schema of a property of a form, which is a value or a
// choice of texts; "" if nothing is.
func wrongField(field json.RawMessage) string {
	isDefault := isText
	switch kind, _ := rawjson.String(rawjson.Get(field, "type")); kind {
	case "string":
	case "number", "integer":
		isDefault = isNumber
	case "boolean":
		isDefault = func(v json.RawMessage) bool { return v[0] == 't' || v[0] == 'f' }
	case "array":
		isDefault = func(v json.RawMessage) bool { return isList(v, isText) }
		items := jsonrpc.OrEmpty(rawjson.Get(field, "items"))
		texts, options := rawjson.Get(items, "enum"), rawjson.Get(items, "anyOf")
		if !(texts != nil && string(rawjson.Get(items, "type")) == `"string"` && isList(texts, isText) || options != nil && isList(options, isOption)) {
			return "items of an array must be a choice, enum of strings or anyOf of const and title"
		}
	default:
		return "type must be string, number, integer, boolean, or array of choices"
	}
	for key, v := range rawjson.Members(field) {
		ok := true
		switch key {
		case "title", "description":
			ok = isText(v)
		case "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems":
			ok = isNumber(v)
		case "enum", "enumNames":
			ok = isList(v, isText)
		case "oneOf":
			ok = isList(v, isOption)
		case "format":
			ok = slices.Contains([]string{`"email"`, `"uri"`, `"date"`, `"date-time"`}, string(v))
		case "default":
			ok = isDefault(v)
		}
		if !ok {
			return key + " is not what MCP has for this type"
		}
	}
	return ""
}

func isText(v json.RawMessage) bool   { return len(v) > 0 && v[0] == '"' }
func isNumber(v json.RawMessage) bool { return v[0] == '-' || '0' <= v[0] && v[0] <= '9' }

// isOption reports whether v is one of several values, with its title.
func isOption(v json.RawMessage) bool {
	return isText(rawjson.Get(v, "const")) && isText(rawjson.Get(v, "title"))
}

func isList(v json.RawMessage, of func(json.RawMessage) bool) bool {
	if v[0] != '[' {
		return false
	}
	for e := range rawjson.Elements(v) {
		if !of(e) {
			return false
		}
	}
	return true
}
