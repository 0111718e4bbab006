package pagecheck

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"tabhub/hub/schema"
	"tabhub/spec/rawjson"
)

// Call is a call of a tool, or the reading of a resource, that has ended.
type Call struct {
	Item      *Item
	Arguments json.RawMessage // nil for a resource
	Given     bool            // the arguments are the author's, not made up
	Took      time.Duration
	Result    json.RawMessage // of MCP; nil if there is none
	Failed    string          // why there is none
	Why       string          // the tool has failed, by the browser; "" if it does not say
	Hung      bool            // the page runs no script any more
	Navigated string          // where the page went meanwhile, "" if it stayed
}

const (
	slowCall       = 5 * time.Second
	maxResult      = 10_000 // tokens of a result
	maxFailureText = 200
	maxInspected   = 64 << 10 // bytes of a result's texts that are looked at
)

// Judge returns what is to be said of a call.
func Judge(c *Call, tokens func(bytes int) int) []Finding {
	r := &report{item: c.Item.Label()}
	with := "with " + cut(string(c.Arguments), 100)
	if c.Arguments == nil {
		with = "when it is read"
	}
	if c.Navigated != "" {
		r.add(Warning, CallNavigates, "leave readOnlyHint out, or answer without leaving the page", "%s it leads to another page: %s", with, c.Navigated)
		return r.all
	}
	if c.Failed != "" && c.Hung {
		r.add(Error, CallFailed, "do long work in pieces, or in a worker", "%s it does not answer, and the page runs no script any more: %s", with, c.Failed)
		return r.all
	}
	if c.Failed != "" {
		r.add(Error, CallFailed, "", "%s it does not answer: %s", with, c.Failed)
		return r.all
	}
	if c.Took > slowCall {
		r.add(Warning, CallSlow, "report progress, or do less", "%s it takes %s", with, c.Took.Round(100*time.Millisecond))
	}
	if n := tokens(len(c.Result)); n > maxResult {
		r.add(Warning, ResultLarge, "return less: pages of a list, a summary, a link", "%s it returns about %d tokens, more than %d", with, n, maxResult)
	}
	if string(rawjson.Get(c.Result, "isError")) == "true" {
		r.failed(c, with)
		return r.all
	}
	if c.Arguments != nil {
		r.result(c, with)
	}
	r.spoken(c)
	return r.all
}

// spoken looks for texts in a result that speak to the model. What others have written is only
// noted where the tool says that it returns such.
func (r *report) spoken(c *Call) {
	severity, hint := Warning, "mark what others have written as theirs, and set annotations.untrustedContentHint"
	if string(rawjson.Get(c.Item.Registered, "annotations", "untrustedContentHint")) == "true" {
		severity, hint = Note, ""
	}
	left := maxInspected
	eachText(c.Result, "", func(path, text string) {
		if strings.HasSuffix(path, "data") || strings.HasSuffix(path, "blob") || left == 0 || len(r.all) >= maxFound {
			return
		}
		text = text[:min(left, len(text))]
		left -= len(text)
		if what, part := suspect(text, nil); what != "" {
			r.add(severity, Injection, hint, "the result's %s %s: %q", path, what, cut(part, 120))
		}
	})
}

// failed judges a result that says that the tool has failed.
func (r *report) failed(c *Call, with string) {
	text := cut(cmp.Or(c.Why, resultText(c.Result)), maxFailureText)
	switch {
	case c.Given:
		r.add(Error, CallFailed, "", "%s it fails: %s", with, text)
	case string(c.Arguments) == "{}":
		r.add(Warning, CallFailed, "a tool that needs no arguments should answer without any", "%s it fails: %s", with, text)
	default:
		// There may be nothing for arguments that are made up.
		r.add(Note, CallFailed, "put examples into the schema, or give --call arguments that it can answer", "%s, which was made from the schema, it fails: %s", with, text)
	}
}

// result judges what a tool has returned.
func (r *report) result(c *Call, with string) {
	structured := rawjson.Get(c.Result, "structuredContent")
	content := rawjson.Get(c.Result, "content")
	text := strings.TrimSpace(resultText(c.Result))
	if structured == nil && (text == "null" || text == "undefined" || text == "" && len(content) <= len("[]") || text == "" && onlyText(content)) {
		r.add(Warning, ResultEmpty, "return what was found, also when it is nothing", "%s it returns nothing", with)
	}
	promised := c.Item.member("outputSchema")
	if promised == nil {
		return
	}
	if structured == nil {
		r.add(Error, ResultUnstructured, "return an object, or structuredContent", "%s it returns no structuredContent, which its outputSchema promises", with)
		return
	}
	compiled, err := new(schema.Cache).Compile(promised)
	if err != nil {
		return // SchemaInvalid
	}
	if err := compiled.Check(structured); err != nil {
		r.add(Error, ResultNotAsPromised, "change the result or the outputSchema", "%s its structuredContent is not as its outputSchema says: %v", with, err)
	}
}

// onlyText reports whether all blocks of a content are text.
func onlyText(content json.RawMessage) bool {
	for block := range rawjson.Elements(content) {
		if kind, _ := rawjson.String(rawjson.Get(block, "type")); kind != "text" {
			return false
		}
	}
	return true
}

// resultText returns the texts of a result, less the hub's wrapping of a failure.
func resultText(result json.RawMessage) string {
	var all []string
	for block := range rawjson.Elements(rawjson.Get(result, "content")) {
		if s, ok := rawjson.String(rawjson.Get(block, "text")); ok {
			if message, ok := rawjson.String(rawjson.Get([]byte(s), "error", "message")); ok && rawjson.Valid([]byte(s), 10) == nil {
				s = message
			}
			all = append(all, s)
		}
	}
	return strings.Join(all, "\n")
}

// Samples returns arguments to call a tool with, and what cannot be made, nil if all can.
func (it *Item) Samples() ([]json.RawMessage, *Finding) {
	all, err := Samples(it.member("inputSchema"))
	if err == nil {
		return all, nil
	}
	return all, &Finding{Note, ArgumentsNotMade, it.Label(), "no arguments can be made from its schema: " + err.Error(), "put examples into the schema, or pass them with --call"}
}
