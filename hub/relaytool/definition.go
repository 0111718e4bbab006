package relaytool

import (
	"context"
	"encoding/json"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/spec"
	"tabhub/tabtransport/relay"
)

// command is a tool for a method of extensions, after which it is named.
type command struct {
	method   string
	describe string
	params   []param // beside browser
	reads    bool    // changes nothing
	destroys bool    // may change or lose what the user has
	// run returns a raw CallToolResult. nil: the extension is sent the method, and its
	// answer is the result.
	run func(context.Context, relay.Tools, arguments) (json.RawMessage, error)
}

// arguments are those that some of the commands take apart.
type arguments struct {
	relay.Point
	Index    *int   `json:"index"`
	TabIndex *int   `json:"tabIndex"`
	URL      string `json:"url"`
	Text     string `json:"text"`
}

// param is a parameter of a command, under the name that the extension knows it by.
type param struct {
	name, kind, describe string
	required             bool
}

var browserParam = param{"browser", "string", "Id or name of the browser, as relay_listBrowsers tells it. May be left out while only one is connected.", false}

var pointParams = []param{
	{"selector", "string", "CSS selector of the element. Or give x and y.", false},
	{"x", "number", "Pixels from the left of the viewport.", false},
	{"y", "number", "Pixels from the top of the viewport.", false},
}

// commands are the methods and parameters that extensions of the protocol serve.
var commands = []command{
	{method: "getTabs", reads: true,
		describe: "List the tabs that are open in a browser, with id, index, title and URL."},
	{method: "createTab",
		describe: "Open a new tab, which later commands go to.",
		params: []param{
			{"url", "string", "Address to open.", true},
			{"activate", "boolean", "Bring the tab to the front.", false},
			{"stealth", "boolean", "Hide from the page that the browser is driven by a program.", false},
		}},
	{method: "selectTab",
		describe: "Choose the tab that later commands go to.",
		params: []param{
			{"tabIndex", "integer", "The tab's index, from relay_getTabs.", true},
			{"activate", "boolean", "Bring the tab to the front, too.", false},
		}},
	{method: "activateTab", run: activateTab,
		describe: "Bring a tab to the front. With some extensions later commands go to it.",
		params: []param{
			{"tabIndex", "integer", "The tab's index, from relay_getTabs. Left out: the tab that commands go to.", false},
		}},
	{method: "closeTab", destroys: true, run: closeTab,
		describe: "Close a tab, and say which one is no more. What the user has typed there is lost. A tab that is named is the one that commands go to, before it closes.",
		params: []param{
			{"index", "integer", "The tab's index, from relay_getTabs. Left out: the tab that commands go to.", false},
		}},
	{method: "browser_navigate", run: navigate(spec.Navigate{}),
		describe: "Load an address in the tab that commands go to, and say where it is then.",
		params:   []param{{"url", "string", "Address to load.", true}}},
	{method: "goBack", run: navigate(spec.Navigate{Back: true}),
		describe: "Go back in the tab that commands go to, as the browser's button does."},
	{method: "goForward", run: navigate(spec.Navigate{Forward: true}),
		describe: "Go forward in the tab that commands go to, as the browser's button does."},
	{method: "click", destroys: true, params: pointParams,
		describe: "Click in the tab that commands go to. What it sets off is up to the page.",
		run:      point(func(ctx context.Context, t relay.Tools, at relay.Point) error { return t.Click(ctx, at) })},
	{method: "hover", params: pointParams,
		describe: "Move the mouse in the tab that commands go to.",
		run:      point(func(ctx context.Context, t relay.Tools, at relay.Point) error { return t.Hover(ctx, at) })},
	{method: "type", destroys: true, run: typeText,
		describe: "Type a text in the tab that commands go to.",
		params: []param{
			{"text", "string", "What to type.", true},
			{"selector", "string", "CSS selector of the element to type into. Left out: the one that has the focus.", false},
		}},
	{method: "forwardCDPCommand", destroys: true,
		describe: "Send a command of the Chrome DevTools Protocol to the tab that commands go to, for instance Page.navigate, Runtime.evaluate or Input.dispatchMouseEvent. It can do whatever the user can.",
		params: []param{
			{"method", "string", "The command, as Domain.name.", true},
			{"params", "object", "The command's parameters.", false},
			{"sessionId", "string", "A session of the debugger, for a frame or worker.", false},
		}},
	{method: "getConsoleMessages", reads: true,
		describe: "Read the console messages of the tab that commands go to."},
	{method: "getNetworkRequests", reads: true,
		describe: "List the network requests of the tab that commands go to."},
	{method: "getResponseBody", reads: true,
		describe: "Read the body of a response.",
		params:   []param{{"requestId", "string", "From relay_getNetworkRequests.", true}}},
	{method: "screenshot", reads: true, run: screenshot,
		describe: "Take a picture of the tab that commands go to."},
}

