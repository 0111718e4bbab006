package item

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"tabhub/describe"
	"tabhub/hub/offer/keyword"
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

// outline is what one pass over a tool's answer shows.
type outline struct {
	content byte // the first byte of its content, 0 if it has none
	tool    bool // it has another member of a CallToolResult
	typed   bool // it has a resultType
	plain   bool // it is a CallToolResult of text blocks that needs no mending
}

func (o outline) isToolResult() bool {
	return o.content == '[' || o.tool
}

// outlineOf reads the members of a tool's answer, and of its content.
func outlineOf(result json.RawMessage) (o outline) {
	c := rawjson.Over(result)
	if c.First() != '{' {
		return o
	}
	o.plain = true
	texts, structured := 0, false
	for key, ok := c.Key(); ok; key, ok = c.Key() {
		first := c.First()
		switch key {
		case "content":
			o.plain = o.plain && o.content == 0
			o.content = first
			if first == '[' {
				for c.Element() {
					texts++
					o.plain = isText(c) && o.plain
				}
				continue
			}
			block := c.Skip()
			o.tool = o.tool || oneOf(rawjson.Get(block, "type"), "text", "image", "audio", "resource", "resource_link")
			continue
		case "structuredContent":
			o.tool, structured = true, true
			o.plain = o.plain && first == '{'
		case "isError":
			o.tool = true
			o.plain = o.plain && first == 'f'
		case "resultType":
			o.tool, o.typed, o.plain = o.tool || oneOf(c.Skip(), "complete", "input_required"), true, false
			continue
		case "_meta", "icons", "inputRequests":
			o.plain = false
		}
		c.Skip()
	}
	o.plain = o.plain && o.content == '[' && (texts > 0 || !structured)
	return o
}

// isText reports whether the value where c stands is a text block without other members. It moves c
// past the value.
func isText(c *rawjson.Cursor) bool {
	if c.First() != '{' {
		c.Skip()
		return false
	}
	types, texts, others := 0, 0, 0
	for key, ok := c.Key(); ok; key, ok = c.Key() {
		switch v := c.Skip(); {
		case key == "type" && string(v) == `"text"`:
			types++
		case key == "text" && v[0] == '"':
			texts++
		default:
			others++
		}
	}
	return types == 1 && texts == 1 && others == 0
}

// ToolResult turns what a page's tool returned into a raw CallToolResult that clients can read,
// and says in a few words what it has changed. A readable result keeps its bytes. A failure gets
// the doubts about the arguments.
func (it *Item) ToolResult(resp spec.Response, doubts string) (result json.RawMessage, changed string) {
	m := mender{Item: it}
	v := m.receive(resp.Result)
	outline := outlineOf(v)
	switch {
	case outline.isToolResult():
		if !outline.plain {
			v = m.toolResult(v, outline.typed && asksBack(v))
		}
		if resp.Failed && string(rawjson.Get(v, "isError")) != "true" {
			v = markFailed(v)
		}
		if doubts != "" && string(rawjson.Get(v, "isError")) == "true" {
			v = AddText(v, aboutDoubts(doubts))
		}
	case resp.Failed:
		return FailureResult(spec.FailToolError, WithDoubts(describe.CleanLines(textOf(v), math.MaxInt), doubts)), m.summary()
	default:
		v = wrap(v)
	}
	return m.fit(v), m.summary()
}

// receive returns a page's answer on one line and in well-formed Unicode.
func (m *mender) receive(answer json.RawMessage) json.RawMessage {
	v := oneLine(answer)
	if len(v) == 0 {
		return json.RawMessage("null")
	}
	formed := rawjson.WellFormed(v)
	if &formed[0] != &v[0] {
		m.changed("half surrogate pairs")
	}
	return formed
}

