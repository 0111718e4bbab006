package mcpserver

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/face/mcpserver/expose"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/spec"
)

const serverRef = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"tabhub","version":"dev"}}`

// What a page says itself is not said again.
func TestResultsOfTheStatelessRevision(t *testing.T) {
	h := newScripted()
	h.tools["meta"] = func(context.Context, hub.Call) (json.RawMessage, error) {
		return json.RawMessage(`{ "content":[],"resultType":"input_required","_meta":{"a":1}}`), nil
	}
	h.tools["nested"] = func(context.Context, hub.Call) (json.RawMessage, error) {
		return json.RawMessage(`{"content":[{"_meta":{},"text":"resultType"}]}`), nil
	}
	h.tools["empty"] = func(context.Context, hub.Call) (json.RawMessage, error) { return json.RawMessage(` {} `), nil }
	var client string
	h.tools["who"] = func(_ context.Context, c hub.Call) (json.RawMessage, error) {
		client = c.By.Said
		return json.RawMessage(`{"content":[]}`), nil
	}
	c := streamTo(t, newServer(t, h, Options{}))

	for _, tt := range []struct{ method, params, want string }{
		{"prompts/get", `"name":"hello","arguments":{"a":"b"},`, `{"resultType":"complete",` + serverRef + `,"messages":[],"args":{"a":"b"}}`},
		{"tools/call", `"name":"meta",`, `{ "content":[],"resultType":"input_required","_meta":{"a":1}}`},
		{"tools/call", `"name":"nested",`, `{"resultType":"complete",` + serverRef + `,"content":[{"_meta":{},"text":"resultType"}]}`},
		{"tools/call", `"name":"empty",`, `{"resultType":"complete",` + serverRef + `}`},
		{"tools/call", `"name":"who",`, `{"resultType":"complete",` + serverRef + `,"content":[]}`},
	} {
		c.send(`{"jsonrpc":"2.0","id":"i","method":"` + tt.method + `","params":{` + tt.params + modernMeta + `}}`)
		c.want(`{"jsonrpc":"2.0","id":"i","result":` + tt.want + `}`)
	}
	if client != "new" {
		t.Errorf("the page was told that the client is %q", client)
	}
}

// What a client calls itself stands in each line of the record, which it must not fill.
func TestLongNameOfAClient(t *testing.T) {
	h := newScripted()
	var client string
	h.tools["who"] = func(_ context.Context, c hub.Call) (json.RawMessage, error) {
		client = c.By.Said
		return json.RawMessage(`{"content":[]}`), nil
	}
	s, long := newServer(t, h, Options{}), strings.Repeat("x", 1<<20)
	modern := streamTo(t, s)
	modern.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who",` + strings.Replace(modernMeta, `"name":"new"`, `"name":"new`+long+`"`, 1) + `}}`)
	if !strings.HasPrefix(client, "new") || len(client) > spec.MaxName {
		t.Errorf("a name of %d bytes", len(client))
	}
	client = ""
	old := streamTo(t, s)
	old.ask(strings.Replace(initializeLine("2025-06-18"), `"name":"test"`, `"name":"test`+long+`"`, 1))
	old.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	old.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who"}}`)
	if !strings.HasPrefix(client, "test") || len(client) > spec.MaxName {
		t.Errorf("a name of %d bytes", len(client))
	}
}

func TestListenIsTheOnlyWayToBeToldOfChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		s := New(h, Options{})
		c := streamTo(t, s)
		c.ask(`{"jsonrpc":"2.0","id":0,"method":"tools/list","params":{` + modernMeta + `}}`)
		h.change(hub.Change{Tools: true})
		listen := func(id, filter string) {
			c.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"subscriptions/listen","params":{"notifications":` + filter + `,` + modernMeta + `}}`)
		}
		tag := func(id string) string { return `"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}` }
		listen(`1`, `{"toolsListChanged":true,"resourceSubscriptions":["tabhub://a/x","tabhub://no"],"later":true}`)
		c.want(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + tag(`1`) + `,"notifications":{"resourceSubscriptions":["tabhub://a/x"],"toolsListChanged":true}}}`)
		listen(`"p"`, `{"promptsListChanged":true}`)
		c.want(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + tag(`"p"`) + `,"notifications":{"promptsListChanged":true}}}`)
		h.change(hub.Change{Tools: true, Resources: true, Updated: []string{"tabhub://a/x"}})
		c.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + tag(`1`) + `}}`)
		c.want(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{` + tag(`1`) + `,"uri":"tabhub://a/x"}}`)
		h.change(hub.Change{Prompts: true})
		c.want(`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{` + tag(`"p"`) + `}}`)

		// Nothing is asked for, so there is nothing to wait for.
		listen(`2`, `{}`)
		c.want(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + tag(`2`) + `,"notifications":{}}}`)
		end := func(id string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"tabhub","version":"dev"},"io.modelcontextprotocol/subscriptionId":` + id + `}}}`
		}
		c.want(end(`2`))

		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		synctest.Wait()
		h.change(hub.Change{Tools: true})
		if n := h.followed["tabhub://a/x"]; n != 0 {
			t.Errorf("%d subscriptions left", n)
		}
		go s.Close(t.Context())
		c.want(end(`"p"`))
		if _, err := c.lines.ReadByte(); err == nil {
			t.Error("the stream did not end")
		}
	})
}

