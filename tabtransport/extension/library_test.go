package extension_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// libraryPage loads a library and registers tools through it.
func libraryPage(script string) string {
	return `<!doctype html><title>Library</title><script src="` + script + `"></script><script>
		const mc = document.modelContext;
		mc.registerTool({name: 'add', description: 'Adds', inputSchema: {type: 'object', properties: {a: {type: 'number'}, b: {type: 'number'}}, required: ['a', 'b']},
			annotations: {readOnlyHint: true}, execute: ({a, b}) => ({content: [{type: 'text', text: String(a + b)}], structuredContent: {sum: a + b}})});
		mc.registerTool({name: 'throws', description: 'Throws', execute: () => { throw new Error('no such product'); }});
		mc.registerResource?.({uri: 'shop://cart', name: 'cart', mimeType: 'text/plain', read: async () => ({contents: [{uri: 'shop://cart', text: '2 shoes'}]})});
		mc.registerPrompt?.({name: 'greet', description: 'Greets', argsSchema: {type: 'object', properties: {who: {type: 'string'}}},
			get: async ({who}) => ({messages: [{role: 'user', content: {type: 'text', text: 'hello ' + who}}]})});
		</script>`
}

// A page's server that completes arguments is asked for them; a resource without a
// template has none.
func TestPageServerCompletes(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	server := strings.NewReplacer("ANNOUNCED", "0",
		"{tools: {listChanged: true}}", "{tools: {}, prompts: {}, resources: {}, completions: {}}",
		"if (method === 'tools/list')", `
			if (method === 'prompts/list') reply({prompts: [{name: 'greet', arguments: [{name: 'who'}]}]});
			if (method === 'resources/list') reply({resources: [{uri: 'note://1', name: 'one'}]});
			if (method === 'resources/templates/list') reply({resourceTemplates: [{uriTemplate: 'note://{id}', name: 'note'}]});
			if (method === 'completion/complete') reply({completion: {values: [JSON.stringify(params)]}});
			if (method === 'tools/list')`).Replace(oldServer)
	b.Open(site(t, map[string]string{"/": server}))
	tab := h.tabWith("old")
	h.wait("prompt and resources", func() bool { return len(h.tabs[tab].prompts) == 1 && len(h.tabs[tab].resources) == 2 })
	h.mu.Lock()
	for _, it := range append(h.tabs[tab].prompts, h.tabs[tab].resources...) {
		if it.Completes != (it.URI == "") {
			t.Errorf("%s %s is completed: %t", it.Name, it.URI, it.Completes)
		}
	}
	h.mu.Unlock()
	for _, ref := range []spec.CompleteRef{{Type: spec.RefPrompt, Name: "greet"}, {Type: spec.RefResource, URI: "note://{id}"}} {
		about, err := json.Marshal(ref)
		if err != nil {
			t.Fatal(err)
		}
		ask := &spec.Complete{Ref: ref, Argument: json.RawMessage(`{"name":"who","value":"A"}`), Context: json.RawMessage(`{"arguments":{}}`), FrameID: new(int64(0))}
		want := `{"ref":` + string(about) + `,"argument":{"name":"who","value":"A"},"context":{"arguments":{}}}`
		if got, err := h.ask(tab, ask); err != nil || !strings.Contains(got, strings.Trim(strconv.Quote(want), `"`)) {
			t.Errorf("%s: %s, %v", about, got, err)
		}
	}
}

// A server that announces itself once, ignores the question whether it is ready and
// says nothing before a client does, as the first releases did.
const oldServer = `<!doctype html><title>Old</title><script>
	const send = payload => window.postMessage({channel: 'mcp-default', type: 'mcp', direction: 'server-to-client', payload}, '*');
	let initialized = false;
	addEventListener('message', ({source, data}) => {
		if (source !== window || data?.direction !== 'client-to-server' || data.payload === 'mcp-check-ready') return;
		const {id, method, params} = data.payload;
		const reply = result => send({jsonrpc: '2.0', id, result});
		if (method === 'initialize') reply({protocolVersion: '2025-06-18', capabilities: {tools: {listChanged: true}}, serverInfo: {name: 'old', version: '0.1'}});
		if (method === 'notifications/initialized') initialized = true;
		if (method === 'tools/list') reply({tools: initialized ? window.tools ?? [{name: 'old', inputSchema: {type: 'object'}}] : []});
		if (method === 'tools/call') {
			if (params.name === 'slow') {
				window.token = params._meta.progressToken;
				send({jsonrpc: '2.0', method: 'notifications/progress', params: {progressToken: window.token, progress: 1, total: 2, message: 'half'}});
			} else reply({content: [{type: 'text', text: 'from the old server'}]});
		}
		if (method === 'notifications/cancelled') document.title = 'cancelled: ' + params.reason;
	});
	setTimeout(() => send('mcp-server-ready'), ANNOUNCED);
	window.change = tools => { window.tools = tools; send({jsonrpc: '2.0', method: 'notifications/tools/list_changed'}); };
	</script>`

func TestOldPageServers(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, map[string]string{
		"/announced": strings.ReplaceAll(oldServer, "ANNOUNCED", "0"),
		"/silent":    strings.ReplaceAll(oldServer, "ANNOUNCED", "1e9"),
		"/late": `<!doctype html><title>Late</title><script>addEventListener('load', () => setTimeout(() => {` +
			scriptOf(strings.ReplaceAll(oldServer, "ANNOUNCED", "0")) + `}, 500))</script>`,
	})
	for _, path := range []string{"/announced", "/silent", "/late"} {
		p := b.Open(url + path)
		tab := h.tabWith("old")
		if got, err := h.call(tab, "old", `{}`); err != nil || !strings.Contains(got, "from the old server") {
			t.Errorf("%s: %s, %v", path, got, err)
		}
		p.Eval(`change([{name: 'old'}, {name: 'slow'}])`)
		h.tabWith("old", "slow")
		h.closeTab(p)
	}
}

