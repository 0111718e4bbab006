package methods

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"sync"

	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/offer/schema"
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
	mode, _ := rawjson.String(rawjson.Get(params, "mode"))
	return mode == "url"
}

// questionSchema is what MCP has for the parameters of an elicitation: an address to open, or a form
// whose fields are values and choices of texts.
const questionSchema = `{"type": "object", "required": ["message"],
	"properties": {"message": {"type": "string"}},
	"if": {"required": ["mode"], "properties": {"mode": {"const": "url"}}},
	"then": {"required": ["url"], "properties": {"url": {"type": "string"}}},
	"else": {"required": ["requestedSchema"], "properties": {
		"mode": {"const": "form"},
		"requestedSchema": {"type": "object", "required": ["type", "properties"], "properties": {
			"type": {"const": "object"},
			"required": {"$ref": "#/$defs/texts"},
			"properties": {"type": "object", "additionalProperties": {"$ref": "#/$defs/field"}}}}}},
	"$defs": {
		"texts": {"type": "array", "items": {"type": "string"}},
		"options": {"type": "array", "items": {"type": "object", "required": ["const", "title"],
			"properties": {"const": {"type": "string"}, "title": {"type": "string"}}}},
		"field": {"type": "object", "required": ["type"],
			"properties": {
				"type": {"enum": ["string", "number", "integer", "boolean", "array"]},
				"title": {"type": "string"}, "description": {"type": "string"},
				"minLength": {"type": "number"}, "maxLength": {"type": "number"},
				"minimum": {"type": "number"}, "maximum": {"type": "number"},
				"minItems": {"type": "number"}, "maxItems": {"type": "number"},
				"enum": {"$ref": "#/$defs/texts"}, "enumNames": {"$ref": "#/$defs/texts"}, "oneOf": {"$ref": "#/$defs/options"},
				"format": {"enum": ["email", "uri", "date", "date-time"]}},
			"allOf": [
				{"if": {"properties": {"type": {"const": "string"}}}, "then": {"properties": {"default": {"type": "string"}}}},
				{"if": {"properties": {"type": {"enum": ["number", "integer"]}}}, "then": {"properties": {"default": {"type": "number"}}}},
				{"if": {"properties": {"type": {"const": "boolean"}}}, "then": {"properties": {"default": {"type": "boolean"}}}},
				{"if": {"required": ["type"], "properties": {"type": {"const": "array"}}}, "then": {"required": ["items"], "properties": {
					"default": {"$ref": "#/$defs/texts"},
					"items": {"type": "object", "anyOf": [
						{"required": ["type", "enum"], "properties": {"type": {"const": "string"}, "enum": {"$ref": "#/$defs/texts"}}},
						{"required": ["anyOf"], "properties": {"anyOf": {"$ref": "#/$defs/options"}}}]}}}}]}}}`

var compileQuestion = sync.OnceValues(func() (*schema.Schema, error) {
	return new(schema.Cache).Compile(json.RawMessage(questionSchema))
})

// wrongQuestion says what is wrong with the elicitations of r, a result that asks back; nil if
// nothing is. Clients fail on a wrong one, and their users do not learn whose fault that is.
func wrongQuestion(r json.RawMessage) error {
	for _, q := range rawjson.Members(jsonrpc.OrEmpty(rawjson.Get(r, "inputRequests"))) {
		if method, _ := rawjson.String(rawjson.Get(q, "method")); method == askPerson {
			s, err := compileQuestion()
			if err == nil {
				err = s.Check(jsonrpc.OrEmpty(rawjson.Get(q, "params")))
			}
			if err == nil {
				err = wrongAddress(rawjson.Get(q, "params"))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// wrongAddress says that the address of an elicitation that asks to open one cannot be opened.
func wrongAddress(params json.RawMessage) error {
	if !asksURL(params) {
		return nil
	}
	address, _ := rawjson.String(rawjson.Get(params, "url"))
	if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("/url: must be an address with https or http")
	}
	return nil
}
