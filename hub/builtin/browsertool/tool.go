package browsertool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tabhub/describe"
	"tabhub/hub"
	"tabhub/hub/anypage"
	"tabhub/hub/builtin"
	"tabhub/hub/builtin/instance"
	"tabhub/hub/core"
	"tabhub/hub/offer/item"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// New returns the tools for the browsers of a hub, in a fixed order. Without instances
// the hub starts no browsers, and browser_instance has no Call. Clients may upload the files that
// uploads names.
func New(h *hub.Hub, instances *instance.Instances, uploads anypage.Uploads) []builtin.Tool {
	k := &kit{hub: h, instances: instances}
	if h != nil {
		k.pages = anypage.New(h.Core, h.Calls, uploads)
	}
	// Models say open for new, whatever they are offered.
	understood := tabInput(`"list","new","open","close","close_others","activate","claim","release","use"`)
	tab, page := k.serve(tabTool, understood, tabActions), k.serve(pageTool, pageInput(true), pageActions)
	started := instanceTool
	if instances != nil {
		started = k.serve(instanceTool, instanceTool.Input, instanceActions)
	}
	return []builtin.Tool{tab, page, k.serve(scriptTool, scriptTool.Input, scriptActions), started}
}

// kit is what the tools work with.
type kit struct {
	hub       *hub.Hub
	instances *instance.Instances
	pages     *anypage.Pages
}

// actions are those of a tool, by name.
type actions map[string]action

type action struct {
	needs []string // parameters beside the action
	takes []string // further ones, that may be left out
	// class is what the action may change, nil if it acts by hub.Control alone, which decides
	// about that.
	class func(*args) policy.Class
	// run returns what the result's text is to say, a picture, or the result itself as a json.RawMessage.
	run func(*call) (any, error)
}

// call is a call of a tool whose arguments have been checked.
type call struct {
	*kit
	ctx  context.Context
	by   *consent.Caller
	args args
	// object is the arguments, as the owner is shown them.
	object json.RawMessage
	from   *item.Source // of what it returns, also of a failure, if that is a page's
}

// args are the parameters of all the tools.
type args struct {
	Action         string        `json:"action"`
	TabID          string        `json:"tabId"`
	BrowserID      string        `json:"browserId"`
	URL            string        `json:"url"`
	Active         bool          `json:"active"`
	For            string        `json:"for"`
	Tool           string        `json:"tool"`
	TimeoutMs      int           `json:"timeoutMs"`
	MaxChars       int           `json:"maxChars"`
	InstanceID     string        `json:"instanceId"`
	Mode           instance.Mode `json:"mode"`
	Headless       *bool         `json:"headless"`
	Profile        string        `json:"profile"`
	Name           string        `json:"name"`
	Minutes        float64       `json:"minutes"`
	Reads          bool          `json:"reads"`
	CloseOtherTabs bool          `json:"closeOtherTabs"`

	Ref       string          `json:"ref"`
	Value     json.RawMessage `json:"value"`
	Fields    []field         `json:"fields"`
	Values    []string        `json:"values"`
	Key       string          `json:"key"`
	Count     int             `json:"count"`
	Button    string          `json:"button"`
	Pages     float64         `json:"pages"`
	To        string          `json:"to"`
	Files     []string        `json:"files"`
	Accept    bool            `json:"accept"`
	Scope     string          `json:"scope"`
	Depth     int             `json:"depth"`
	Find      string          `json:"find"`
	Changes   bool            `json:"changes"`
	MaxTokens int             `json:"maxTokens"`
	Full      bool            `json:"full"`
	Numbered  bool            `json:"numbered"`
	Frame     string          `json:"frame"`
	Steps     json.RawMessage `json:"steps"`
	Code      string          `json:"code"`
}