// toolResult mends a CallToolResult.
func (m *mender) toolResult(v json.RawMessage, asks bool) json.RawMessage {
	whole, others := v, 0
	var says []json.RawMessage // what goes as text, after the content
	hasContent, hasText, isError := false, false, false
	v = edit(v, func(key string, v json.RawMessage) json.RawMessage {
		switch key {
		case "content":
			v = m.content(v)
			hasContent, hasText = true, len(v) > len("[]")
		case "structuredContent":
			if v[0] == '{' {
				return v
			}
			m.changed("structuredContent that was no object")
			if string(v) != "null" {
				says = append(says, v)
			}
			return nil
		case "isError":
			if v[0] == 't' || v[0] == 'f' {
				isError = v[0] == 't'
				return v
			}
			m.changed("isError that was no boolean")
			switch s := textOf(v); strings.ToLower(s) {
			case "", "false", "null", "0", "no":
				return nil
			default:
				isError = true
				if v[0] == '"' && !strings.EqualFold(s, "true") {
					says = append(says, v)
				}
				return json.RawMessage("true")
			}
		case "resultType":
			if !asks && string(v) != `"complete"` {
				m.changed("an unknown resultType")
				if oneOf(v, "input_required") {
					v = whole // no client can answer it
				}
				says = append(says, v)
				return nil
			}
		case "_meta", "icons", "inputRequests":
			return m.publish(key, v)
		default:
			others++
		}
		return v
	})
	if asks {
		return v
	}
	if !hasContent {
		v = set(v, "content", json.RawMessage("[]"))
	}
	if !hasText {
		if structured := rawjson.Get(v, "structuredContent"); structured != nil {
			m.changed("structuredContent without a text")
			says = append(says, structured)
		}
	}
	if !hasText && len(says) == 0 && others > 0 {
		m.changed("members that MCP does not know")
		says = append(says, whole)
	}
	for _, s := range says {
		if !holdsText(v, s) {
			v = AddText(v, textOf(s))
		}
	}
	if isError && !hasText && len(says) == 0 {
		v = AddText(v, "The tool failed and did not say why.") // APIs refuse an error without a text
	}
	return v
}

// content mends the content of a CallToolResult.
func (m *mender) content(v json.RawMessage) json.RawMessage {
	if v[0] == '[' {
		return editElements(v, m.block)
	}
	m.changed("content that was no list")
	if string(v) == "null" {
		return json.RawMessage("[]")
	}
	return keyword.ArrayOf(m.block(v))
}

// holdsText reports whether a text block of a CallToolResult holds a value, as text or as JSON.
func holdsText(result, v json.RawMessage) bool {
	want := textOf(v)
	for block := range rawjson.Elements(rawjson.Get(result, "content")) {
		s, ok := rawjson.String(rawjson.Get(block, "text"))
		if ok && (s == want || rawjson.Valid([]byte(s), spec.MaxDepth) == nil && string(canonical(nil, bytes.TrimSpace([]byte(s)))) == string(canonical(nil, v))) {
			return true
		}
	}
	return false
}

// fit makes a result of a tool with an outputSchema one that clients take: they check
// structuredContent against the schema and throw the whole result away if it does not fit, or if
// there is none.
//
// The one result that all take without structuredContent that fits is an error without any: the
// SDKs for TypeScript and Python ask for none then, but the older one for TypeScript checks what
// there is. So a misfit goes as an error whose first words keep the model from calling again.
func (m *mender) fit(v json.RawMessage) json.RawMessage {
	if m.output == nil || asksBack(v) {
		return v
	}
	structured := rawjson.Get(v, "structuredContent")
	if structured != nil {
		err := m.checkOutput(structured)
		if err == nil {
			return v
		}
		return m.misfit(v, structured, err.Error())
	}
	if string(rawjson.Get(v, "isError")) == "true" {
		return v
	}
	for block := range rawjson.Elements(rawjson.Get(v, "content")) {
		s, _ := rawjson.String(rawjson.Get(block, "text"))
		if object := bytes.TrimSpace([]byte(s)); len(object) > 0 && object[0] == '{' && rawjson.Valid(object, spec.MaxDepth) == nil && m.checkOutput(object) == nil {
			m.changed("structuredContent from the text")
			return set(v, "structuredContent", oneLine(object))
		}
	}
	return m.misfit(v, nil, Unstructured)
}

