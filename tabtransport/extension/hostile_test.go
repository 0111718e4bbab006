package extension_test

import (
	"fmt"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// hostile does all that a page can do to the extension and, through it, to others.
const hostile = `<!doctype html><title>Hostile</title><script>
	const big = 'x'.repeat(50 << 20);
	const deep = {}; let at = deep; for (let i = 0; i < 400; i++) at = at.p = {};
	const tool = (name, more) => ({name, description: 'd', inputSchema: {type: 'object'}, ...more});
	const tools = [
		tool('fine'),
		tool('long description', {description: big}),
		tool('long schema', {inputSchema: {type: 'object', description: big}}),
		tool('deep schema', {inputSchema: deep}),
		tool('n'.repeat(129)), tool(''), {description: 'no name'}, null, 7, 'text', [],
		JSON.parse('{"name": "polluter", "__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}, "inputSchema": {"type": "object", "__proto__": {"polluted": 1}}, "frameId": 99, "origin": "https://bank.example", "tabId": 1}'),
		...Array.from({length: 10000}, (_, i) => tool('many' + i)),
	];
	const send = (payload, channel = 'mcp-default') => window.postMessage({channel, type: 'mcp', direction: 'server-to-client', payload}, '*');
	addEventListener('message', ({data}) => {
		if (data?.direction !== 'client-to-server') return;
		if (data.payload === 'mcp-check-ready') return send('mcp-server-ready');
		const {id, method, params} = data.payload;
		const reply = result => send({jsonrpc: '2.0', id, result});
		if (method === 'initialize') reply({protocolVersion: {}, capabilities: {tools: {listChanged: true}, resources: 1, prompts: []}, serverInfo: null});
		if (method === 'tools/list') reply({tools, nextCursor: 'again and again'});
		if (method === 'resources/list') reply({resources: 'none'});
		if (method === 'tools/call' && params.name === 'fine') {
			// Forged answers to calls of others, then its own.
			for (const other of ['hello', '1', id + '0', null, {}]) send({jsonrpc: '2.0', id: other, result: {forged: true}});
			reply({content: [{type: 'text', text: 'own'}]});
		}
		if (method === 'tools/call' && params.name === 'polluter') reply(JSON.parse('{"content": [], "__proto__": {"polluted": 1}}'));
		if (method === 'tools/call' && params.name === 'many1') reply({content: [{type: 'text', text: 'one of many'}]});
		if (method === 'tools/call' && params.name === 'many0') reply({content: [{type: 'text', text: big}]});
	});
	// Envelopes that are nearly right.
	for (const junk of [null, 1, 'x', [], {}, {jsonrpc: '2.0'}, {jsonrpc: '2.0', id: {}, method: 'ping'}, {jsonrpc: '2.0', method: 'notifications/progress', params: null}]) { send(junk); send(junk, 'mcp-iframe'); }
	// The port to the extension's world, as the page may forge it.
	dispatchEvent(new MessageEvent('tabhub-port', {data: {}, ports: []}));
	const {port1, port2} = new MessageChannel();
	port1.postMessage({type: 'tools', tools: '['});
	dispatchEvent(new MessageEvent('tabhub-port', {ports: [port2]}));
	send('mcp-server-ready');
	setInterval(() => send({jsonrpc: '2.0', method: 'notifications/tools/list_changed'}), 5);
	window.canReach = typeof chrome?.runtime?.connect;
	</script>`

// What a page does wrong harms nothing but itself.
func TestHostilePage(t *testing.T) {
	t.Parallel()
	for _, native := range []bool{false, true} {
		t.Run(fmt.Sprintf("native=%v", native), func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			b := h.browse(chromium.Options{WebMCP: native})
			good := b.Open(site(t, map[string]string{"/": strings.ReplaceAll(oldServer, "ANNOUNCED", "0")}))
			victim := h.tabWith("old")
			url := site(t, map[string]string{"/": hostile})
			p := b.Open(url)
			var tab int64
			h.wait("the hostile page's tools", func() bool {
				for id := range h.tabs {
					if id != victim && len(h.tabs[id].tools) > 900 {
						tab = id
						return true
					}
				}
				return false
			})
			h.mu.Lock()
			count, registrations := len(h.tabs[tab].tools), h.tabs[tab].registrations
			h.mu.Unlock()
			if count > spec.MaxToolsPerTab {
				t.Errorf("it registered %d tools", count)
			}
			fine, long, polluter := h.tool(tab, "fine"), h.tool(tab, "long description"), h.tool(tab, "polluter")
			if fine.Origin != url || len(long.Description) > 2*spec.MaxDescription || polluter.Origin != url || polluter.FrameID != 0 {
				t.Errorf("%+v, %d, %+v", fine, len(long.Description), polluter)
			}
			for _, c := range []struct{ tool, want string }{
				{"fine", `{"content":[{"type":"text","text":"own"}]}`},
				{"many1", `{"content":[{"type":"text","text":"one of many"}]}`},
				{"many0", "failed: \"the result of 50 MiB"},
			} {
				if got, err := h.call(tab, c.tool, "{}"); err != nil || !strings.HasPrefix(got, c.want) {
					t.Errorf("%s: %.200s, %v", c.tool, got, err)
				}
			}
			if _, err := h.call(tab, "polluter", `{"__proto__": {"polluted": 1}}`); err != nil {
				t.Error(err)
			}
			w := b.Worker()
			if got := w.Eval("({}).polluted === undefined && [].polluted === undefined"); got != "true" {
				t.Error("the page changed the prototypes of the worker")
			}
			w.Close()
			if got := p.Eval("canReach"); got == `"function"` {
				t.Error("the page can reach the extension")
			}
			if got, err := h.call(victim, "old", "{}"); err != nil || !strings.Contains(got, "from the old server") {
				t.Errorf("another tab's tool: %s, %v", got, err)
			}
			good.Eval(`change([{name: 'old'}, {name: 'new'}])`)
			h.wait("another tab's news", func() bool { return equal(names(h.tabs[victim].tools), []string{"old", "new"}) })
			h.mu.Lock()
			defer h.mu.Unlock()
			if n := h.tabs[tab].registrations; n > registrations+2 {
				t.Errorf("its flood of notices became %d registrations", n)
			}
		})
	}
}

