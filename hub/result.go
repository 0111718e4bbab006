package hub

import (
	"encoding/json"
	"fmt"
	"math"

	"tabhub/describe"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// toolResult turns what a page's tool returned into a raw CallToolResult. One that
// is a CallToolResult already stays the bytes that it is, but for what publish says.
func (it *item) toolResult(resp spec.Response) json.RawMessage {
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
		return (&Failure{spec.FailToolError, describe.CleanLines(text, math.MaxInt)}).Result()
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

// objectResult returns the result of anything but a tool, which must be an object.
func objectResult(resp spec.Response) (json.RawMessage, error) {
	v := oneLine(resp.Result)
	if len(v) == 0 || v[0] != '{' {
		return nil, &Failure{spec.FailToolError, fmt.Sprintf("the page answered with %.40q, which is no MCP result", v)}
	}
	return v, nil
}

// publishURI replaces the page's URI by the public one in the contents of a
// ReadResourceResult. All else stays the bytes that it is.
func publishURI(result json.RawMessage, page, public string) json.RawMessage {
	if page == public {
		return result
	}
	own := rawjson.AppendString(nil, page)
	out := append(make([]byte, 0, len(result)+2*len(public)), '{')
	err := rawjson.Object(result, spec.MaxDepth, func(key string, v json.RawMessage) error {
		out = appendKey(out, key)
		if key != "contents" || v[0] != '[' {
			out = append(out, v...)
			return nil
		}
		out = append(out, '[')
		err := rawjson.Array(v, spec.MaxDepth, func(v json.RawMessage) error {
			if out[len(out)-1] != '[' {
				out = append(out, ',')
			}
			if v[0] != '{' {
				out = append(out, v...)
				return nil
			}
			out = append(out, '{')
			err := rawjson.Object(v, spec.MaxDepth, func(key string, v json.RawMessage) error {
				out = appendKey(out, key)
				if s, ok := rawjson.String(v); key == "uri" && ok && (s == page || string(v) == string(own)) {
					out = rawjson.AppendString(out, public)
				} else {
					out = append(out, v...)
				}
				return nil
			})
			out = append(out, '}')
			return err
		})
		out = append(out, ']')
		return err
	})
	if err != nil {
		return result // not an object: the client is told what the page said
	}
	return append(out, '}')
}

func appendKey(out []byte, key string) []byte {
	if out[len(out)-1] != '{' {
		out = append(out, ',')
	}
	return append(rawjson.AppendString(out, key), ':')
}
