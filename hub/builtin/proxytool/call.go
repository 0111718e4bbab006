package proxytool

import (
	"context"
	"encoding/json"
	"strings"

	"tabhub/hub/builtin"
	"tabhub/hub/call"
	"tabhub/hub/lists"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

const errNotResult = refusal("the answer is not a result of the protocol")

// call serves action call (spec/PROTOCOL.md, "Answers").
func (c *caller) call(ctx context.Context, op *operation, n *annotations) (*result, error) {
	if op.self() {
		return nil, &lists.UnknownError{Kind: op.kind, Name: op.path}
	}
	switch op.kind {
	case spec.KindResource:
		raw, err := c.tool.hub.ReadResource(ctx, c.by, op.path)
		if err != nil {
			return nil, err
		}
		if builtin.AsksBack(raw) {
			return annotate(raw, n)
		}
		return readResult(raw, n)
	case spec.KindPrompt:
		raw, err := c.tool.hub.GetPrompt(ctx, c.by, op.path, op.args)
		if err != nil {
			return nil, err
		}
		if builtin.AsksBack(raw) {
			return annotate(raw, n)
		}
		n.dataType("GetPromptResult")
		return c.data("proxy:call/prompt/"+op.path, raw, raw, n), nil
	}
	raw, err := c.callTool(ctx, op)
	if err != nil {
		return nil, err
	}
	r, err := annotate(raw, n)
	if err != nil {
		return nil, errNotResult
	}
	return r, nil
}

// callTool calls a builtin tool or a page's.
func (c *caller) callTool(ctx context.Context, op *operation) (json.RawMessage, error) {
	t := builtin.Find(c.tool.builtin, op.path)
	switch {
	case t == nil:
		return c.tool.hub.Call(ctx, call.Request{Name: op.path, Args: op.args, By: c.by, ReadOnly: c.readOnly})
	case c.readOnly && !onlyReads(t):
		return nil, call.ErrNotReadOnly
	}
	return t.Call(ctx, c.by, op.args)
}

// readResult turns a ReadResourceResult into a CallToolResult of embedded resources.
func readResult(raw json.RawMessage, n *annotations) (*result, error) {
	r := &result{}
	var contents json.RawMessage
	err := rawjson.Object(raw, spec.MaxDepth, func(key string, value json.RawMessage) error {
		if key == "contents" {
			contents = value
		} else {
			r.rest = append(r.rest, member{key, value})
		}
		return nil
	})
	if err != nil || contents == nil {
		return nil, errNotResult
	}
	err = rawjson.Array(contents, spec.MaxDepth, func(content json.RawMessage) error {
		block := make([]byte, 0, len(content)+128)
		block = append(block, `{"type":"resource","resource":`...)
		block = appendObjectified(block, content)
		r.add(append(block, '}'), n)
		return nil
	})
	if err != nil {
		return nil, errNotResult
	}
	return r, nil
}

// appendObjectified appends a resource's contents. A text that is JSON without
// saying so becomes JSON that does (spec/PROTOCOL.md, "Answers"): without space between
// its tokens, and with the type that it had as contentType.
func appendObjectified(dst []byte, content json.RawMessage) []byte {
	mime, _ := rawjson.String(rawjson.Get(content, "mimeType"))
	text, isText := rawjson.String(rawjson.Get(content, "text"))
	bare, _, _ := strings.Cut(mime, ";")
	if !isText || strings.EqualFold(strings.TrimSpace(bare), "application/json") || rawjson.Valid([]byte(text), spec.MaxDepth) != nil {
		return append(dst, content...)
	}
	dst = append(dst, '{')
	for key, value := range rawjson.Members(content) {
		if key != "mimeType" && key != "text" && key != "contentType" {
			dst = rawjson.AppendMember(dst, key, value)
		}
	}
	dst = rawjson.AppendMember(dst, "mimeType", []byte(`"application/json"`))
	dst = rawjson.AppendMember(dst, "text", rawjson.AppendString(nil, string(rawjson.Compact(nil, []byte(text)))))
	if mime != "" {
		dst = rawjson.AppendMember(dst, "contentType", rawjson.AppendString(nil, mime))
	}
	return append(dst, '}')
}