func failure(code spec.FailureCode, format string, args ...any) error {
	return &core.Failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error {
	return failure(spec.FailInvalidArguments, format, args...)
}

// serve returns t with its calls served by its actions, whose parameters those of the
// schema are.
func (k *kit) serve(t builtin.Tool, schema json.RawMessage, actions actions) builtin.Tool {
	input := builtin.NewInput(schema)
	t.Class = classOf(t.Name)
	t.Call = func(ctx context.Context, by *consent.Caller, args json.RawMessage) (json.RawMessage, error) {
		c := &call{kit: k, ctx: ctx, by: by}
		return c.result(c.run(t.Name, args, input, actions))
	}
	return builtin.Recorded(t, k.hub.ClientView())
}

// result returns what an action has returned as that of a builtin.Tool.
func (c *call) result(out any, err error) (json.RawMessage, error) {
	if _, asks := errors.AsType[*consent.AskBack](err); asks {
		return nil, err
	}
	if err != nil && c.ctx.Err() != nil {
		return nil, context.Cause(c.ctx)
	}
	if err == nil {
		switch out := out.(type) {
		case picture:
			result := builtin.Image(out.data, out.mimeType)
			if out.text != "" {
				result = item.AddText(result, out.text)
			}
			return c.label(result), nil
		case json.RawMessage:
			return out, nil
		}
	}
	var text []byte
	if err == nil {
		text, err = json.Marshal(out)
	}
	if err != nil {
		return c.label(failureOf(err).Result()), nil
	}
	return c.label(builtin.Text(string(text))), nil
}

// label says in a result where it is from, if that is a page.
func (c *call) label(result json.RawMessage) json.RawMessage {
	if c.from == nil {
		return result
	}
	return c.hub.Calls.Label(result, c.from)
}

// run checks the arguments of the tool of that name and does what they say.
func (c *call) run(name string, raw json.RawMessage, input *builtin.Input, actions actions) (any, error) {
	given, object, err := input.Read(raw)
	if err == nil {
		err = json.Unmarshal(object, &c.args)
	}
	if err != nil {
		return nil, invalid("%v", err)
	}
	c.object = object
	a := actions[c.args.Action]
	for _, name := range a.needs {
		if given[name] == nil {
			return nil, invalid("%sneeds %s", does(c.args.Action), name)
		}
	}
	for name, value := range given {
		if text, ok := rawjson.String(value); ok && (text == "" && name != "value" || utf8.RuneCountInString(text) > maxLength(name)) {
			return nil, invalid("%s must have 1 to %d characters", name, maxLength(name))
		}
		if name != "action" && !slices.Contains(a.needs, name) && !slices.Contains(a.takes, name) {
			return nil, invalid("%stakes no %s%s", does(c.args.Action), name, takes(a))
		}
	}
	if c.args.URL != "" {
		c.args.URL = encodeBlanks(c.args.URL)
		if err := checkURL(c.args.URL); err != nil {
			return nil, err
		}
	}
	if a.class == nil {
		return a.run(c)
	}
	return c.admitted(name+" "+c.args.Action, a.class(&c.args), object, a.run)
}

// admitted has it decided about an action that does not go to a tab, and returns what run does,
// if that is allowed.
func (c *call) admitted(name string, class policy.Class, args json.RawMessage, run func(*call) (any, error)) (result any, err error) {
	a := policy.Action{
		Principal: c.by.Principal, Session: c.by.Session, Of: policy.OfHub, Name: name, Class: class,
		Site: policy.Site{Domain: naming.DomainOfURL(c.args.URL, true)},
	}
	call := c.ctx
	defer func() { c.ctx = call }()
	err = c.hub.Calls.Admit(call, c.by, &a, args, func(ctx context.Context) (err error) {
		c.ctx = ctx
		result, err = run(c)
		return err
	})
	return result, err
}

// does begins a message about an action, if the tool has any.
func does(action string) string {
	if action == "" {
		return "it "
	}
	return "action " + action + " "
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
func failureOf(err error) *core.Failure {
	if f, ok := errors.AsType[*core.Failure](err); ok {
		return f
	}
	f := &core.Failure{Code: spec.FailToolError, Message: err.Error()}
	if remote, ok := errors.AsType[*spec.Error](err); ok {
		f.Message = describe.Clean(remote.Message, spec.MaxDescription)
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
	text     string // what the references in it stand for, and that it is cut
}
