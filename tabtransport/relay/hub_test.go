package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
)

// The hub opens tabs for cached tools through an extension, next to its clients.
func TestHubRequests(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		ctx := t.Context()
		if err := r.relay.OpenTab(ctx, "ann", "https://example.com", false); !errors.Is(err, tabtransport.ErrNotConnected) {
			t.Errorf("without an extension: %v", err)
		}
		ext, id := r.extension(t, "token of ann", "chrome")
		mcp, conn := r.connected(t, "token of ann", id)
		mcp.send(`{"jsonrpc":"2.0","id":1,"method":"getTabs"}`)
		ext.expect(`{"jsonrpc":"2.0","id":"` + conn + `:1","method":"getTabs"}`)

		type outcome struct {
			result json.RawMessage
			err    error
		}
		request := func(ctx context.Context, user spec.UserID) <-chan outcome {
			done := make(chan outcome, 1)
			go func() {
				b, err := r.relay.Request(ctx, user, id, "createTab", json.RawMessage(`{"url":"https://example.com"}`))
				done <- outcome{b, err}
			}()
			return done
		}
		done := request(ctx, "ann")
		m := ext.message()
		if m.Method != "createTab" || string(m.Params) != `{"url":"https://example.com"}` || strings.HasPrefix(string(m.ID), `"`+conn) || !strings.HasPrefix(string(m.ID), `"conn-`) {
			t.Fatalf("%+v", m)
		}
		ext.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tabId":7}}`, m.ID))
		if o := <-done; o.err != nil || string(o.result) != `{"tabId":7}` {
			t.Fatalf("%+v", o)
		}
		mcp.quiet(time.Second)

		done = request(ctx, "ann")
		m = ext.message()
		ext.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"message":"No window","stack":"secret path"}}`, m.ID))
		if o := <-done; o.err == nil || o.err.Error() != "No window (-32000)" {
			t.Errorf("%+v", o)
		}

		if o := <-request(ctx, "eve"); !errors.Is(o.err, tabtransport.ErrNotConnected) {
			t.Errorf("another user: %+v", o)
		}

		cancelled, cancel := context.WithCancel(ctx)
		done = request(cancelled, "ann")
		m = ext.message()
		cancel()
		if o := <-done; !errors.Is(o.err, context.Canceled) {
			t.Errorf("%+v", o)
		}
		ext.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":"late"}`, m.ID))

		done = request(ctx, "ann")
		ext.message()
		time.Sleep(151 * time.Second)
		if o := <-done; !errors.Is(o.err, tabtransport.ErrTimeout) {
			t.Errorf("%+v", o)
		}

		done = request(ctx, "ann")
		ext.message()
		ext.ws.NetConn().Close()
		if o := <-done; !errors.Is(o.err, tabtransport.ErrLost) {
			t.Errorf("%+v", o)
		}
		if o := <-request(ctx, "ann"); !errors.Is(o.err, tabtransport.ErrNotConnected) {
			t.Errorf("%+v", o)
		}
		if s := r.relay.Stats(); s.InFlight != 0 || s.Connections != 1 {
			t.Errorf("%+v", s)
		}
		if all := r.relay.Extensions("ann"); len(all) != 1 || all[0].Connected || all[0].Clients != 1 {
			t.Errorf("%+v", all)
		}
	})
}

