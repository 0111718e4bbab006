package builtin

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// maxAction is how long an action may be that is put into the log: that of a tool is shorter.
const maxAction = 32

// Owner sees calls while they run, may stop them, and keeps a record of them. A hub.ClientView is one.
type Owner interface {
	// Track begins a call: ctx ends when the owner stops it. id is the call's, and end is
	// called with how it has ended, which it returns as the client is to get it.
	Track(ctx context.Context, by *consent.Caller, tool string) (_ context.Context, id string, end func(json.RawMessage, error) (json.RawMessage, error))
	Record(record.Entry)
}

// Recorded returns t so that its owner sees each of its calls, by the tool's name and the
// action that the arguments name.
func Recorded(t Tool, owner Owner) Tool {
	call := t.Call
	t.Call = func(ctx context.Context, by *consent.Caller, args json.RawMessage) (json.RawMessage, error) {
		name := t.Name
		if action, ok := rawjson.String(rawjson.Get(args, "action")); ok && len(action) <= maxAction {
			name += " " + action
		}
		start := time.Now()
		e := by.Entry(record.Call, start)
		ctx, id, end := owner.Track(ctx, by, name)
		e.Call = id
		result, err := end(call(ctx, by.Noted(&e), args))
		e.Tool, e.Outcome, e.Duration = name, outcome(result), time.Since(start)
		if e.Args == nil { // the tool has not noted what is to be kept
			e.Args = args
		}
		if e.Result == nil {
			e.Result = result
		}
		owner.Record(e)
		return result, err
	}
	return t
}

// isCode says what the codes of failures look like: the text of a result may be a page's.
var isCode = regexp.MustCompile(`^[A-Z_]{1,32}$`).MatchString

// outcome says how a call with that result ended: "ok", "cancelled" without one, or the
// code of the failure.
func outcome(result json.RawMessage) string {
	switch {
	case result == nil:
		return "cancelled"
	case string(rawjson.Get(result, "isError")) != "true":
		return "ok"
	}
	for block := range rawjson.Elements(rawjson.Get(result, "content")) {
		text, _ := rawjson.String(rawjson.Get(block, "text"))
		if strings.HasPrefix(text, "<<<") { // labelled, as it names what there is on a page
			_, text, _ = strings.Cut(text, "\n")
			text = text[:max(0, strings.LastIndexByte(text, '\n'))]
		}
		if strings.HasPrefix(text, "{") && rawjson.Valid([]byte(text), spec.MaxDepth) == nil {
			if code, ok := rawjson.String(rawjson.Get([]byte(text), "error", "code")); ok && isCode(code) {
				return code
			}
		}
	}
	return string(spec.FailToolError)
}
