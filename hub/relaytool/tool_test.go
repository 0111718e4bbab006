package relaytool

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"tabhub/hub/builtin"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
	"tabhub/tabtransport/relay"
	"tabhub/tabtransport/wsserver/wstest"
)

// rig is a relay behind a real listener, and the tools of its user ann.
type rig struct {
	t     *testing.T
	relay *relay.Relay
	url   string
	tools []builtin.Tool
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t}
	r.relay = relay.New(relay.Options{Verify: func(h relay.Handshake) (tabtransport.Admission, error) {
		if h.Token == "" {
			return tabtransport.Admission{}, errors.New("no token")
		}
		return tabtransport.Admission{User: spec.UserID(h.Token)}, nil
	}})
	server := httptest.NewServer(r.relay.Extension())
	t.Cleanup(func() { r.relay.Close(); server.Close() })
	r.url = "ws" + strings.TrimPrefix(server.URL, "http")
	r.tools = New(r.relay, "ann")
	return r
}

func (r *rig) call(name, args string) string {
	r.t.Helper()
	tool := builtin.Find(r.tools, name)
	if tool == nil {
		r.t.Fatalf("there is no tool %s", name)
	}
	return string(tool.Call(r.t.Context(), json.RawMessage(args), "test", func(spec.Progress) {}))
}

// fails checks that a result is a failure with a code and words.
func (r *rig) fails(result, code, words string) {
	r.t.Helper()
	inner, _ := rawjson.String(rawjson.Get([]byte(strings.Trim(string(rawjson.Get([]byte(result), "content")), "[]")), "text"))
	if !strings.Contains(result, `"isError":true`) || !strings.Contains(inner, `"code":"`+code+`"`) || !strings.Contains(inner, words) {
		r.t.Errorf("%s is not %s, %s", result, code, words)
	}
}

// extension is a browser's extension.
type extension struct {
	t  *testing.T
	ws *wstest.Peer
	id string
}

type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

func (r *rig) extension(user, clientID string) *extension {
	r.t.Helper()
	ws, _, err := wstest.Connect(r.t.Context(), r.url, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { ws.Close() })
	x := &extension{t: r.t, ws: ws}
	x.answer(x.next(), fmt.Sprintf(`"result":{"name":"Chrome 141","accessToken":%q,"client_id":%q}`, user, clientID))
	x.id, _ = rawjson.String(rawjson.Get(x.next().Params, "extension_id"))
	return x
}

// next returns the next message that does more than tell numbers.
func (x *extension) next() message {
	x.t.Helper()
	for {
		frame, err := x.ws.Receive()
		if err != nil {
			x.t.Fatal(err)
		}
		var m message
		if err := json.Unmarshal(frame, &m); err != nil {
			x.t.Fatalf("%v: %s", err, frame)
		}
		if !strings.HasSuffix(m.Method, "status") {
			return m
		}
	}
}

func (x *extension) answer(m message, members string) {
	x.t.Helper()
	if err := x.ws.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, members)); err != nil {
		x.t.Fatal(err)
	}
}

// A host shows a tool by its definition alone.
func TestDefinitions(t *testing.T) {
	for _, tool := range newRig(t).tools {
		var input struct {
			Type       string
			Properties map[string]struct{ Type, Description string }
		}
		if err := json.Unmarshal(tool.Input, &input); err != nil || tool.Description == "" || input.Type != "object" || tool.Listed != builtin.RelayTools {
			t.Errorf("%v: %s", err, tool.Definition())
		}
		for name, p := range input.Properties {
			if p.Description == "" || p.Type == "" {
				t.Errorf("%s/%s is not documented", tool.Name, name)
			}
		}
		if destroys := tool.Name == "relay_closeTab" || tool.Name == "relay_forwardCDPCommand"; tool.Annotations.Destructive != destroys || destroys && tool.Annotations.ReadOnly {
			t.Errorf("%s: destructive %v", tool.Name, !destroys)
		}
	}
}

// A plain LLM host drives a browser with the relay's tools.
func TestTools(t *testing.T) {
	r := newRig(t)
	r.fails(r.call("relay_getTabs", `{}`), "NO_INSTANCE", "No browser")
	ext := r.extension("ann", "chrome")
	r.extension("eve", "chrome")

	for _, c := range []struct{ name, args, method, params, answer, result string }{
		{"relay_getTabs", ``, "getTabs", `{}`, `"result":{"tabs":[]}`, `{"content":[{"type":"text","text":"{\"tabs\":[]}"}]}`},
		{"relay_createTab", `{"url":"https://example.com","browser":"Chrome 141"}`, "createTab", `{"url":"https://example.com"}`, `"result":{}`, ""},
		{"relay_forwardCDPCommand", `{"browser":"` + ext.id + `","method":"Page.reload","params":{}}`, "forwardCDPCommand", `{"method":"Page.reload","params":{}}`, `"result":{}`, ""},
		{"relay_screenshot", `{"browser":null}`, "forwardCDPCommand", `{"method":"Page.captureScreenshot","params":{"format":"png"}}`, `"result":{"data":"iVBORw0K"}`, `{"content":[{"type":"image","data":"iVBORw0K","mimeType":"image/png"}]}`},
		{"relay_screenshot", ``, "forwardCDPCommand", `{"method":"Page.captureScreenshot","params":{"format":"png"}}`, `"result":{"error":"No such tab"}`, "TOOL_ERROR"},
		{"relay_closeTab", `{"index":3}`, "closeTab", `{"index":3}`, `"error":{"message":"No such tab"}`, "TOOL_ERROR"},
	} {
		done := make(chan string, 1)
		go func() { done <- r.call(c.name, c.args) }()
		m := ext.next()
		if m.Method != c.method || string(m.Params) != c.params {
			t.Errorf("%s: %+v %s", c.name, m, m.Params)
		}
		ext.answer(m, c.answer)
		switch got := <-done; {
		case c.result == "TOOL_ERROR":
			r.fails(got, c.result, "No such tab")
		case c.result != "" && got != c.result:
			t.Errorf("%s: %s", c.name, got)
		}
	}
	if got := r.call("relay_listBrowsers", `null`); !strings.Contains(got, ext.id) || strings.Count(got, "ext-") != 1 {
		t.Error(got)
	}

	r.fails(r.call("relay_createTab", `{}`), "INVALID_ARGUMENTS", "/url: is required")
	r.fails(r.call("relay_createTab", `{"url":null}`), "INVALID_ARGUMENTS", "/url: is required")
	r.fails(r.call("relay_closeTab", `{"index":"3"}`), "INVALID_ARGUMENTS", "/index: must be integer, got string")
	r.fails(r.call("relay_getTabs", `{"tab":3}`), "INVALID_ARGUMENTS", "/tab")
	r.fails(r.call("relay_getTabs", `[]`), "INVALID_ARGUMENTS", "object")
	r.fails(r.call("relay_getTabs", `{"browser":"Edge"}`), "NO_INSTANCE", "Chrome 141")
	r.extension("ann", "other")
	r.fails(r.call("relay_getTabs", `{}`), "NO_INSTANCE", "More than one")

	done := make(chan string, 1)
	go func() { done <- r.call("relay_closeTab", `{"browser":"`+ext.id+`"}`) }()
	ext.next()
	ext.ws.Close()
	r.fails(<-done, "TAB_CLOSED", "may have taken effect")
}