// done is the result of a command of which nothing else can be said.
var done = builtin.Text(`{"success":true}`)

func activateTab(ctx context.Context, t relay.Tools, args arguments) (json.RawMessage, error) {
	answer, err := t.Activate(ctx, args.TabIndex)
	return builtin.Text(string(answer)), err
}

func closeTab(ctx context.Context, t relay.Tools, args arguments) (json.RawMessage, error) {
	closed, err := t.Close(ctx, args.Index)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string]spec.BrowserTab{"closed": closed})
	return builtin.Text(string(text)), err
}

func navigate(to spec.Navigate) func(context.Context, relay.Tools, arguments) (json.RawMessage, error) {
	return func(ctx context.Context, t relay.Tools, args arguments) (json.RawMessage, error) {
		to := to
		to.URL = args.URL
		page, err := t.Navigate(ctx, to)
		return builtin.Text(string(page)), err
	}
}

// point returns what runs a command that is about a place in the page.
func point(do func(context.Context, relay.Tools, relay.Point) error) func(context.Context, relay.Tools, arguments) (json.RawMessage, error) {
	return func(ctx context.Context, t relay.Tools, args arguments) (json.RawMessage, error) {
		if args.Selector == "" && (args.X == nil || args.Y == nil) {
			return nil, &hub.Failure{Code: spec.FailInvalidArguments, Message: "give selector, or x and y"}
		}
		return done, do(ctx, t, args.Point)
	}
}

func typeText(ctx context.Context, t relay.Tools, args arguments) (json.RawMessage, error) {
	return done, t.Type(ctx, args.Selector, args.Text)
}

func screenshot(ctx context.Context, t relay.Tools, _ arguments) (json.RawMessage, error) {
	shot, err := t.Screenshot(ctx)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(shot.Data)
	return builtin.Image(data, shot.MimeType), err
}

// tool returns the definition of a tool with these parameters.
func (c command) tool(params ...param) builtin.Tool {
	type property struct {
		Type        string `json:"type"`
		Description string `json:"description"`
	}
	input := struct {
		AdditionalProperties bool                `json:"additionalProperties"`
		Properties           map[string]property `json:"properties"`
		Required             []string            `json:"required"`
		Type                 string              `json:"type"`
	}{Properties: map[string]property{}, Required: []string{}, Type: "object"}
	for _, p := range params {
		input.Properties[p.name] = property{p.kind, p.describe}
		if p.required {
			input.Required = append(input.Required, p.name)
		}
	}
	raw, _ := json.Marshal(input) // strings and booleans only
	return builtin.Tool{
		Name:        "relay_" + c.method,
		Description: c.describe,
		Input:       raw,
		Annotations: &builtin.Annotations{ReadOnly: c.reads, Destructive: c.destroys, Idempotent: c.reads, OpenWorld: true},
		Listed:      builtin.RelayTools,
	}
}
