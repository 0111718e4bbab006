package relaytool

import (
	"encoding/json"

	"tabhub/hub/builtin"
)

// command is a tool that sends one request to an extension.
type command struct {
	name     string // after "relay_"
	method   string // of the extension
	describe string
	params   []param           // beside browser
	fixed    map[string]string // parameters that are always the same, as JSON
	image    bool              // the answer's data is a PNG image in base64
	reads    bool              // changes nothing
	destroys bool              // may change or lose what the user has
}

// param is a parameter of a command, under the name that the extension knows it by.
type param struct {
	name, kind, describe string
	required             bool
}

var browserParam = param{"browser", "string", "Id or name of the browser, as relay_listBrowsers tells it. May be left out while only one is connected.", false}

// commands are the methods and parameters that extensions of the protocol serve.
var commands = []command{
	{name: "getTabs", method: "getTabs", reads: true,
		describe: "List the tabs that are open in a browser, with id, index, title and URL."},
	{name: "createTab", method: "createTab",
		describe: "Open a new tab, which later commands go to.",
		params: []param{
			{"url", "string", "Address to open.", true},
			{"activate", "boolean", "Bring the tab to the front.", false},
			{"stealth", "boolean", "Hide from the page that the browser is driven by a program.", false},
		}},
	{name: "selectTab", method: "selectTab",
		describe: "Choose the tab that later commands go to.",
		params: []param{
			{"tabIndex", "integer", "The tab's index, from relay_getTabs.", true},
			{"activate", "boolean", "Bring the tab to the front, too.", false},
		}},
	{name: "activateTab", method: "activateTab",
		describe: "Bring a tab to the front.",
		params: []param{
			{"tabIndex", "integer", "The tab's index, from relay_getTabs. Left out: the tab that commands go to.", false},
		}},
	{name: "closeTab", method: "closeTab", destroys: true,
		describe: "Close a tab. What the user has typed there is lost.",
		params: []param{
			{"index", "integer", "The tab's index, from relay_getTabs. Left out: the tab that commands go to.", false},
		}},
	{name: "forwardCDPCommand", method: "forwardCDPCommand", destroys: true,
		describe: "Send a command of the Chrome DevTools Protocol to the tab that commands go to, for instance Page.navigate, Runtime.evaluate or Input.dispatchMouseEvent. It can do whatever the user can.",
		params: []param{
			{"method", "string", "The command, as Domain.name.", true},
			{"params", "object", "The command's parameters.", false},
			{"sessionId", "string", "A session of the debugger, for a frame or worker.", false},
		}},
	{name: "getConsoleMessages", method: "getConsoleMessages", reads: true,
		describe: "Read the console messages of the tab that commands go to."},
	{name: "getNetworkRequests", method: "getNetworkRequests", reads: true,
		describe: "List the network requests of the tab that commands go to."},
	{name: "getResponseBody", method: "getResponseBody", reads: true,
		describe: "Read the body of a response.",
		params:   []param{{"requestId", "string", "From relay_getNetworkRequests.", true}}},
	{name: "screenshot", method: "forwardCDPCommand", reads: true, image: true,
		describe: "Take a picture of the tab that commands go to.",
		fixed:    map[string]string{"method": `"Page.captureScreenshot"`, "params": `{"format":"png"}`}},
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
		Name:        "relay_" + c.name,
		Description: c.describe,
		Input:       raw,
		Annotations: &builtin.Annotations{ReadOnly: c.reads, Destructive: c.destroys, Idempotent: c.reads, OpenWorld: true},
		Listed:      builtin.RelayTools,
	}
}
