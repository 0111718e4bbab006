package builtin

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"tabhub/hub/consent"
	"tabhub/hub/record"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// maxAction is how long an action may be that is put into the log: that of a tool is shorter.
const maxAction = 32

// Recorded returns t so that log gets a record of each of its calls, by the tool's name and the
// action that the arguments name.
func Recorded(t Tool, log func(record.Entry)) Tool {
	call := t.Call
	t.Call = func(ctx context.Context, by *consent.Caller, args json.RawMessage) (json.RawMessage, error) {
		start := time.Now()
		e := by.Entry(record.Call, start)
		result, err := call(ctx, by.Noted(&e), args)
		name := t.Name
		if action, ok := rawjson.String(rawjson.Get(args, "action")); ok && len(action) <= maxAction {
			name += " " + action
		}
		e.Tool, e.Args, e.Result, e.Outcome, e.Duration = name, args, result, outcome(result), time.Since(start)
		log(e)
		return result, err
	}
	return t
}

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
		if strings.HasPrefix(text, "{") && rawjson.Valid([]byte(text), spec.MaxDepth) == nil {
			if code, ok := rawjson.String(rawjson.Get([]byte(text), "error", "code")); ok {
				return code
			}
		}
	}
	return string(spec.FailToolError)
}
