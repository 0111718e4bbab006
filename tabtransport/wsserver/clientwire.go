package wsserver

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport/wsconn"
)

// The client checks each frame as a whole against the MCP schema, and drops one in
// which a single tool or content block does not fit. So what does not fit is left
// out, or said in a way that does.

// clientFrame is what a webmcp-relay.v1 client says. It shares memory with the frame.
type clientFrame struct {
	kind   string
	callID json.RawMessage // a string
	tool   string
	args   json.RawMessage
}

func (f *clientFrame) read(frame []byte) error {
	err := rawjson.Object(frame, spec.MaxDepth, func(key string, value json.RawMessage) error {
		switch key {
		case "type":
			f.kind, _ = rawjson.String(value)
		case "callId":
			if value[0] == '"' && len(value) > len(`""`) {
				f.callID = value
			}
		case "toolName":
			f.tool, _ = rawjson.String(value)
		case "args":
			f.args = value
		}
		return nil
	})
	if err == nil && f.kind == "" {
		err = errors.New("message without type")
	}
	return err
}

func appendClientResult(dst []byte, callID, result json.RawMessage) []byte {
	if !fitsResult(result) {
		result = clientFailure("the tool's result is not one that MCP knows: " + wsconn.Clip(string(result), 500))
	}
	dst = appendRaw(dst, `{"type":"relay/result","callId":`, callID)
	return append(appendRaw(dst, `,"result":`, result), '}')
}

// clientFailure is a CallToolResult that says what went wrong.
func clientFailure(text string) json.RawMessage {
	dst := append([]byte(nil), `{"content":[{"type":"text","text":`...)
	return append(rawjson.AppendString(dst, text), `}],"isError":true}`...)
}

func appendClientTools(dst []byte, kind string, from Toolset) []byte {
	tools, sources := from.Tools()
	dst = append(append(append(dst, `{"type":"`...), kind...), `","tools":[`...)
	for i, t := range tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendClientTool(dst, t)
	}
	dst = append(dst, `],"toolSourceMap":{`...)
	for i, t := range tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendString(dst, t.Name), ':', '[')
		for j, id := range t.Sources {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = rawjson.AppendString(dst, id)
		}
		dst = append(dst, ']')
	}
	if sources == nil {
		sources = []Source{}
	}
	list, err := marshal(sources)
	if err != nil {
		list = json.RawMessage("[]") // strings and numbers cannot fail
	}
	return append(appendRaw(dst, `},"sources":`, list), '}')
}

// appendClientTool appends the members of a tool that the client uses and that fit.
func appendClientTool(dst []byte, t Tool) []byte {
	dst = rawjson.AppendString(append(dst, `{"name":`...), t.Name)
	schema := json.RawMessage(`{"type":"object"}`)
	for key, value := range rawjson.Members(t.Definition) {
		switch key {
		case "title", "description":
			if value[0] != '"' {
				continue
			}
		case "annotations":
			if !fitsAnnotations(value) {
				continue
			}
		case "outputSchema":
			if !fitsSchema(value) {
				continue
			}
		case "inputSchema":
			if fitsSchema(value) {
				schema = value
			}
			continue
		default:
			continue
		}
		dst = append(append(append(dst, `,"`...), key...), `":`...)
		dst = append(dst, value...)
	}
	return append(appendRaw(dst, `,"inputSchema":`, schema), '}')
}

// fitsSchema reports whether a tool's schema is one that MCP lets a tool have.
func fitsSchema(schema json.RawMessage) bool {
	if string(rawjson.Get(schema, "type")) != `"object"` {
		return false
	}
	if p := rawjson.Get(schema, "properties"); p != nil {
		if p[0] != '{' {
			return false
		}
		for _, value := range rawjson.Members(p) {
			if value[0] != '{' {
				return false
			}
		}
	}
	if r := rawjson.Get(schema, "required"); r != nil {
		if r[0] != '[' {
			return false
		}
		for name := range rawjson.Elements(r) {
			if name[0] != '"' {
				return false
			}
		}
	}
	return true
}

func fitsAnnotations(a json.RawMessage) bool {
	return a[0] == '{' && isString(a, "title", true) && !slices.ContainsFunc(
		[]string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"},
		func(hint string) bool { return !isBool(rawjson.Get(a, hint)) },
	)
}

// fitsResult reports whether a result is a CallToolResult whose content all clients
// know.
func fitsResult(result json.RawMessage) bool {
	if len(result) == 0 || result[0] != '{' || !isBool(rawjson.Get(result, "isError")) {
		return false
	}
	for _, key := range []string{"structuredContent", "_meta"} {
		if v := rawjson.Get(result, key); v != nil && v[0] != '{' {
			return false
		}
	}
	content := rawjson.Get(result, "content")
	if content != nil && content[0] != '[' {
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
	kind, _ := rawjson.String(rawjson.Get(block, "type"))
	switch kind {
	case "text":
		return isString(block, "text", false)
	case "image", "audio":
		return isBase64(rawjson.Get(block, "data")) && isString(block, "mimeType", false)
	case "resource_link":
		return isString(block, "uri", false) && isString(block, "name", false)
	case "resource":
		r := rawjson.Get(block, "resource")
		return isString(r, "uri", false) && (isString(r, "text", false) || isBase64(rawjson.Get(r, "blob")))
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

// isString reports whether a member of an object is a string, or, if it may be
// missing, is not there.
func isString(object json.RawMessage, key string, optional bool) bool {
	v := rawjson.Get(object, key)
	return v == nil && optional || v != nil && v[0] == '"'
}

// isBool reports whether a value is a boolean, or is not there.
func isBool(v json.RawMessage) bool {
	return v == nil || string(v) == "true" || string(v) == "false"
}
