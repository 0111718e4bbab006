package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"tabhub/hub"
)

// A host passes on what an app asks for by the page's own names. It must reach the page of an
// app that this client has read, and no other, also where a host has no sessions.
func TestWhatAppsAskFor(t *testing.T) {
	h := newScripted()
	h.apps = map[string]map[string]string{
		"ui://a.com/cart": {"pay": "a_pay", "show": "a_show"},
		"ui://b.com/cart": {"pay": "b_pay", "view": "b_view"},
		"ui://b.com/more": {"view": "b_view"},
	}
	for i := range maxApps {
		h.apps[fmt.Sprintf("ui://many.com/%d", i)] = map[string]string{}
	}
	for _, name := range []string{"a_pay", "a_show", "b_pay", "b_view"} {
		h.tools[name] = func(_ context.Context, c hub.Call) (json.RawMessage, error) {
			return json.RawMessage(`{"content":[],"structuredContent":"` + name + `","via":"` + c.By.Via + `"}`), nil
		}
	}
	s := New(h, Options{})
	web := overTCP(t, s)
	modern := func(client, credential string) func(method, key, value string) string {
		meta := strings.Replace(modernMeta, `"name":"new"`, `"name":"`+client+`"`, 1)
		return func(method, key, value string) string {
			_, body := web.post(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"`+key+`":"`+value+`",`+meta+`}}`,
				"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", value, "Authorization", credential)
			return body
		}
	}
	session := func() func(method, key, value string) string {
		c := *web
		resp := c.do(http.MethodPost, "/mcp", initializeLine("2025-06-18"))
		resp.Body.Close()
		c.header = http.Header{"Mcp-Session-Id": {resp.Header.Get("Mcp-Session-Id")}}
		return func(method, key, value string) string {
			_, body := c.post(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"` + key + `":"` + value + `"}}`)
			return body
		}
	}
	for name, pair := range map[string][2]func(method, key, value string) string{
		"sessions":                {session(), session()},
		"credentials":             {modern("host", "alice"), modern("host", "bob")},
		"credentials of one user": {modern("host", "dave"), modern("host", "dave cursor")},
		"clients":                 {modern("one", "carol"), modern("other", "carol")},
	} {
		t.Run(name, func(t *testing.T) {
			ask, other := pair[0], pair[1]
			call := func(name, want string) {
				t.Helper()
				got := ask("tools/call", "name", name)
				if want == "" && !strings.Contains(got, `"code":-32602`) || want != "" && !strings.Contains(got, `"structuredContent":"`+want+`"`) {
					t.Errorf("%s: %s", name, got)
				}
			}
			read := func(uri string) {
				t.Helper()
				if got := ask("resources/read", "uri", uri); !strings.Contains(got, `"contents"`) {
					t.Errorf("%s: %s", uri, got)
				}
			}
			call("pay", "") // no app has been read
			read("ui://a.com/cart")
			call("pay", "a_pay")
			call("b_pay", "b_pay")
			// What the app asks for is known as that.
			if got := ask("tools/call", "name", "pay") + ask("tools/call", "name", "b_pay"); strings.Count(got, `"via":"app"`) != 1 {
				t.Error(got)
			}
			if got := other("tools/call", "name", "pay"); !strings.Contains(got, "-32602") {
				t.Errorf("another client's app: %s", got)
			}
			read("ui://b.com/cart")
			read("ui://b.com/more")
			call("pay", "") // whose?
			call("show", "a_show")
			call("view", "b_view")
			for i := range maxApps - 2 {
				read(fmt.Sprintf("ui://many.com/%d", i))
			}
			call("show", "") // forgotten
			call("pay", "b_pay")
		})
	}
}
