package browsertool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tabhub/hub"
	"tabhub/hub/instance"
	"tabhub/hub/schema"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/storage"
)

// Tool is a tool of the hub itself, as an MCP server takes it.
type Tool struct {
	Name       string
	Definition json.RawMessage // an MCP Tool
	// Call returns a raw CallToolResult, or nil if ctx ended first. args are nil or
	// valid JSON. progress is not called after Call has returned.
	Call func(ctx context.Context, args json.RawMessage, client string, progress func(spec.Progress)) json.RawMessage
}

// New returns the tools of a hub, in a fixed order. instances may be nil, if the hub
// is to start no browsers: browser_instance is left out then.
func New(h *hub.Hub, instances *instance.Instances) []Tool {
	k := &kit{hub: h, instances: instances}
	all := []Tool{
		k.tool(TabTool, tabDefinition, tabActions),
		k.tool(PageTool, pageDefinition, pageActions),
	}
	if instances != nil {
		t := k.tool(InstanceTool, instanceDefinition(true, true), instanceActions)
		// What is off is understood, so that who asks for it is told how it is switched on,
		// but not offered.
		t.Definition = json.RawMessage(instanceDefinition(instances.UserProfiles(), instances.Extensions()))
		all = append(all, t)
	}
	return all
}

// kit is what the tools work with.
type kit struct {
	hub       *hub.Hub
	instances *instance.Instances
}

// actions are those of a tool, by name.
type actions map[string]action

type action struct {
	needs []string // parameters beside the action
	takes []string // further ones, that may be left out
	// run returns what the result's text is to say, or a picture.
	run func(*call) (any, error)
}

// call is a call of a tool whose arguments have been checked.
type call struct {
	*kit
	ctx      context.Context
	args     args
	progress func(spec.Progress)
}

// args are the parameters of all the tools.
type args struct {
	Action         string        `json:"action"`
	TabID          string        `json:"tabId"`
	BrowserID      string        `json:"browserId"`
	URL            string        `json:"url"`
	Active         bool          `json:"active"`
	TimeoutMs      int           `json:"timeoutMs"`
	MaxChars       int           `json:"maxChars"`
	InstanceID     string        `json:"instanceId"`
	Mode           instance.Mode `json:"mode"`
	Headless       *bool         `json:"headless"`
	Profile        string        `json:"profile"`
	Extensions     []string      `json:"extensions"`
	CloseOtherTabs bool          `json:"closeOtherTabs"`
}

func failure(code spec.FailureCode, format string, args ...any) error {
	return &hub.Failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error {
	return failure(spec.FailInvalidArguments, format, args...)
}

// tool makes a Tool of its actions.
func (k *kit) tool(name, definition string, actions actions) Tool {
	var cache schema.Cache
	input, err := cache.Compile(rawjson.Get([]byte(definition), "inputSchema"))
	if err != nil {
		panic(fmt.Sprintf("the schema of %s: %v", name, err)) // it is compiled in
	}
	return Tool{
		Name:       name,
		Definition: json.RawMessage(definition),
		Call: func(ctx context.Context, raw json.RawMessage, client string, progress func(spec.Progress)) json.RawMessage {
			start := time.Now()
			c := &call{kit: k, ctx: ctx, progress: progress}
			out, err := c.run(raw, input, actions)
			if ctx.Err() != nil && err != nil {
				k.record(name, c.args.Action, client, start, "cancelled")
				return nil
			}
			if err != nil {
				f := failureOf(err)
				k.record(name, c.args.Action, client, start, string(f.Code))
				return f.Result()
			}
			k.record(name, c.args.Action, client, start, "ok")
			return result(out)
		},
	}
}

// run checks the arguments and does what they say.
func (c *call) run(raw json.RawMessage, input *schema.Schema, actions actions) (any, error) {
	given := map[string]json.RawMessage{}
	if len(raw) > 0 && raw[0] != '{' {
		return nil, invalid("the arguments must be an object")
	}
	for key, value := range rawjson.Members(raw) {
		if string(value) != "null" { // as many clients send what is not given
			given[key] = value
		}
	}
	raw, err := json.Marshal(given)
	if err != nil {
		return nil, invalid("%v", err)
	}
	if err := input.Check(raw); err != nil {
		return nil, invalid("%v", err)
	}
	if err := json.Unmarshal(raw, &c.args); err != nil {
		return nil, invalid("%v", err)
	}
	a := actions[c.args.Action]
	for _, name := range a.needs {
		if given[name] == nil {
			return nil, invalid("action %s needs %s", c.args.Action, name)
		}
	}
	for name := range given {
		if name != "action" && !slices.Contains(a.needs, name) && !slices.Contains(a.takes, name) {
			return nil, invalid("action %s takes no %s%s", c.args.Action, name, takes(a))
		}
	}
	if c.args.URL != "" {
		if err := checkURL(c.args.URL); err != nil {
			return nil, err
		}
	}
	return a.run(c)
}

// takes says what an action takes.
func takes(a action) string {
	all := append(slices.Clone(a.needs), a.takes...)
	if len(all) == 0 {
		return ""
	}
	return "; it takes " + strings.Join(all, ", ")
}

// record leaves a line in the hub's log.
func (k *kit) record(tool, action, client string, start time.Time, outcome string) {
	k.hub.Record(storage.Record{
		Time: start, Event: storage.EventCall, Client: client, Tool: strings.TrimSpace(tool + " " + action),
		Outcome: outcome, Duration: time.Since(start),
	})
}

// failureOf returns an error as a failure of the hub. What a browser answered keeps
// its words.
func failureOf(err error) *hub.Failure {
	if f, ok := errors.AsType[*hub.Failure](err); ok {
		return f
	}
	if remote, ok := errors.AsType[*spec.Error](err); ok {
		switch remote.Code {
		case spec.CodeTabNotFound:
			return &hub.Failure{Code: spec.FailTabNotFound, Message: remote.Message + "; browser_tab list shows the tabs"}
		case spec.CodeInvalidParams:
			return &hub.Failure{Code: spec.FailInvalidArguments, Message: remote.Message}
		case spec.CodeRefused:
			return &hub.Failure{Code: spec.FailDenied, Message: remote.Message}
		}
		return &hub.Failure{Code: spec.FailToolError, Message: remote.Message}
	}
	return &hub.Failure{Code: spec.FailToolError, Message: err.Error()}
}

// picture is an image whose data is base64 as the browser sent it: a JSON string.
type picture struct {
	mimeType string
	data     json.RawMessage
}

// result returns a raw CallToolResult.
func result(out any) json.RawMessage {
	if p, ok := out.(picture); ok {
		raw := append([]byte(`{"content":[{"type":"image","data":`), p.data...)
		raw = rawjson.AppendString(append(raw, `,"mimeType":`...), p.mimeType)
		return append(raw, "}]}"...)
	}
	text, err := json.Marshal(out)
	if err != nil {
		return (&hub.Failure{Code: spec.FailToolError, Message: err.Error()}).Result()
	}
	raw := rawjson.AppendString([]byte(`{"content":[{"type":"text","text":`), string(text))
	return append(raw, "}]}"...)
}
