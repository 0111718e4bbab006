package pages_test

import (
	"html"
	"slices"
	"strings"
	"testing"

	"tabhub/hub/call"
	"tabhub/hub/hubtest"
	"tabhub/hub/lists"
	"tabhub/hub/telemetry"
	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// Of what the browser has, what the page also gives to tabhub is offered once.
func TestNativeTools(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := chromium.Shared(t, chromium.Options{WebMCP: true}).Open(s.host(`<script src="http://HUB/tab.js"></script><script>
		const runs = [];
		document.modelContext.registerTool({name: "native", description: "d", execute: async () => runs.push("native")});
		document.modelContext.registerTool({name: "both", description: "d", execute: async () => runs.push("both by the browser")});
		tabhub.registerTool({name: "both", description: "d", execute: () => { runs.push("both by tabhub"); return "own" }});
	</script>`, ""))
	s.await("two tools", func() bool { return len(s.names()) == 2 })
	for tool, want := range map[string]string{"native": "1", "both": "own"} {
		page.Eval("void runs.splice(0)")
		if r := s.call(tool, `{}`); r.IsError || r.text() != want {
			t.Errorf("%s: %+v, want %q", tool, r, want)
		}
	}
	if item, err := s.hub.Lists.Find("tool", s.name("native")); err != nil || strings.Contains(string(item.JSON), "debugging") {
		t.Errorf("the tool has hints that nobody gave: %s, %v", item.JSON, err)
	}
}

// A frame without an address joins as the site around it.
func TestNativeToolsOfASrcdoc(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	inner := html.EscapeString(`<script>` + chromium.InFrame(`
		document.modelContext.registerTool({name: "inner", description: "d", execute: async ({n}) => "n is " + n});
		document.head.append(Object.assign(document.createElement("script"), {src: "http://`+s.addr+`/tab.js"}));
	`) + `</script>`)
	chromium.Shared(t, chromium.Options{WebMCP: true}).Open(s.host(`<iframe srcdoc="`+inner+`"></iframe>`, ""))
	if r := s.call("inner", `{"n":4}`); r.IsError || r.text() != "n is 4" {
		t.Errorf("inner: %+v", r)
	}
}

// pageServer is an MCP-B page server in few words. It notifies of changes if
// listChanged is true, reports progress, and takes notice of a cancel.
const pageServer = `
	const items = {tools: [{name: "served", description: "d", inputSchema: {type: "object"}}]};
	let post = (payload) => window.postMessage({channel: "mcp-default", type: "mcp", direction: "server-to-client", payload}, "*");
	const seen = [];
	addEventListener("message", ({source, data}) => {
		if (source !== window || data?.channel !== "mcp-default" || data.direction !== "client-to-server") return;
		const m = data.payload;
		if (m === "mcp-check-ready") return started && post("mcp-server-ready");
		seen.push(m.method);
		const answer = (result) => post({jsonrpc: "2.0", id: m.id, result});
		if (m.method === "initialize") return started && answer({protocolVersion: "2025-06-18", capabilities: {tools: {listChanged: true}, resources: {}, prompts: {}, completions: {}}, serverInfo: {name: "x", version: "1"}});
		if (m.method === "tools/list") return m.params.cursor ? answer({tools: items.tools.slice(1)}) : answer({tools: items.tools.slice(0, 1), nextCursor: "next"});
		if (m.method === "resources/list") return answer({resources: [{uri: "x://1", name: "x"}]});
		if (m.method === "resources/read") return answer({contents: [{uri: m.params.uri, text: "read"}]});
		if (m.method === "prompts/list") return answer({prompts: [{name: "p"}]});
		if (m.method === "prompts/get") return answer({messages: []});
		if (m.method === "completion/complete") return answer({completion: {values: [m.params.ref.name + " " + m.params.argument.value + "da"]}});
		if (m.method === "tools/call" && m.params.name === "slow") return post({jsonrpc: "2.0", method: "notifications/progress", params: {progressToken: m.params._meta.progressToken, progress: 1, total: 2}});
		if (m.method === "tools/call" && m.params.name === "broken") return post({jsonrpc: "2.0", id: m.id, error: {code: -32000, message: "broken inside"}});
		if (m.method === "tools/call") return answer({content: [{type: "text", text: "served " + JSON.stringify(m.params.arguments)}], _meta: {"openai/x": true}});
		if (m.id !== undefined) return post({jsonrpc: "2.0", id: m.id, error: {code: -32601, message: "no such method"}});
	});
	const change = (tools) => { items.tools = tools; post({jsonrpc: "2.0", method: "notifications/tools/list_changed"}) };
	let started = false;
	const begin = () => { started = true; post("mcp-server-ready") };
`

// Pages with an MCP-B server need nothing but the script.
func TestPageServer(t *testing.T) {
	t.Parallel()
	begins := map[string]string{
		"before the script":           `<script>` + pageServer + `begin()</script><script src="http://HUB/tab.js"></script>`,
		"after the script":            `<script src="http://HUB/tab.js"></script><script>` + pageServer + `begin()</script>`,
		"late":                        `<script src="http://HUB/tab.js"></script><script>` + pageServer + `addEventListener("load", () => setTimeout(begin, 1500))</script>`,
		"silent, as old servers were": `<script>` + pageServer + `started = true; post = () => {}</script><script src="http://HUB/tab.js"></script>`,
	}
	for _, name := range chromium.Rows(2, "before the script", "silent, as old servers were", "after the script", "late") {
		begin := begins[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			if strings.HasPrefix(name, "silent") {
				begin = strings.NewReplacer("post = () => {}", "", `return started && post("mcp-server-ready")`, "return").Replace(begin)
			}
			page := chromium.Shared(t, chromium.Options{}).Open(s.host(begin, ""))
			raw, err := s.hub.Calls.Call(t.Context(), call.Request{By: tester, Name: s.name("served"), Args: []byte(`{"a":1}`)})
			if err != nil || hubtest.Said(raw) != `{"content":[{"type":"text","text":"served {\"a\":1}"}]}` {
				t.Errorf("reply %s %v", raw, err)
			}
			s.await("resource and prompt", func() bool {
				return len(s.hub.Lists.List(lists.ListResources).Items) == 1 && len(s.hub.Lists.List(lists.ListPrompts).Items) == 1
			})
			if raw, err := s.hub.Calls.ReadResource(t.Context(), tester, s.hub.Lists.List(lists.ListResources).Items[0].Name); err != nil || !strings.Contains(string(raw), "read") {
				t.Errorf("resource: %s %v", raw, err)
			}
			prompt := s.hub.Lists.List(lists.ListPrompts).Items[0].Name
			if raw, err := s.hub.Calls.Complete(t.Context(), tester, spec.KindPrompt, prompt, []byte(`{"name":"who","value":"A"}`), nil); err != nil || string(raw) != `{"completion":{"values":["p Ada"]}}` {
				t.Errorf("completion: %s %v", raw, err)
			}
			page.Eval(`void change([{name: "served"}, {name: "slow", inputSchema: {type: "object"}}, {name: "broken", inputSchema: {type: "object"}}])`)
			if r := s.call("broken", `{}`); !r.IsError || !strings.Contains(r.text(), "broken inside") {
				t.Errorf("broken: %+v", r)
			}
			page.Eval(`items.tools = [{name: "another"}], void post("mcp-server-ready")`)
			s.await("the tools of the server in its place", func() bool { return len(s.names()) == 1 })
			page.Eval(`void post("mcp-server-stopped")`)
			s.await("the tools went with the server", func() bool { return len(s.names()) == 0 })
		})
	}
}

