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
	"tabhub/hub/builtin"
	"tabhub/hub/instance"
	"tabhub/spec"
	"tabhub/storage"
)

// New returns the tools for the browsers of a hub, in a fixed order. Without instances
// the hub starts no browsers, and browser_instance has no Call.
func New(h *hub.Hub, instances *instance.Instances) []builtin.Tool {
	k := &kit{hub: h, instances: instances}
	tab, page := tabTool, pageTool
	tab.Call = k.handler(&tab, tabActions)
	page.Call = k.handler(&page, pageActions)
	all := instanceTool(true, true)
	if instances == nil {
		return []builtin.Tool{tab, page, all}
	}
	// What is off is not offered, but understood: who asks for it is told how it is
	// switched on.
	offered := instanceTool(instances.UserProfiles(), instances.Extensions())
	offered.Call = k.handler(&all, instanceActions)
	return []builtin.Tool{tab, page, offered}
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

// handler returns what serves the calls of a tool by its actions.
func (k *kit) handler(t *builtin.Tool, actions actions) func(context.Context, json.RawMessage, string, func(spec.Progress)) json.RawMessage {
	name, input := t.Name, builtin.NewInput(t.Input)
	return func(ctx context.Context, args json.RawMessage, client string, progress func(spec.Progress)) json.RawMessage {
		start := time.Now()
		c := &call{kit: k, ctx: ctx, progress: progress}
		result, outcome := c.outcome(c.run(args, input, actions))
		k.hub.Record(storage.Record{
			Time: start, Event: storage.EventCall, Client: client, Via: hub.Via(ctx), Tool: strings.TrimSpace(name + " " + c.args.Action),
			Outcome: outcome, Duration: time.Since(start),
		})
		return result
	}
}

// outcome returns what an action has returned as a raw CallToolResult, nil if the call was
// cancelled, and how the call ended, for the log.
func (c *call) outcome(out any, err error) (result json.RawMessage, outcome string) {
	if err != nil && c.ctx.Err() != nil {
		return nil, "cancelled"
	}
	if p, ok := out.(picture); ok && err == nil {
		return builtin.Image(p.data, p.mimeType), "ok"
	}
	var text []byte
	if err == nil {
		text, err = json.Marshal(out)
	}
	if err != nil {
		f := failureOf(err)
		return f.Result(), string(f.Code)
	}
	return builtin.Text(string(text)), "ok"
}

// run checks the arguments and does what they say.
func (c *call) run(raw json.RawMessage, input *builtin.Input, actions actions) (any, error) {
	given, object, err := input.Read(raw)
	if err == nil {
		err = json.Unmarshal(object, &c.args)
	}
	if err != nil {
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

// failureOf returns an error as a failure of the hub. What a browser answered keeps
// its words.
func failureOf(err error) *hub.Failure {
	if f, ok := errors.AsType[*hub.Failure](err); ok {
		return f
	}
	f := &hub.Failure{Code: spec.FailToolError, Message: err.Error()}
	if remote, ok := errors.AsType[*spec.Error](err); ok {
		f.Message = remote.Message
		switch remote.Code {
		case spec.CodeTabNotFound:
			f.Code = spec.FailTabNotFound
			f.Message += "; browser_tab list shows the tabs"
		case spec.CodeInvalidParams:
			f.Code = spec.FailInvalidArguments
		case spec.CodeRefused:
			f.Code = spec.FailDenied
		}
	}
	return f
}

// picture is an image whose data is base64 as the browser sent it: a JSON string.
type picture struct {
	mimeType string
	data     json.RawMessage
}
