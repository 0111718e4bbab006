package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
)

// Tool is an MCP tool with which an LLM drives the extensions of one user.
type Tool struct {
	Name string
	// Definition is the MCP Tool object.
	Definition json.RawMessage
	// Call returns a CallToolResult; failures are results with isError set, in the form
	// of the hub's own.
	Call func(ctx context.Context, args json.RawMessage) json.RawMessage
}

// toolSpec is one of the extensions' methods as an MCP tool.
type toolSpec struct {
	name     string // after "relay_"
	method   string // of the extension
	describe string
	fields   []toolField
	reads    bool // changes nothing
	destroys bool // may change or lose what the user has
}

type toolField struct {
	name, kind, describe string
	required             bool
}

var browserField = toolField{"browser", "string", "Id or name of the browser, as relay_listBrowsers tells it. May be left out while only one is connected.", false}

// The methods and parameters are those that extensions of the protocol serve.
var toolSpecs = []toolSpec{
	{name: "getTabs", method: "getTabs", reads: true,
		describe: "List the tabs that are open in a browser, with id, index, title and URL."},
	{name: "createTab", method: "createTab",
		describe: "Open a new tab, which later commands go to.",
		fields: []toolField{
			{"url", "string", "Address to open.", true},
			{"activate", "boolean", "Bring the tab to the front.", false},
			{"stealth", "boolean", "Hide from the page that the browser is driven by a program.", false},
		}},
	{name: "selectTab", method: "selectTab",
		describe: "Choose the tab that later commands go to.",
		fields: []toolField{
			{"tabIndex", "integer", "The tab's index, from relay_getTabs.", true},
			{"activate", "boolean", "Bring the tab to the front, too.", false},
		}},
	{name: "activateTab", method: "activateTab",
		describe: "Bring a tab to the front.",
		fields: []toolField{
			{"tabIndex", "integer", "The tab's index, from relay_getTabs. Left out: the tab that commands go to.", false},
		}},
	{name: "closeTab", method: "closeTab", destroys: true,
		describe: "Close a tab. What the user has typed there is lost.",
		fields: []toolField{
			{"index", "integer", "The tab's index, from relay_getTabs. Left out: the tab that commands go to.", false},
		}},
	{name: "forwardCDPCommand", method: "forwardCDPCommand", destroys: true,
		describe: "Send a command of the Chrome DevTools Protocol to the tab that commands go to, for instance Page.navigate, Runtime.evaluate or Input.dispatchMouseEvent. It can do whatever the user can.",
		fields: []toolField{
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
		fields:   []toolField{{"requestId", "string", "From relay_getNetworkRequests.", true}}},
}

// Tools returns the tools that drive a user's extensions: one that lists the browsers
// and one for each of the extensions' tab and DevTools methods. The list is the same
// whoever is connected.
func (r *Relay) Tools(user spec.UserID) []Tool {
	list := toolSpec{name: "listBrowsers", reads: true, describe: "List the browsers whose extension is connected to the relay."}
	screenshot := toolSpec{name: "screenshot", method: "forwardCDPCommand", reads: true,
		describe: "Take a picture of the tab that commands go to."}
	out := []Tool{list.tool(func(context.Context, map[string]json.RawMessage) json.RawMessage {
		return textResult(marshal(struct {
			Browsers []ExtensionInfo `json:"browsers"`
		}{append([]ExtensionInfo{}, r.Extensions(user)...)}))
	})}
	for _, s := range toolSpecs {
		s.fields = append([]toolField{browserField}, s.fields...)
		out = append(out, s.tool(func(ctx context.Context, args map[string]json.RawMessage) json.RawMessage {
			result, err := r.drive(ctx, user, s.method, args)
			if err != nil {
				return failureResult(err)
			}
			return textResult(result)
		}))
	}
	screenshot.fields = []toolField{browserField}
	return append(out, screenshot.tool(func(ctx context.Context, args map[string]json.RawMessage) json.RawMessage {
		args["method"] = json.RawMessage(`"Page.captureScreenshot"`)
		args["params"] = json.RawMessage(`{"format":"png"}`)
		result, err := r.drive(ctx, user, screenshot.method, args)
		if err != nil {
			return failureResult(err)
		}
		data := rawjson.Get(result, "data")
		if data == nil || data[0] != '"' {
			return textResult(result)
		}
		dst := append([]byte(`{"content":[{"type":"image","mimeType":"image/png","data":`), data...)
		return append(dst, `}]}`...)
	}))
}

// tool makes the tool, whose arguments are checked before call is.
func (s toolSpec) tool(call func(context.Context, map[string]json.RawMessage) json.RawMessage) Tool {
	name := "relay_" + s.name
	return Tool{Name: name, Definition: s.definition(name), Call: func(ctx context.Context, raw json.RawMessage) json.RawMessage {
		args, err := s.check(raw)
		if err != nil {
			return failureText(spec.FailInvalidArguments, err.Error())
		}
		return call(ctx, args)
	}}
}

func (s toolSpec) definition(name string) json.RawMessage {
	type property struct {
		Type        string `json:"type"`
		Description string `json:"description"`
	}
	properties := map[string]property{}
	required := []string{}
	for _, f := range s.fields {
		properties[f.name] = property{f.kind, f.describe}
		if f.required {
			required = append(required, f.name)
		}
	}
	return marshal(map[string]any{
		"name":        name,
		"description": s.describe,
		"inputSchema": map[string]any{
			"type": "object", "properties": properties, "required": required, "additionalProperties": false,
		},
		"annotations": map[string]bool{
			"readOnlyHint": s.reads, "destructiveHint": s.destroys, "idempotentHint": s.reads, "openWorldHint": true,
		},
	})
}

// check returns the arguments by name, if they are as the definition says.
func (s toolSpec) check(raw json.RawMessage) (map[string]json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	if len(raw) > 0 && string(raw) != "null" {
		err := rawjson.Object(raw, spec.MaxDepth, func(key string, value json.RawMessage) error {
			args[strings.Clone(key)] = value
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("the arguments must be an object: %v", err)
		}
	}
	left := len(args)
	for _, f := range s.fields {
		v, given := args[f.name]
		switch {
		case given && !isKind(v, f.kind):
			return nil, fmt.Errorf("/%s: must be of type %s", f.name, f.kind)
		case given:
			left--
		case f.required:
			return nil, fmt.Errorf("/%s: is missing", f.name)
		}
	}
	if left > 0 {
		known := make([]string, len(s.fields))
		for i, f := range s.fields {
			known[i] = f.name
		}
		return nil, fmt.Errorf("unknown argument; relay_%s takes %s", s.name, or(strings.Join(known, ", "), "none"))
	}
	return args, nil
}

func isKind(v json.RawMessage, kind string) bool {
	switch kind {
	case "string":
		return v[0] == '"'
	case "boolean":
		return string(v) == "true" || string(v) == "false"
	case "integer":
		return isInteger(v)
	default:
		return v[0] == '{'
	}
}

// drive sends a request with all arguments but browser to the browser that is named,
// or the only one.
func (r *Relay) drive(ctx context.Context, user spec.UserID, method string, args map[string]json.RawMessage) (json.RawMessage, error) {
	want, _ := rawjson.String(args["browser"])
	delete(args, "browser")
	var found []ExtensionInfo
	var names []string
	for _, ext := range r.Extensions(user) {
		if !ext.Connected {
			continue
		}
		names = append(names, fmt.Sprintf("%s (%s)", ext.Name, ext.ID))
		if want == "" || want == ext.ID || want == ext.Name {
			found = append(found, ext)
		}
	}
	switch {
	case len(names) == 0:
		return nil, failed(spec.FailNoInstance, "No browser is connected to the relay: open one whose extension is")
	case len(found) == 0:
		return nil, failed(spec.FailNoInstance, "No browser %q is connected: there is %s", want, strings.Join(names, ", "))
	case len(found) > 1:
		return nil, failed(spec.FailNoInstance, "More than one browser fits: name one of %s by its id", strings.Join(names, ", "))
	}
	return r.Request(ctx, user, found[0].ID, method, marshal(args))
}

// failureResult returns an error of Request as a tool's result.
func failureResult(err error) json.RawMessage {
	code := spec.FailToolError
	message := err.Error()
	if e, ok := errors.AsType[*spec.Error](err); ok {
		message = e.Message
		if len(e.Data) > 0 {
			if c, ok := rawjson.String(rawjson.Get(e.Data, "code")); ok {
				code = spec.FailureCode(c)
			}
		}
	}
	switch {
	case errors.Is(err, tabtransport.ErrNotConnected):
		code, message = spec.FailNotConnected, "The browser is not connected: nothing was sent"
	case errors.Is(err, tabtransport.ErrBusy):
		code, message = spec.FailQueueFull, "The browser has too much to do: nothing was sent; try again later"
	case errors.Is(err, tabtransport.ErrLost):
		code, message = spec.FailTabClosed, "The browser disconnected before it answered: the command may have taken effect"
	case errors.Is(err, tabtransport.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		code, message = spec.FailToolTimeout, "The browser did not answer in time: the command may have taken effect"
	}
	return failureText(code, message)
}

func failureText(code spec.FailureCode, message string) json.RawMessage {
	type inner struct {
		Code    spec.FailureCode `json:"code"`
		Message string           `json:"message"`
	}
	text := marshal(struct {
		Error inner `json:"error"`
	}{inner{code, message}})
	dst := append([]byte(`{"content":[{"type":"text","text":`), rawjson.AppendString(nil, string(text))...)
	return append(dst, `}],"isError":true}`...)
}

// textResult returns an extension's result as text.
func textResult(result json.RawMessage) json.RawMessage {
	dst := make([]byte, 0, len(result)+len(result)/8+64)
	dst = append(dst, `{"content":[{"type":"text","text":`...)
	dst = rawjson.AppendString(dst, string(result))
	return append(dst, `}]}`...)
}