// A page without a secure context, as of another machine in the network, has its tools, too, and
// no WebMCP, as in a browser that has it.
func TestServerWithoutSecureContext(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	p := b.Open(insecureSite(t, map[string]string{"/": strings.ReplaceAll(oldServer, "ANNOUNCED", "0")}))
	if got := p.Eval(`[isSecureContext, "modelContext" in document, "ModelContext" in window]`); got != "[false,false,false]" {
		t.Fatalf("a secure context, or WebMCP: %s", got)
	}
	tab := h.tabWith("old")
	if got, err := h.call(tab, "old", `{}`); err != nil || !strings.Contains(got, "from the old server") {
		t.Errorf("old: %s, %v", got, err)
	}
}

// A page that replaces its server, such as on a new route, has the tools of the new server, even if
// the old one ends without a notice.
func TestPageServerReplaced(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	p := b.Open(site(t, map[string]string{"/": `<!doctype html><title>Routes</title><script>
		function serve(name) {
			const send = payload => window.postMessage({channel: 'mcp-default', type: 'mcp', direction: 'server-to-client', payload}, '*');
			const heard = ({data}) => {
				if (data?.direction !== 'client-to-server') return;
				const {id, method} = data.payload;
				const reply = result => send({jsonrpc: '2.0', id, result});
				if (method === 'initialize') reply({protocolVersion: '2025-06-18', capabilities: {tools: {listChanged: true}}, serverInfo: {name, version: '1'}});
				if (method === 'tools/list') reply({tools: [{name, inputSchema: {type: 'object'}}]});
				if (method === 'tools/call') reply({content: [{type: 'text', text: name}]});
			};
			addEventListener('message', heard);
			send('mcp-server-ready');
			window.end = () => removeEventListener('message', heard);
		}
		serve('first');
		</script>`}))
	h.tabWith("first")
	p.Eval(`end(), serve('second')`)
	tab := h.tabWith("second")
	if got, err := h.call(tab, "second", `{}`); err != nil || got != `{"content":[{"type":"text","text":"second"}]}` {
		t.Errorf("second: %s, %v", got, err)
	}
}

// scriptOf returns the script of a page.
func scriptOf(page string) string {
	_, script, _ := strings.Cut(page, "<script>")
	script, _, _ = strings.Cut(script, "</script>")
	return script
}

// Pages that use the removed API find it, and may replace it.
func TestOlderPageAPIs(t *testing.T) {
	t.Parallel()
	t.Run("polyfill of navigator.modelContext", func(t *testing.T) {
		t.Parallel()
		h := newHub(t)
		b := h.browse(chromium.Options{})
		b.Open(site(t, map[string]string{"/": `<!doctype html><script>
			'use strict';
			const tools = new Map();
			navigator.modelContext = {provideContext: ({tools: all}) => all.forEach(t => tools.set(t.name, t))};
			navigator.modelContextTesting = {
				listTools: () => [...tools.values()].map(t => ({name: t.name, description: t.description, inputSchema: JSON.stringify(t.inputSchema)})),
				executeTool: async (name, json) => JSON.stringify(await tools.get(name).execute(JSON.parse(json))),
			};
			navigator.modelContext.provideContext({tools: [{name: 'provided', description: 'd', inputSchema: {type: 'object'}, execute: ({n}) => ({content: [{type: 'text', text: 'n=' + n}]})}]});
			</script>`}))
		tab := h.tabWith("provided")
		if got, err := h.call(tab, "provided", `{"n":7}`); err != nil || got != `{"content":[{"type":"text","text":"n=7"}]}` {
			t.Errorf("%s, %v", got, err)
		}
	})
	for _, native := range chromium.Rows(1, false, true) {
		t.Run(fmt.Sprintf("removed forms native=%v", native), func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			b := h.browse(chromium.Options{WebMCP: native})
			p := b.Open(site(t, map[string]string{"/": `<!doctype html><script>
			navigator.modelContext.provideContext({tools: [
				{name: 'provided', description: 'd', inputSchema: {type: 'object'}, execute: ({n}) => ({content: [{type: 'text', text: 'n=' + n}]})},
				{name: 'dropped', description: 'd', inputSchema: {type: 'object'}, execute: () => ''},
			]});
			navigator.modelContext.registerTool({name: 'dropped', description: 'd', execute: () => 'refused: it is there already'});
			navigator.modelContext.unregisterTool('dropped');
			window.mcp.registerTool('first', {description: 'd', inputSchema: {q: {description: 'what'}}}, async ({q}) => ({content: [{type: 'text', text: 'q=' + q}]}));
			</script>`}))
			tab := h.tabWith("provided", "first")
			for name, c := range map[string][2]string{"provided": {`{"n":7}`, "n=7"}, "first": {`{"q":"x"}`, "q=x"}} {
				if got, err := h.call(tab, name, c[0]); err != nil || !strings.Contains(got, c[1]) {
					t.Errorf("%s: %s, %v", name, got, err)
				}
			}
			if got := h.tool(tab, "first"); !strings.Contains(string(got.InputSchema), "what") {
				t.Errorf("the schema of window.mcp's tool: %s", got.InputSchema)
			}
			p.Eval(`navigator.modelContext.clearContext()`)
			h.tabWith()
		})
	}
}
