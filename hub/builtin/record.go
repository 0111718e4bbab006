package builtin

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"tabhub/hub/record"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

type viaKey struct{}

// WithVia returns a context whose calls a client makes through the builtin tool of that
// name, for the log.
func WithVia(ctx context.Context, tool string) context.Context {
	return context.WithValue(ctx, viaKey{}, tool)
}

// Via returns the name that WithVia was given, or "".
func Via(ctx context.Context) string {
	tool, _ := ctx.Value(viaKey{}).(string)
	return tool
}

// maxAction is how long an action may be that is put into the log: that of a tool is shorter.
const maxAction = 32

// Recorded returns t so that log gets a record of each of its calls, by the tool's name and the
// action that the arguments name.
func Recorded(t Tool, log func(record.Entry)) Tool {
	call := t.Call
	t.Call = func(ctx context.Context, args json.RawMessage, client string, progress func(spec.Progress)) json.RawMessage {
		start := time.Now()
		result := call(ctx, args, client, progress)
		name := t.Name
		if action, ok := rawjson.String(rawjson.Get(args, "action")); ok && len(action) <= maxAction {
			name += " " + action
		}
		log(record.Entry{
			Time: start, Event: record.Call, Said: client, Via: Via(ctx), Tool: name,
			Args: args, Outcome: outcome(result), Duration: time.Since(start),
		})
		return result
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