// A page that traces what it does goes on from its client's span.
func TestPageServerHearsOfTheSpan(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := chromium.Shared(t, chromium.Options{}).Open(s.host(`<script>
		const spans = [];
		addEventListener("message", ({data}) => data.payload.params?._meta?.traceparent && spans.push(data.payload.method + " " + data.payload.params._meta.traceparent));
		`+pageServer+`begin();
	</script><script src="http://HUB/tab.js"></script>`, ""))
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	ctx := telemetry.WithTraceparent(t.Context(), parent)
	if raw, err := s.hub.Calls.Call(ctx, call.Request{By: tester, Name: s.name("served")}); err != nil || !strings.Contains(string(raw), "served") {
		t.Errorf("tool: %s %v", raw, err)
	}
	s.await("resource and prompt", func() bool {
		return len(s.hub.Lists.List(lists.ListResources).Items) == 1 && len(s.hub.Lists.List(lists.ListPrompts).Items) == 1
	})
	if raw, err := s.hub.Calls.ReadResource(ctx, tester, s.hub.Lists.List(lists.ListResources).Items[0].Name); err != nil {
		t.Errorf("resource: %s %v", raw, err)
	}
	if raw, err := s.hub.Calls.GetPrompt(ctx, tester, s.hub.Lists.List(lists.ListPrompts).Items[0].Name, nil); err != nil {
		t.Errorf("prompt: %s %v", raw, err)
	}
	var spans []string
	page.Into("spans", &spans)
	if want := []string{"tools/call " + parent, "resources/read " + parent, "prompts/get " + parent}; !slices.Equal(spans, want) {
		t.Errorf("the page heard of %q, want %q", spans, want)
	}
}

// A page's client of its own server gets the answers to its requests and no others, which it would
// take for errors.
func TestPageServerWithAnotherClient(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := chromium.Shared(t, chromium.Options{}).Open(s.host(`<script>
		const heard = [];
		addEventListener("message", ({data}) => data.direction === "server-to-client" && data.payload.id !== undefined && heard.push(data.payload.id));
		`+pageServer+`begin();
		const ask = (id) => postMessage({channel: "mcp-default", type: "mcp", direction: "client-to-server", payload: {jsonrpc: "2.0", id, method: "prompts/list"}}, "*");
	</script><script src="http://HUB/tab.js"></script>`, ""))
	page.Eval("ask(1)")
	if r := s.call("served", `{}`); r.IsError {
		t.Errorf("served: %+v", r)
	}
	page.Eval("ask(2)")
	page.WaitFor("heard.includes(2)")
	if got := page.Eval("heard"); got != "[1,2]" {
		t.Errorf("the page's client heard the answers %s", got)
	}
}