// Misfit begins the text of a result that does not fit its tool's outputSchema; why follows, which
// is Unstructured if there was nothing to fit it.
const (
	Misfit       = "The call was carried out: do not repeat it. What it returned follows, and does not fit the tool's outputSchema: "
	Unstructured = "structuredContent is missing"
)

func (m *mender) misfit(v, structured json.RawMessage, why string) json.RawMessage {
	m.changed("a result that does not fit outputSchema")
	v = set(v, "structuredContent", nil)
	if structured != nil && !holdsText(v, structured) {
		v = AddText(v, string(structured))
	}
	if string(rawjson.Get(v, "isError")) == "true" {
		return v
	}
	blocks := append([]json.RawMessage{textBlock(Misfit + why)}, keyword.Elements(rawjson.Get(v, "content"))...)
	return markFailed(set(v, "content", keyword.ArrayOf(blocks...)))
}

// wrap returns a CallToolResult that holds a value.
func wrap(v json.RawMessage) json.RawMessage {
	out := append(make([]byte, 0, 2*len(v)+80), `{"content":[{"type":"text","text":`...)
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

// markFailed sets isError in a CallToolResult.
func markFailed(v json.RawMessage) json.RawMessage {
	return set(v, "isError", json.RawMessage("true"))
}

// AddText adds a text block to the content of a CallToolResult.
func AddText(v json.RawMessage, text string) json.RawMessage {
	blocks := keyword.Elements(rawjson.Get(v, "content"))
	return set(v, "content", keyword.ArrayOf(append(blocks, textBlock(text))...))
}

// ResourceResult returns a page's answer to a read of its URI page as a raw
// ReadResourceResult that clients can read, with the public URI in place of the page's, and what
// it has changed. The error says what the page answered in place of a result.
func (it *Item) ResourceResult(resp spec.Response, page, public string) (_ json.RawMessage, changed string, _ error) {
	m := mender{Item: it, page: page, public: public}
	v, err := m.resourceResult(m.receive(resp.Result))
	return v, m.summary(), err
}

// PromptResult returns a page's answer for a prompt as a raw GetPromptResult that clients
// can read, and what it has changed. The error is as for ResourceResult.
func (it *Item) PromptResult(resp spec.Response) (_ json.RawMessage, changed string, _ error) {
	m := mender{Item: it}
	v, err := m.promptResult(m.receive(resp.Result))
	return v, m.summary(), err
}

// MaxCompletions is how many values a CompleteResult of MCP may have.
const MaxCompletions = 100

// CompleteResult returns what a page proposes for an argument as a raw CompleteResult, an empty one
// if it proposes nothing. It leaves out values with characters that a person could not see, as the
// client would send them back.
func CompleteResult(resp spec.Response) json.RawMessage {
	said := rawjson.Get(resp.Result, "completion")
	values, more := []byte{'['}, string(rawjson.Get(said, "hasMore")) == "true"
	n := 0
	for v := range rawjson.Elements(rawjson.Get(said, "values")) {
		s := textOf(v)
		switch {
		case describe.CleanLines(s, spec.MaxURI) != s:
		case n == MaxCompletions:
			more = true
		default:
			values = rawjson.AppendString(appendComma(values), s)
			n++
		}
	}
	out := rawjson.AppendMember([]byte{'{'}, "values", append(values, ']'))
	if total := rawjson.Get(said, "total"); total != nil && isSize.is(total) && string(total) != "0" {
		out = rawjson.AppendMember(out, "total", total)
	}
	if more {
		out = rawjson.AppendMember(out, "hasMore", []byte("true"))
	}
	return append(rawjson.AppendMember([]byte{'{'}, "completion", append(out, '}')), '}')
}

// appendComma appends a comma unless out ends with an opening bracket.
func appendComma(out []byte) []byte {
	if last := out[len(out)-1]; last != '{' && last != '[' {
		return append(out, ',')
	}
	return out
}