// However many signs a page forges, the worker does little for it, and finds another page's tools.
func TestForgedSigns(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	p := b.Open(site(t, map[string]string{"/": `<!doctype html><title>Forging</title>` + strings.Repeat(`<iframe></iframe>`, 20)}))
	w := b.Worker()
	defer w.Close()
	// Once the popup was shown there is a gateway.
	id := w.Eval(`chrome.tabs.query({ active: true }).then(([tab]) => tab.id)`)
	tell(b, `{ask: "status", tabId: `+id+`}`)
	w.Eval(`(() => {
		const { executeScript } = chrome.scripting;
		self.ran = 0;
		chrome.scripting.executeScript = (injection) => { ran++; return executeScript.call(chrome.scripting, injection); };
	})()`)
	p.Eval(`for (let i = 0; i < 5_000; i++) {
		const sign = (path) => dispatchEvent(new CustomEvent("tabhub-sign", {detail: {path, kind: "tools", child: {index: i, origin: "x".repeat(1000)}}}));
		sign([i % 20]); sign([i]); sign([i, i]); sign("no path"); sign(Array(40).fill(0)); sign([null]);
		dispatchEvent(new CustomEvent("tabhub-sign", {detail: [i, null, {}, {path: [0]}][i % 4]}));
	}`)
	b.Open(site(t, map[string]string{"/": strings.ReplaceAll(oldServer, "ANNOUNCED", "0")}))
	h.tabWith("old")
	var ran int
	w.Into("ran", &ran)
	if ran > 2_000 {
		t.Errorf("the worker ran %d scripts", ran)
	}
}

// Names of a page's tools neither fill the popup nor reverse the popup's text.
func TestHostileWords(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	b.Open(site(t, map[string]string{"/": `<!doctype html><title>Words</title><script>
		const turned = "\u202eturned\u2066 ";
		document.modelContext.registerTool({
			name: "a".repeat(128), title: turned.repeat(100), description: turned.repeat(100), execute: () => 1,
			inputSchema: {type: "object", properties: {[turned]: {type: "string", title: turned, description: turned, enum: [turned]}}},
		});
	</script>`}))
	h.wait("its tool", func() bool { return len(h.tabs) == 1 })
	popup := h.popup(b, h.ids()[0])
	popup.WaitFor(`document.querySelector(".tool")`)
	picture(t, popup, "popup-hostile-words")
	if got := popup.Eval(`document.querySelector(".tool").offsetHeight < 120`); got != "true" {
		t.Error("a tool that is closed fills the popup")
	}
	popup.Click(".tool summary")
	has(t, popup, ".tool .takes", "\\u202eturned\\u2066")
	if got := popup.Eval(`/[\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText)`); got != "false" {
		t.Error("the popup shows what turns words around")
	}
}
