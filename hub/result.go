package hub

import (
	"encoding/json"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// toolResult turns what a page's tool returned into a raw CallToolResult. One that
// is a CallToolResult already stays the bytes that it is.
func toolResult(resp spec.Response) json.RawMessage {
	v := oneLine(resp.Result)
	if len(v) == 0 {
		v = json.RawMessage("null")
	}
	switch {
	case v[0] == '{' && isToolResult(v):
		if resp.Failed && string(rawjson.Get(v, "isError")) != "true" {
			return markFailed(v)
		}
		return v
	case resp.Failed:
		text, ok := rawjson.String(v)
		if !ok {
			text = string(v)
		}
		return (&Failure{spec.FailToolError, text}).Result()
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

func isToolResult(v json.RawMessage) bool {
	if c := rawjson.Get(v, "content"); c != nil {
		return c[0] == '['
	}
	return rawjson.Get(v, "structuredContent") != nil || rawjson.Get(v, "isError") != nil || rawjson.Get(v, "resultType") != nil
}

// markFailed sets isError in a CallToolResult: the last of two members counts.
func markFailed(v json.RawMessage) json.RawMessage {
	out := make([]byte, 0, len(v)+16)
	out = append(out, v[:len(v)-1]...)
	return append(out, `,"isError":true}`...)
}
