package item

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"tabhub/describe"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// FailureResult returns a failure as an MCP CallToolResult with isError set, whose
// text is {"error":{"code","message"}}.
func FailureResult(code spec.FailureCode, message string) json.RawMessage {
	inner, _ := json.Marshal(map[string]any{"error": map[string]string{"code": string(code), "message": message}})
	out, _ := json.Marshal(map[string]any{
		"content": []map[string]string{{"type": "text", "text": string(inner)}},
		"isError": true,
	})
	return out
}

// ToolResult turns what a page's tool returned into a raw CallToolResult. One that
// is a CallToolResult already stays the bytes that it is, but for publish says.
func (it *Item) ToolResult(resp spec.Response) json.RawMessage {
	v := oneLine(resp.Result)
	if len(v) == 0 {
		v = json.RawMessage("null")
	}
	outline := outlineOf(v)
	switch {
	case outline.isToolResult():
		if resp.Failed && string(rawjson.Get(v, "isError")) != "true" {
			v = markFailed(v)
		}
		if outline.special {
			v = it.publishResult(v)
		}
		return v
	case resp.Failed:
		text, ok := rawjson.String(v)
		if !ok {
			text = string(v)
		}
		return FailureResult(spec.FailToolError, describe.CleanLines(text, math.MaxInt))
	}
	out := []byte(`{"content":[{"type":"text","text":`)
	if v[0] == '"' {
		out = append(out, v...)
	} else {
		out = rawjson.AppendString(out, string(v))
	}
	out = append(out, `}]`...)
	if v[0] == '{' {
		out = append(append(out, `,"structuredContent":`...), v...)
	}
	return append(out, '}')
}

// WithText returns a CallToolResult with a block of text after its content.
func WithText(result json.RawMessage, text string) json.RawMessage {
	block := append(rawjson.AppendStringMember([]byte(`{"type":"text"`), "text", text), '}')
	out := append(make([]byte, 0, len(result)+len(block)+16), '{')
	content := []byte("[]")
	for key, v := range rawjson.Members(result) {
		if key == "content" && v[0] == '[' {
			content = v
			continue
		}
		out = append(appendKey(out, key), v...)
	}
	out = append(appendKey(out, "content"), bytes.TrimRight(content[:len(content)-1], " ")...)
	return append(append(appendComma(out), block...), "]}"...)
}

// markFailed sets isError in a CallToolResult, in place of what it says itself.
func markFailed(v json.RawMessage) json.RawMessage {
	out := append(make([]byte, 0, len(v)+16), '{')
	for key, v := range rawjson.Members(v) {
		if key != "isError" {
			out = append(appendKey(out, key), v...)
		}
	}
	return append(appendKey(out, "isError"), "true}"...)
}

// ResourceResult returns what a page answered when its URI page was read as a raw
// ReadResourceResult, with the public URI in place of the page's.
func (it *Item) ResourceResult(resp spec.Response, page, public string) (json.RawMessage, error) {
	v, err := objectResult(resp)
	if err != nil {
		return nil, err
	}
	return it.publish(publishURI(v, page, public)), nil
}

// PromptResult returns what a page answered for a prompt as a raw GetPromptResult.
func (it *Item) PromptResult(resp spec.Response) (json.RawMessage, error) {
	v, err := objectResult(resp)
	if err != nil {
		return nil, err
	}
	return it.publish(v), nil
}

// objectResult returns the result of anything but a tool, which must be an object.
func objectResult(resp spec.Response) (json.RawMessage, error) {
	v := oneLine(resp.Result)
	if len(v) == 0 || v[0] != '{' {
		return nil, fmt.Errorf("the page answered with %.40q, which is no MCP result", v)
	}
	return v, nil
}

// publishURI replaces the page's URI by the public one in the contents of a
// ReadResourceResult. All else stays the bytes that it is.
func publishURI(result json.RawMessage, page, public string) json.RawMessage {
	if page == public {
		return result
	}
	quoted := rawjson.AppendString(nil, page)
	out := append(make([]byte, 0, len(result)+2*len(public)), '{')
	for key, v := range rawjson.Members(result) {
		out = appendKey(out, key)
		if key != "contents" || v[0] != '[' {
			out = append(out, v...)
			continue
		}
		out = append(out, '[')
		for content := range rawjson.Elements(v) {
			out = appendComma(out)
			if content[0] != '{' {
				out = append(out, content...)
				continue
			}
			out = append(out, '{')
			for key, v := range rawjson.Members(content) {
				out = appendKey(out, key)
				if s, ok := rawjson.String(v); key == "uri" && ok && (s == page || string(v) == string(quoted)) {
					out = rawjson.AppendString(out, public)
				} else {
					out = append(out, v...)
				}
			}
			out = append(out, '}')
		}
		out = append(out, ']')
	}
	return append(out, '}')
}

// appendComma appends a comma unless out ends where an object or array has begun.
func appendComma(out []byte) []byte {
	if last := out[len(out)-1]; last != '{' && last != '[' {
		return append(out, ',')
	}
	return out
}

func appendKey(out []byte, key string) []byte {
	return append(rawjson.AppendString(appendComma(out), key), ':')
}
