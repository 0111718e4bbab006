package mcpserver

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"tabhub/hub/builtin"
	"tabhub/hub/call"
	"tabhub/hub/face/mcpserver/expose"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/lists"
)

const serverRef = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"tabhub","version":"dev"}}`

// What a page says itself is not said again.
func TestResultsOfTheStatelessRevision(t *testing.T) {
	h := newScripted()
	h.tools["meta"] = func(context.Context, call.Request) (json.RawMessage, error) {
		return json.RawMessage(`{ "content":[],"resultType":"input_required","_meta":{"a":1}}`), nil
	}
	h.tools["nested"] = func(context.Context, call.Request) (json.RawMessage, error) {
		return json.RawMessage(`{"content":[{"_meta":{},"text":"resultType"}]}`), nil
	}
	h.tools["empty"] = func(context.Context, call.Request) (json.RawMessage, error) { return json.RawMessage(` {} `), nil }
	var client string
	h.tools["who"] = func(_ context.Context, c call.Request) (json.RawMessage, error) {
		client = c.By.Said
		return json.RawMessage(`{"content":[]}`), nil
	}
	c := streamTo(t, newServer(t, h, Options{}))

	for _, tt := range []struct{ method, params, want string }{
		{"prompts/get", `"name":"hello","arguments":{"a":"b"},`, `{"resultType":"complete",` + serverRef + `,"messages":[],"args":{"a":"b"}}`},
		{"tools/call", `"name":"meta",`, strings.Replace(`{`+serverRef+`,"content":[],"resultType":"input_required"}`, `}},`, `},"a":1},`, 1)},
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

// From revision 2026-07-28 on caches on the way may store a list, so it
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
func TestAllClientsAreNotifiedWhicheverListsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		s := newServer(t, h, Options{Options: methods.Options{Expose: expose.Auto, ExposeBudget: 1000}})
		other, first := streamTo(t, s), streamTo(t, s)
		other.initialize("2025-06-18")
		first.initialize("2025-06-18")
		const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
		other.ask(list)
		h.set(lists.ListTools, `{"name":"t","description":"`+strings.Repeat("x", 5000)+`"}`)
		if got := first.ask(list); strings.Contains(got, `"name":"t"`) {
			t.Errorf("over the budget: %s", got)
		}
		h.change(lists.Change{Tools: true})
		for _, c := range []*lineClient{other, first} {
			c.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
	})
}