func TestExposureFollowsTheBudgetWithoutFlapping(t *testing.T) {
	h := newScripted()
	own := builtin.Tool{Name: "proxy", Input: json.RawMessage(`{}`)}
	c := streamTo(t, newServer(t, h, Options{Options: methods.Options{Builtin: []builtin.Tool{own}, Expose: expose.Auto, ExposeBudget: 1000}}))
	c.initialize("2025-06-18")
	names := func() int {
		return strings.Count(c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), `"name"`)
	}
	tool := func(bytes int) string { return `{"name":"t","description":"` + strings.Repeat("x", bytes) + `"}` }
	notice := `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	for _, tt := range []struct{ bytes, listed int }{{3000, 2}, {5000, 1}, {3800, 1}, {5000, 1}, {3000, 2}} {
		was := names()
		h.set(hub.ListTools, tool(tt.bytes))
		h.change(hub.Change{Tools: true})
		if was != 1 || tt.listed != 1 { // what is not listed cannot change
			c.want(notice)
		}
		if got := names(); got != tt.listed {
			t.Errorf("%d bytes: %d tools listed, want %d", tt.bytes, got, tt.listed)
		}
	}
	claude := streamTo(t, newServer(t, h, Options{Options: methods.Options{Builtin: []builtin.Tool{own}, Expose: expose.Auto}}))
	claude.ask(strings.Replace(initializeLine("2025-06-18"), `"test"`, `"claude-ai"`, 1))
	claude.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	claude.want(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"proxy","inputSchema":{}}]}}`)
}

// From revision 2026-07-28 on a list may be kept by whoever stands between, so it
// must not depend on the name that a client gives; before, it may.
func TestListDependsOnTheClientOnlyBefore20260728(t *testing.T) {
	own := builtin.Tool{Name: "proxy", Input: json.RawMessage(`{}`)}
	s := newServer(t, newScripted(), Options{Options: methods.Options{Builtin: []builtin.Tool{own}, Expose: expose.Auto}})
	for _, name := range []string{"test", "claude-ai", "claude-desktop"} {
		old := streamTo(t, s)
		old.ask(strings.Replace(initializeLine("2025-11-25"), `"test"`, `"`+name+`"`, 1))
		want := 2
		if name != "test" {
			want = 1
		}
		list := old.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		if got := strings.Count(list, `"name"`); got != want {
			t.Errorf("%s of 2025-11-25 gets %s", name, list)
		}
		meta := strings.Replace(modernMeta, `"name":"new"`, `"name":"`+name+`"`, 1)
		list = streamTo(t, s).ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`)
		if !strings.Contains(list, `"name":"proxy"`) || !strings.Contains(list, `"name":"echo"`) {
			t.Errorf("%s of 2026-07-28 gets %s", name, list)
		}
	}
}

// A client that lists while the list goes over the budget must not keep the others
// from hearing of it.
func TestExposureIsToldToAllWhoeverListsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		s := newServer(t, h, Options{Options: methods.Options{Expose: expose.Auto, ExposeBudget: 1000}})
		other, first := streamTo(t, s), streamTo(t, s)
		other.initialize("2025-06-18")
		first.initialize("2025-06-18")
		const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
		other.ask(list)
		h.set(hub.ListTools, `{"name":"t","description":"`+strings.Repeat("x", 5000)+`"}`)
		if got := first.ask(list); strings.Contains(got, `"name":"t"`) {
			t.Errorf("over the budget: %s", got)
		}
		h.change(hub.Change{Tools: true})
		for _, c := range []*lineClient{other, first} {
			c.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
	})
}