// A call of the hub's own that the extension never heard of goes to another browser;
// one that it may have carried out does not.
func TestOpenTabIsNotDoneTwice(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		first, _ := r.extension(t, "token of ann", "first")
		time.Sleep(time.Second)
		second, _ := r.extension(t, "token of ann", "second")
		done := make(chan error, 1)
		go func() { done <- r.relay.OpenTab(t.Context(), "ann", "https://example.com/?a=1&b=2", true) }()
		m := first.message()
		if got := field(t, m.Params, "url"); got != "https://example.com/?a=1&b=2" {
			t.Errorf("opened %s", got)
		}
		first.ws.NetConn().Close()
		if err := <-done; !errors.Is(err, tabtransport.ErrLost) {
			t.Errorf("%v", err)
		}
		second.quiet(time.Second)
		go func() { done <- r.relay.OpenTab(t.Context(), "ann", "https://example.com", true) }()
		m = second.message()
		second.send(fmt.Sprintf(`{"id":%s,"result":{"tabId":1}}`, m.ID))
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A plain LLM host drives a browser with the relay's tools.
func TestTools(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		tools := map[string]Tool{}
		for _, tool := range r.relay.Tools("ann") {
			tools[tool.Name] = tool
			var def struct {
				Name, Description string
				InputSchema       struct {
					Type       string
					Properties map[string]struct{ Type, Description string }
				}
				Annotations struct{ ReadOnlyHint, DestructiveHint *bool }
			}
			if err := json.Unmarshal(tool.Definition, &def); err != nil || def.Name != tool.Name || def.Description == "" || def.InputSchema.Type != "object" || def.Annotations.DestructiveHint == nil {
				t.Errorf("%v: %s", err, tool.Definition)
			}
			for name, p := range def.InputSchema.Properties {
				if p.Description == "" || p.Type == "" {
					t.Errorf("%s/%s is not documented", tool.Name, name)
				}
			}
			if destroys := tool.Name == "relay_closeTab" || tool.Name == "relay_forwardCDPCommand"; *def.Annotations.DestructiveHint != destroys || destroys && *def.Annotations.ReadOnlyHint {
				t.Errorf("%s: destructive %v", tool.Name, !destroys)
			}
		}
		call := func(name, args string) string {
			return string(tools[name].Call(t.Context(), json.RawMessage(args)))
		}
		fails := func(got, code, text string) {
			t.Helper()
			inner, _ := rawjson.String(rawjson.Get([]byte(strings.Trim(string(rawjson.Get([]byte(got), "content")), "[]")), "text"))
			if !strings.Contains(got, `"isError":true`) || !strings.Contains(inner, `"code":"`+code+`"`) || !strings.Contains(inner, text) {
				t.Errorf("%s is not %s, %s", got, code, text)
			}
		}
		fails(call("relay_getTabs", `{}`), "NO_INSTANCE", "No browser")
		ext, id := r.extension(t, "token of ann", "chrome")
		r.extension(t, "token of eve", "chrome")

		answers := func(name, args, method, params, result string) string {
			t.Helper()
			done := make(chan string, 1)
			go func() { done <- call(name, args) }()
			m := ext.message()
			if m.Method != method || string(m.Params) != params {
				t.Errorf("%s: %+v %s", name, m, m.Params)
			}
			ext.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, result))
			return <-done
		}
		if got := answers("relay_getTabs", ``, "getTabs", `{}`, `"result":{"tabs":[]}`); got != `{"content":[{"type":"text","text":"{\"tabs\":[]}"}]}` {
			t.Error(got)
		}
		answers("relay_createTab", `{"url":"https://example.com","browser":"Chrome 141"}`, "createTab", `{"url":"https://example.com"}`, `"result":{}`)
		answers("relay_forwardCDPCommand", `{"browser":"`+id+`","method":"Page.reload","params":{}}`, "forwardCDPCommand", `{"method":"Page.reload","params":{}}`, `"result":{}`)
		if got := answers("relay_screenshot", `{}`, "forwardCDPCommand", `{"method":"Page.captureScreenshot","params":{"format":"png"}}`, `"result":{"data":"iVBORw0K"}`); got != `{"content":[{"type":"image","mimeType":"image/png","data":"iVBORw0K"}]}` {
			t.Error(got)
		}
		fails(answers("relay_closeTab", `{"index":3}`, "closeTab", `{"index":3}`, `"error":{"message":"No such tab"}`), "TOOL_ERROR", "No such tab")
		if got := call("relay_listBrowsers", `null`); !strings.Contains(got, id) || strings.Count(got, "ext-") != 1 {
			t.Error(got)
		}

		fails(call("relay_createTab", `{}`), "INVALID_ARGUMENTS", "/url: is missing")
		fails(call("relay_closeTab", `{"index":"3"}`), "INVALID_ARGUMENTS", "/index: must be of type integer")
		fails(call("relay_getTabs", `{"tab":3}`), "INVALID_ARGUMENTS", "unknown argument")
		fails(call("relay_getTabs", `[]`), "INVALID_ARGUMENTS", "object")
		fails(call("relay_getTabs", `{"browser":"Edge"}`), "NO_INSTANCE", "Chrome 141")
		r.extension(t, "token of ann", "other")
		fails(call("relay_getTabs", `{}`), "NO_INSTANCE", "More than one")

		done := make(chan string, 1)
		go func() { done <- call("relay_closeTab", `{"browser":"`+id+`"}`) }()
		ext.message()
		ext.ws.NetConn().Close()
		fails(<-done, "TAB_CLOSED", "may have taken effect")
	})
}
