package relaytool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
	"tabhub/tabtransport/relay"
)

// New returns the tools that drive a user's extensions: one that lists the browsers, and
// one for each command. They are the same whoever is connected.
func New(r *relay.Relay, user spec.UserID) []builtin.Tool {
	list := command{name: "listBrowsers", reads: true, describe: "List the browsers whose extension is connected to the relay."}.tool()
	serve(&list, func(context.Context, map[string]json.RawMessage) (json.RawMessage, error) {
		browsers, err := json.Marshal(map[string]any{"browsers": append([]relay.ExtensionInfo{}, r.Extensions(user)...)})
		return builtin.Text(string(browsers)), err
	})
	tools := []builtin.Tool{list}
	for _, c := range commands {
		t := c.tool(append([]param{browserParam}, c.params...)...)
		serve(&t, func(ctx context.Context, args map[string]json.RawMessage) (json.RawMessage, error) {
			browser, _ := rawjson.String(args["browser"])
			delete(args, "browser")
			for name, value := range c.fixed {
				args[name] = json.RawMessage(value)
			}
			answer, err := send(ctx, r, user, browser, c.method, args)
			if err != nil {
				return nil, err
			}
			if data := rawjson.Get(answer, "data"); c.image && len(data) > 0 && data[0] == '"' {
				return builtin.Image(data, "image/png"), nil
			}
			return builtin.Text(string(answer)), nil
		})
		tools = append(tools, t)
	}
	return tools
}

// serve has run serve the calls of a tool whose arguments fit its schema.
func serve(t *builtin.Tool, run func(ctx context.Context, args map[string]json.RawMessage) (json.RawMessage, error)) {
	input := builtin.NewInput(t.Input)
	t.Call = func(ctx context.Context, raw json.RawMessage, _ string, _ func(spec.Progress)) json.RawMessage {
		args, _, err := input.Read(raw)
		if err != nil {
			return (&hub.Failure{Code: spec.FailInvalidArguments, Message: err.Error()}).Result()
		}
		result, err := run(ctx, args)
		switch {
		case err == nil:
			return result
		case ctx.Err() != nil:
			return nil
		}
		return failureOf(err).Result()
	}
}

// send sends a request to the extension of the browser that is named, or the only one,
// and returns its answer.
func send(ctx context.Context, r *relay.Relay, user spec.UserID, browser, method string, params map[string]json.RawMessage) (json.RawMessage, error) {
	var found []relay.ExtensionInfo
	var names []string
	for _, ext := range r.Extensions(user) {
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
		return nil, noInstance("No browser is connected to the relay: open one whose extension is")
	case len(found) == 0:
		return nil, noInstance("No browser %q is connected: there is %s", browser, strings.Join(names, ", "))
	case len(found) > 1:
		return nil, noInstance("More than one browser fits: name one of %s by its id", strings.Join(names, ", "))
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	return r.Request(ctx, user, found[0].ID, method, raw)
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
	f := &hub.Failure{Code: spec.FailToolError, Message: err.Error()}
	if e, ok := errors.AsType[*spec.Error](err); ok {
		f.Message = e.Message
		if code, ok := rawjson.String(rawjson.Get(e.Data, "code")); ok {
			f.Code = spec.FailureCode(code)
		}
	}
	switch {
	case errors.Is(err, tabtransport.ErrNotConnected):
		f.Code, f.Message = spec.FailNotConnected, "The browser is not connected: nothing was sent"
	case errors.Is(err, tabtransport.ErrBusy):
		f.Code, f.Message = spec.FailQueueFull, "The browser has too much to do: nothing was sent; try again later"
	case errors.Is(err, tabtransport.ErrLost):
		f.Code, f.Message = spec.FailTabClosed, "The browser disconnected before it answered: the command may have taken effect"
	case errors.Is(err, tabtransport.ErrTimeout):
		f.Code, f.Message = spec.FailToolTimeout, "The browser did not answer in time: the command may have taken effect"
	}
	return f
}
