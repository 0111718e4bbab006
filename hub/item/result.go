package item

import (
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

// WithDoubts returns a page's words for a failure and, after them, how the arguments
// that it was given do not fit its schema, if doubts is not "".
func WithDoubts(message, doubts string) string {
	if doubts == "" {
		return message
	}
	return message + "\n" + aboutDoubts(doubts)
}

func aboutDoubts(doubts string) string {
	return "The arguments do not fit the tool's schema, which may be why: " + doubts
}

// ToolResult turns what a page's tool returned into a raw CallToolResult. One that
// is a CallToolResult already stays the bytes that it is, but for publish says. A
// failure gets the doubts that there were about the arguments.
func (it *Item) ToolResult(resp spec.Response, doubts string) json.RawMessage {
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
		if doubts != "" && string(rawjson.Get(v, "isError")) == "true" {
			v = AddText(v, aboutDoubts(doubts))
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
		return FailureResult(spec.FailToolError, WithDoubts(describe.CleanLines(text, math.MaxInt), doubts))
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
	out := mapMembers(v, func(key string, v json.RawMessage) json.RawMessage {
		if key == "isError" {
			return nil
		}
		return v
	})
	return append(appendKey(out[:len(out)-1], "isError"), "true}"...)
}

// AddText adds a text block to the content of a CallToolResult.
func AddText(v json.RawMessage, text string) json.RawMessage {
	out := append(make([]byte, 0, len(v)+len(text)+64), `{"content":[`...)
	for block := range rawjson.Elements(rawjson.Get(v, "content")) {
		out = append(append(out, block...), ',')
	}
	out = append(rawjson.AppendString(append(out, `{"type":"text","text":`...), text), "}]"...)
	for key, v := range rawjson.Members(v) {
		if key != "content" {
			out = append(appendKey(out, key), v...)
		}
	}
	return append(out, '}')
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

// MaxCompletions is how many values a CompleteResult of MCP may have.
const MaxCompletions = 100

// CompleteResult returns what a page proposes for an argument as a raw CompleteResult:
// nothing, if that is none or resp is empty. Values that a person could not see as they are
// would be sent back as they are, so they are left out.
func CompleteResult(resp spec.Response) json.RawMessage {
	var said, out struct {
		Completion struct {
			Values  []string `json:"values"`
			Total   int      `json:"total,omitempty"`
			HasMore bool     `json:"hasMore,omitempty"`
		} `json:"completion"`
	}
	out.Completion.Values = []string{}
	if json.Unmarshal(resp.Result, &said) == nil {
		out.Completion.Total, out.Completion.HasMore = max(said.Completion.Total, 0), said.Completion.HasMore
		for _, v := range said.Completion.Values {
			switch {
			case describe.CleanLines(v, spec.MaxURI) != v:
			case len(out.Completion.Values) == MaxCompletions:
				out.Completion.HasMore = true
			default:
				out.Completion.Values = append(out.Completion.Values, v)
			}
		}
	}
	b, _ := json.Marshal(out)
	return b
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
	return replace(result, "contents", func(contents json.RawMessage) json.RawMessage {
		if contents[0] != '[' {
			return contents
		}
		out := []byte{'['}
		for content := range rawjson.Elements(contents) {
			out = append(appendComma(out), replace(content, "uri", func(uri json.RawMessage) json.RawMessage {
				if s, _ := rawjson.String(uri); s != page {
					return uri
				}
				return rawjson.AppendString(nil, public)
			})...)
		}
		return append(out, ']')
	})
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
