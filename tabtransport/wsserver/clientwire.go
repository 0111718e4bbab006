package wsserver

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"tabhub/spec/rawjson"
	"tabhub/tabtransport/wsconn"
)

// The client checks each frame as a whole against the MCP schema, and drops one in
// which a single tool or content block does not fit. So what does not fit is left
// out, or said in a way that does.

// clientResult is the frame that answers a call.
func clientResult(callID, result json.RawMessage) []byte {
	if !fitsResult(result) {
		result = clientFailure("the tool's result is not one that MCP knows: " + wsconn.Clip(string(result), 500))
	}
	dst := rawjson.AppendMember([]byte(`{"type":"relay/result"`), "callId", callID)
	return append(rawjson.AppendMember(dst, "result", result), '}')
}

// clientFailure is a CallToolResult that says what went wrong.
func clientFailure(text string) json.RawMessage {
	dst := rawjson.AppendStringMember([]byte(`{"content":[{"type":"text"`), "text", text)
	return append(dst, `}],"isError":true}`...)
}

// clientTools is the frame that lists the tools.
func clientTools(kind string, from Toolset) []byte {
	tools, sources := from.Tools()
	dst := append(rawjson.AppendStringMember([]byte{'{'}, "type", kind), `,"tools":[`...)
	for i, t := range tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendClientTool(dst, t)
	}
	dst = append(dst, `],"toolSourceMap":{`...)
	for _, t := range tools {
		ids, _ := marshal(append([]string{}, t.Sources...)) // strings cannot fail
		dst = rawjson.AppendMember(dst, t.Name, ids)
	}
	list, _ := marshal(append([]Source{}, sources...)) // strings and numbers cannot fail
	return append(rawjson.AppendMember(append(dst, '}'), "sources", list), '}')
}

// appendClientTool appends the members of a tool that the client uses and that fit.
func appendClientTool(dst []byte, t Tool) []byte {
	dst = rawjson.AppendStringMember(append(dst, '{'), "name", t.Name)
	schema := json.RawMessage(`{"type":"object"}`)
	for key, value := range rawjson.Members(t.Definition) {
		fits := false
		switch key {
		case "title", "description":
			fits = value[0] == '"'
		case "annotations":
			fits = fitsAnnotations(value)
		case "outputSchema":
			fits = fitsSchema(value)
		case "inputSchema":
			if fitsSchema(value) {
				schema = value
			}
		}
		if fits {
			dst = rawjson.AppendMember(dst, key, value)
		}
	}
	return append(rawjson.AppendMember(dst, "inputSchema", schema), '}')
}

// fitsSchema reports whether a tool's schema is one that MCP lets a tool have.
func fitsSchema(schema json.RawMessage) bool {
	properties, required := rawjson.Get(schema, "properties"), rawjson.Get(schema, "required")
	if string(rawjson.Get(schema, "type")) != `"object"` || !isMissingOr('{', properties) || !isMissingOr('[', required) {
		return false
	}
	for _, value := range rawjson.Members(properties) {
		if value[0] != '{' {
			return false
		}
	}
	for name := range rawjson.Elements(required) {
		if name[0] != '"' {
			return false
		}
	}
	return true
}

func fitsAnnotations(a json.RawMessage) bool {
	return a[0] == '{' && isMissingOr('"', rawjson.Get(a, "title")) && !slices.ContainsFunc(
		[]string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"},
		func(hint string) bool { return !isBool(rawjson.Get(a, hint)) },
	)
}

// fitsResult reports whether a result is a CallToolResult whose content all clients
// know.
func fitsResult(result json.RawMessage) bool {
	content := rawjson.Get(result, "content")
	if len(result) == 0 || result[0] != '{' || !isMissingOr('[', content) ||
		!isBool(rawjson.Get(result, "isError")) ||
		!isMissingOr('{', rawjson.Get(result, "structuredContent")) ||
		!isMissingOr('{', rawjson.Get(result, "_meta")) {
		return false
	}
	for block := range rawjson.Elements(content) {
		if !fitsBlock(block) {
			return false
		}
	}
	return true
}

func fitsBlock(block json.RawMessage) bool {
	isString := func(object json.RawMessage, key string) bool {
		v := rawjson.Get(object, key)
		return v != nil && v[0] == '"'
	}
	switch str(rawjson.Get(block, "type")) {
	case "text":
		return isString(block, "text")
	case "image", "audio":
		return isBase64(rawjson.Get(block, "data")) && isString(block, "mimeType")
	case "resource_link":
		return isString(block, "uri") && isString(block, "name")
	case "resource":
		r := rawjson.Get(block, "resource")
		return isString(r, "uri") && (isString(r, "text") || isBase64(rawjson.Get(r, "blob")))
	}
	return false
}

// isBase64 reports whether a value is a string of base64, as a data: URL is not.
func isBase64(v json.RawMessage) bool {
	s, ok := rawjson.String(v)
	if !ok {
		return false
	}
	_, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return err == nil
}

// isMissingOr reports whether a value is not there or is of the kind of JSON values that
// begins with first.
func isMissingOr(first byte, v json.RawMessage) bool { return v == nil || v[0] == first }

// isBool reports whether a value is a boolean, or is not there.
func isBool(v json.RawMessage) bool {
	return v == nil || string(v) == "true" || string(v) == "false"
}
