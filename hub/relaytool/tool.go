package relaytool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/consent"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
	"tabhub/tabtransport/relay"
)

// New returns the tools that drive a user's extensions: one that lists the browsers, and
// one for each command. They are the same whoever is connected. The user's hub decides
// about each call, and records it.
func New(h *hub.Hub, r *relay.Relay, user spec.UserID) []builtin.Tool {
	list := command{method: "listBrowsers", reads: true, describe: "List the browsers whose extension is connected to the relay."}.tool()
	serve(&list, func(ctx context.Context, by *consent.Caller, _ map[string]json.RawMessage) (json.RawMessage, error) {
		return admitted(ctx, h, by, "listBrowsers", nil, func(context.Context) (json.RawMessage, error) {
			browsers, err := json.Marshal(map[string]any{"browsers": append([]relay.ExtensionInfo{}, extensions(h, by, r, user)...)})
			return builtin.Text(string(browsers)), err
		})
	})
	tools := []builtin.Tool{list}
	for _, c := range commands {
		t := c.tool(append([]param{browserParam}, c.params...)...)
		serve(&t, func(ctx context.Context, by *consent.Caller, args map[string]json.RawMessage) (json.RawMessage, error) {
			name, _ := rawjson.String(args["browser"])
			delete(args, "browser")
			browser, err := find(r, user, extensions(h, by, r, user), name)
			if err != nil {
				return nil, err
			}
			return admitted(ctx, h, by, c.method, args, func(ctx context.Context) (json.RawMessage, error) {
				if c.run != nil {
					return run(ctx, c, browser, args)
				}
				answer, err := browser.Request(ctx, c.method, args)
				return builtin.Text(string(answer)), err
			})
		})
		tools = append(tools, t)
	}
	for i := range tools {
		tools[i] = builtin.Recorded(tools[i], h)
	}
	return tools
}

// admitted has it decided about a command, and returns what do does, if that is allowed.
func admitted(ctx context.Context, h *hub.Hub, by *consent.Caller, method string, args map[string]json.RawMessage, do func(context.Context) (json.RawMessage, error)) (result json.RawMessage, err error) {
	params, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	a := Action(by, method, params)
	err = h.Admit(ctx, by, &a, params, func(ctx context.Context) (err error) {
		result, err = do(ctx)
		return err
	})
	return result, err
}

// run runs a command that takes its arguments apart.
func run(ctx context.Context, c command, browser relay.Tools, args map[string]json.RawMessage) (json.RawMessage, error) {
	object, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	var read arguments
	if err := json.Unmarshal(object, &read); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, spec.CallTimeout, tabtransport.ErrTimeout)
	defer cancel()
	return c.run(ctx, browser, read)
}

// serve has run serve the calls of a tool whose arguments fit its schema.
func serve(t *builtin.Tool, run func(ctx context.Context, by *consent.Caller, args map[string]json.RawMessage) (json.RawMessage, error)) {
	input := builtin.NewInput(t.Input)
	t.Call = func(ctx context.Context, by *consent.Caller, raw json.RawMessage) (json.RawMessage, error) {
		args, _, err := input.Read(raw)
		if err != nil {
			return (&hub.Failure{Code: spec.FailInvalidArguments, Message: err.Error()}).Result(), nil
		}
		result, err := run(ctx, by, args)
		_, asks := errors.AsType[*consent.AskBack](err)
		switch {
		case asks:
			return nil, err
		case err == nil:
			return result, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
		return failureOf(err).Result(), nil
	}
}

// extensions returns the user's extensions that there are for a client.
func extensions(h *hub.Hub, by *consent.Caller, r *relay.Relay, user spec.UserID) []relay.ExtensionInfo {
	return slices.DeleteFunc(r.Extensions(user), func(e relay.ExtensionInfo) bool { return !h.Reaches(by, relay.Peer(e.ID)) })
}

// find returns the browser that is named, or the only one, of those that there are for a client.
func find(r *relay.Relay, user spec.UserID, all []relay.ExtensionInfo, browser string) (relay.Tools, error) {
	var found []relay.ExtensionInfo
	var names []string
	for _, ext := range all {
		if !ext.Connected {
			continue
		}
		names = append(names, fmt.Sprintf("%s (%s)", ext.Name, ext.ID))
		if browser == "" || browser == ext.ID || browser == ext.Name {
			found = append(found, ext)
		}
	}
	switch {
	case len(names) == 0:
		return relay.Tools{}, noInstance("No browser is connected to the relay: open one whose extension is")
	case len(found) == 0:
		return relay.Tools{}, noInstance("No browser %q is connected: there is %s", browser, strings.Join(names, ", "))
	case len(found) > 1:
		return relay.Tools{}, noInstance("More than one browser fits: name one of %s by its id", strings.Join(names, ", "))
	}
	return r.Tools(user, found[0].ID), nil
}

func noInstance(format string, args ...any) error {
	return &hub.Failure{Code: spec.FailNoInstance, Message: fmt.Sprintf(format, args...)}
}

// failureOf returns an error of a call as a failure of the hub. What an extension has
// answered keeps its words.
func failureOf(err error) *hub.Failure {
	if f, ok := errors.AsType[*hub.Failure](err); ok {
		return f
	}
	e, ok := errors.AsType[*spec.Error](err)
	if !ok {
		code, words := relay.Failure(err)
		return &hub.Failure{Code: code, Message: words}
	}
	f := &hub.Failure{Code: spec.FailToolError, Message: e.Message}
	if code, ok := rawjson.String(rawjson.Get(e.Data, "code")); ok {
		f.Code = spec.FailureCode(code)
	}
	switch e.Code {
	case spec.CodeTabNotFound:
		f.Code = spec.FailTabNotFound
	case spec.CodeInvalidParams:
		f.Code = spec.FailInvalidArguments
	}
	return f
}
