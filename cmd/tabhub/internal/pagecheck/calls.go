package pagecheck

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"tabhub/hub/offer/item"
	"tabhub/spec/rawjson"
)

// Call is a finished call of a tool, or a finished read of a resource.
type Call struct {
	Item      *Item
	Arguments json.RawMessage // nil for a resource
	Took      time.Duration
	Result    json.RawMessage // of MCP; nil if there is none
	Failed    string          // why there is none
	Why       string          // the browser's reason for the tool's failure; "" if it gives none
	Hung      bool            // the page runs no script any more
	Navigated string          // where the page navigated during the call, "" if it stayed
}

const maxFailureText = 200

// Judge returns the findings about a call.
func Judge(c *Call) []Finding {
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
	if string(rawjson.Get(c.Result, "isError")) == "true" {
		said := resultText(c.Result)
		why, misfit := strings.CutPrefix(said, item.Misfit)
		why, _, _ = strings.Cut(why, "\n")
		switch {
		case !misfit:
			r.add(Error, CallFailed, "", "%s it fails: %s", with, cut(cmp.Or(c.Why, said), maxFailureText))
		case why == item.Unstructured:
			r.add(Error, ResultUnstructured, "return an object, or structuredContent", "%s it returns no structuredContent, which its outputSchema promises", with)
		default:
			r.add(Error, ResultNotAsPromised, "change the result or the outputSchema", "%s its structuredContent is not as its outputSchema says: %s", with, why)
		}
	}
	return r.all
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
