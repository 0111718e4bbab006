package relaytool

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/consent"
	"tabhub/hub/hubtest"
	"tabhub/hub/policy"
	"tabhub/hub/record"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport/relay"
	"tabhub/tabtransport/relay/relaytest"
	"tabhub/tabtransport/wsserver/wstest"
)

// rig is a relay behind a real listener, and the tools of its user ann.
type rig struct {
	t     *testing.T
	relay *relay.Relay
	hub   *hubtest.Hub
	url   string
	tools []builtin.Tool
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t}
	r.relay = relay.New(relay.Options{Verify: func(h relay.Handshake) (a relay.Admission, err error) {
		if h.Token == "" {
			return a, errors.New("no token")
		}
		a.User = spec.UserID(h.Token)
		return a, nil
	}})
	server := httptest.NewServer(r.relay.Extension())
	t.Cleanup(func() { r.relay.Close(); server.Close() })
	r.url = "ws" + strings.TrimPrefix(server.URL, "http")
	r.hub = hubtest.Open(t, hub.Options{})
	r.tools = New(r.hub.Hub, r.relay, "ann")
	return r
}

func (r *rig) call(name, args string) string {
	r.t.Helper()
	tool := builtin.Find(r.tools, name)
	if tool == nil {
		r.t.Fatalf("there is no tool %s", name)
	}
	result, err := tool.Call(r.t.Context(), tester, json.RawMessage(args))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(result)
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
		if destroys := slices.Contains([]string{"relay_closeTab", "relay_click", "relay_type", "relay_forwardCDPCommand"}, tool.Name); tool.Annotations.Destructive != destroys || destroys && tool.Annotations.ReadOnly {
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
		{"relay_getTabs", `{"browser":null}`, "getTabs", `{}`, `"error":{"message":"No window"}`, "No window"},
		{"relay_getResponseBody", `{"requestId":"1"}`, "getResponseBody", `{"requestId":"1"}`, `"result":{"error":"No tab attached"}`, "No tab attached"},
		{"relay_activateTab", ``, "activateTab", `{}`, `"result":{"success":false}`, "failed without a message"},
		{"relay_activateTab", ``, "activateTab", `{}`, `"error":{"message":"Unknown command: activateTab"}`, "cannot do this: Unknown command: activateTab"},
	} {
		done := make(chan string, 1)
		go func() { done <- r.call(c.name, c.args) }()
		m := ext.next()
		if m.Method != c.method || string(m.Params) != c.params {
			t.Errorf("%s: %+v %s", c.name, m, m.Params)
		}
		ext.answer(m, c.answer)
		switch got := <-done; {
		case c.result != "" && c.result[0] != '{':
			r.fails(got, "TOOL_ERROR", c.result)
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
	var log []string
	for _, e := range r.hub.Recorded.Entries(record.Query{}) {
		log = append(log, e.Tool+" "+e.Outcome)
		if e.Outcome == "ok" && (e.Decision != "allow" || e.Rule != "preset:open" || e.Class == "") {
			t.Errorf("nothing is recorded of the decision: %+v", e)
		}
	}
	for _, call := range []string{"relay_getTabs NO_INSTANCE", "relay_getTabs ok", "relay_closeTab TAB_CLOSED"} {
		if !slices.Contains(log, call) {
			t.Errorf("%s is not in the log %q", call, log)
		}
	}
}

// text returns the text of a result that is no failure.
func (r *rig) text(result string) string {
	r.t.Helper()
	text, ok := rawjson.String(rawjson.Get([]byte(strings.Trim(string(rawjson.Get([]byte(result), "content")), "[]")), "text"))
	if !ok || strings.Contains(result, `"isError":true`) {
		r.t.Errorf("failed: %s", result)
	}
	return text
}

// browser connects a browser with an extension as shipped.
func (r *rig) browser(b *relaytest.Browser) *relaytest.Browser {
	r.t.Helper()
	ws, _, err := wstest.Connect(r.t.Context(), r.url, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	b.Token = "ann"
	served := make(chan struct{})
	joined := make(chan struct{})
	var once sync.Once
	go func() {
		defer close(served)
		b.Serve(func() ([]byte, error) {
			frame, err := ws.Receive()
			if strings.Contains(string(frame), `"authenticated"`) {
				once.Do(func() { close(joined) })
			}
			return frame, err
		}, ws.Send)
	}()
	r.t.Cleanup(func() {
		ws.Close()
		<-served
	})
	<-joined
	return b
}

// What a tool says has happened has, in the tab that it says.
func TestActs(t *testing.T) {
	for _, plain := range []bool{false, true} {
		t.Run(fmt.Sprintf("plain %v", plain), func(t *testing.T) {
			r := newRig(t)
			b := r.browser(&relaytest.Browser{Plain: plain})
			b.Add("https://a.example/")
			b.Add("https://b.example/")
			b.Add("https://c.example/")
			r.text(r.call("relay_selectTab", `{"tabIndex":0}`))

			if got, want := r.text(r.call("relay_browser_navigate", `{"url":"https://d.example/"}`)), `{"title":"Title of https://a.example/","url":"https://d.example/"}`; !plain && got != want {
				t.Error(got)
			}
			r.text(r.call("relay_goBack", ``))
			if got := b.URLs()[0]; got != "https://a.example/" {
				t.Error(got)
			}
			r.text(r.call("relay_goForward", ``))
			if got := b.URLs()[0]; got != "https://d.example/" {
				t.Error(got)
			}
			if got := r.call("relay_goForward", ``); !strings.Contains(got, `"isError":true`) {
				t.Error(got)
			}
			if got, want := r.call("relay_screenshot", ``), `{"content":[{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}]}`; got != want {
				t.Error(got)
			}

			r.text(r.call("relay_activateTab", `{"tabIndex":1}`))
			r.text(r.call("relay_activateTab", `{"tabIndex":0}`))
			if got := b.URLs()[0]; got != "https://d.example/*" {
				t.Error(got)
			}

			b.Asked()
			r.text(r.call("relay_click", `{"selector":"button"}`))
			r.text(r.call("relay_hover", `{"x":3,"y":4}`))
			r.text(r.call("relay_type", `{"text":"hé","selector":"input"}`))
			asked := strings.Join(b.Asked(), "\n")
			wants := []string{
				`{"method":"Input.dispatchMouseEvent","params":{"button":"left","clickCount":1,"type":"mousePressed","x":12.5,"y":30}}`,
				`{"method":"Input.dispatchMouseEvent","params":{"button":"left","clickCount":1,"type":"mouseReleased","x":12.5,"y":30}}`,
				`{"method":"Input.dispatchMouseEvent","params":{"type":"mouseMoved","x":3,"y":4}}`,
				`{"method":"Input.dispatchKeyEvent","params":{"text":"h","type":"char"}}`,
				`{"method":"Input.dispatchKeyEvent","params":{"text":"é","type":"char"}}`,
			}
			if plain {
				wants = []string{`click {"selector":"button"}`, `hover {"x":3,"y":4}`, `type {"selector":"input","text":"hé"}`}
			}
			for _, want := range wants {
				if strings.Count(asked, want) != 1 {
					t.Errorf("%s is not once in %s", want, asked)
				}
			}
			r.fails(r.call("relay_click", ``), "INVALID_ARGUMENTS", "selector")
			if !plain {
				r.fails(r.call("relay_click", `{"selector":"#nothing"}`), "INVALID_ARGUMENTS", "no element")
			}

			if got := r.text(r.call("relay_closeTab", `{"index":1}`)); !strings.Contains(got, `"url":"https://b.example/"`) {
				t.Error(got)
			}
			r.text(r.call("relay_selectTab", `{"tabIndex":0}`))
			if got := r.text(r.call("relay_closeTab", ``)); !strings.Contains(got, `"url":"https://d.example/"`) {
				t.Error(got)
			}
			if got := b.URLs(); len(got) != 1 || strings.Trim(got[0], "*") != "https://c.example/" {
				t.Errorf("%q", got)
			}
			b.Add("https://form.example/").StaysOpen = true
			r.fails(r.call("relay_closeTab", `{"index":1}`), "TOOL_ERROR", "still open")
			r.fails(r.call("relay_closeTab", `{"index":2}`), "TAB_NOT_FOUND", "index 2")
		})
	}
}

// tester is on whose behalf tests call.
var tester = &consent.Caller{Who: policy.Owner, Said: "test"}

// What a client may do with an extension goes by what it would do there: the same for a tool as
// for a request of a client's own, and a command of the Chrome DevTools Protocol by its name.
func TestAction(t *testing.T) {
	for _, c := range []struct {
		method, params, name string
		class                policy.Class
	}{
		{"connect", `{}`, "connect", policy.Read},
		{"getTabs", `{}`, "getTabs", policy.Read},
		{"click", `{}`, "click", policy.Write},
		{"getTabs2", `{}`, "getTabs2", policy.Write},
		{"forwardCDPCommand", `{"method":"Page.captureScreenshot"}`, "forwardCDPCommand Page.captureScreenshot", policy.Read},
		{"forwardCDPCommand", `{"method":"Runtime.enable"}`, "forwardCDPCommand Runtime.enable", policy.Read},
		{"forwardCDPCommand", `{"method":"Runtime.evaluate"}`, "forwardCDPCommand Runtime.evaluate", policy.Write},
		{"forwardCDPCommand", `{"method":"Debugger.enable"}`, "forwardCDPCommand Debugger.enable", policy.Write},
		{"forwardCDPCommand", `{"method":"Browser.getVersion"}`, "forwardCDPCommand Browser.getVersion", policy.Destructive},
		{"forwardCDPCommand", `{"method":"Target.createTarget"}`, "forwardCDPCommand Target.createTarget", policy.Destructive},
		{"forwardCDPCommand", `{"method":"Network.getAllCookies"}`, "forwardCDPCommand Network.getAllCookies", policy.Destructive},
		{"forwardCDPCommand", `{"method":"DOM.setFileInputFiles"}`, "forwardCDPCommand DOM.setFileInputFiles", policy.Destructive},
		// What a browser takes of an object that has a member twice.
		{"forwardCDPCommand", `{"method":"Page.captureScreenshot","method":"Browser.close"}`, "forwardCDPCommand Browser.close", policy.Destructive},
		{"forwardCDPCommand", `{"method":"Page.captureScreenshot","\u006dethod":"Browser.close"}`, "forwardCDPCommand Browser.close", policy.Destructive},
		{"forwardCDPCommand", `{"method":7}`, "forwardCDPCommand", policy.Write},
		{"forwardCDPCommand", `["Page.captureScreenshot"]`, "forwardCDPCommand", policy.Write},
		{"forwardCDPCommand", ``, "forwardCDPCommand", policy.Write},
	} {
		a := Action(tester, c.method, json.RawMessage(c.params))
		if a.Name != c.name || a.Class != c.class || a.Of != policy.OfRelay || !a.Site.Any || a.Who != policy.Owner {
			t.Errorf("%s %s: %+v", c.method, c.params, a)
		}
	}
}

// A tool asks once, for all that it sends, and is refused before anything is.
func TestToolIsDecidedAbout(t *testing.T) {
	r := newRig(t)
	b := r.browser(&relaytest.Browser{})
	b.Add("https://a.example/")
	r.text(r.call("relay_selectTab", `{"tabIndex":0}`))
	deny := policy.Rule{ID: "no", Effect: policy.Deny, Class: "relay", Tool: "browser_navigate"}
	if err := r.hub.EditPolicy("test", func(doc *policy.Document) error {
		doc.Put(deny, time.Now())
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	r.fails(r.call("relay_browser_navigate", `{"url":"https://d.example/"}`), "DENIED", "rule no")
	if got := b.URLs()[0]; got != "https://a.example/*" {
		t.Errorf("the tab is at %s", got)
	}
	last := r.hub.Recorded.Entries(record.Query{Limit: 1})[0]
	if last.Decision != "deny" || last.Rule != "no" || last.Outcome != "DENIED" || last.Tool != "relay_browser_navigate" {
		t.Errorf("recorded %+v", last)
	}
	for _, tool := range r.tools {
		if a := tool.Action(tester); r.hub.Shows(&a) == (tool.Name == "relay_browser_navigate") {
			t.Errorf("%s is listed: %v", tool.Name, r.hub.Shows(&a))
		}
	}
}

// What the owner stops or pauses while the extension is at it ends for the client at once.
func TestOwnerEndsTool(t *testing.T) {
	r := newRig(t)
	ext := r.extension("ann", "chrome")
	claude := &consent.Caller{Who: &policy.Principal{ID: "claude"}}
	for _, c := range []struct {
		name, args, method, code string
		end                      func()
	}{
		{"relay_getTabs", ``, "getTabs", "STOPPED", func() {
			all, n := r.hub.Running()
			if n != 1 || all[0].Tool != "relay_getTabs" || !r.hub.Stop(all[0].ID) {
				t.Errorf("under way: %+v", all)
			}
		}},
		{"relay_browser_navigate", `{"url":"https://a.example/"}`, "forwardCDPCommand", "PAUSED", func() {
			if err := r.hub.EditPolicy("test", func(doc *policy.Document) error {
				doc.Pauses = []policy.Pause{{Client: "claude"}}
				return nil
			}); err != nil {
				t.Error(err)
			}
		}},
	} {
		done := make(chan string, 1)
		go func() {
			result, err := builtin.Find(r.tools, c.name).Call(t.Context(), claude, json.RawMessage(c.args))
			if err != nil {
				t.Error(err)
			}
			done <- string(result)
		}()
		m := ext.next()
		if m.Method != c.method {
			t.Errorf("the extension is asked for %s", m.Method)
		}
		c.end()
		r.fails(<-done, c.code, "it may have taken effect")
		ext.answer(m, `"result":{}`) // for nobody
		if all, n := r.hub.Running(); n != 0 {
			t.Errorf("under way at the end: %+v", all)
		}
	}
}
