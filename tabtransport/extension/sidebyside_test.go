package extension_test

import (
	"fmt"
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// asking is a page with the library whose tool asks the client that is connected to it.
const asking = `<!doctype html><title>Asking</title><script src="/lib.js"></script><script>
	const mc = document.modelContext;
	mc.registerTool({name: 'add', description: 'Adds', inputSchema: {type: 'object', properties: {a: {type: 'number'}, b: {type: 'number'}}},
		execute: ({a, b}) => ({content: [{type: 'text', text: String(a + b)}]})});
	mc.registerTool({name: 'order', description: 'Orders', inputSchema: {type: 'object'}, execute: async () => {
		const requestedSchema = {type: 'object', properties: {size: {type: 'string'}}};
		const answer = await mc.mcpServer.server.elicitInput({message: 'Which size?', requestedSchema});
		return {content: [{type: 'text', text: JSON.stringify(answer)}]};
	}});
	if (location.search) mc.registerTool({name: 'next', description: 'd', execute: () => '5'});
	</script>`

// ordering lets a page call a tool, with what its modelContext takes: a text of the library's, an
// object of the browser's.
const ordering = `<script>
	const order = async (name) => {
		const mc = document.modelContext;
		const tool = (await mc.getTools()).find((tool) => tool.name === name);
		return mc.executeTool(tool, '{}').catch(() => mc.executeTool(tool, {}));
	};
	</script>`

// A page that has a client of its own, for itself or for a frame, works as it does without the
// extension, whichever of the two came first, and the hub has all that there is.
func TestPagesWithTheirOwnClient(t *testing.T) {
	t.Parallel()
	lib := published(t, "@mcp-b/global")
	for _, c := range []struct {
		name, page, script string
		tools              []string
		call               string // JavaScript: the page's own call of order
	}{
		{"a frame", `<!doctype html><title>Around</title><script src="/lib.js"></script><script src="/own.js"></script><mcp-iframe src="FRAME"></mcp-iframe>` + ordering,
			"element.js", []string{"add", "order", "app_add", "app_order"}, `order('app_order')`},
		{"itself", asking + `<script src="/own.js"></script>`,
			"client.js", []string{"add", "order"},
			`client.then(client => client.callTool({name: 'order', arguments: {}})).then(JSON.stringify)`},
	} {
		own := bundled(t, c.script)
		for _, i := range chromium.Rows(1, 0, 3, 1, 2) {
			native, last := i&1 != 0, i&2 != 0
			t.Run(fmt.Sprintf("%s, native=%v, extension last=%v", c.name, native, last), func(t *testing.T) {
				t.Parallel()
				// Without WebMCP the library does nothing in frames of other sites, with it two of one
				// site take each other's tools for their own.
				frame := "/asking"
				if native {
					frame = site(t, map[string]string{"/": asking, "/lib.js": lib})
				}
				url := site(t, map[string]string{"/": strings.ReplaceAll(c.page, "FRAME", frame), "/asking": asking, "/lib.js": lib, "/own.js": own})
				h := newHub(t)
				var b *chromium.Browser
				var p *chromium.Page
				if last {
					b = chromium.Shared(t, chromium.Options{WebMCP: native})
					p = b.Open(url)
					p.WaitFor(c.call + `.then(answer => answer.includes('large'), () => false)`)
					b.Load(h.write())
				} else {
					b = h.browse(chromium.Options{WebMCP: native})
					p = b.Open(url)
				}
				check := func(when string, more ...string) {
					t.Helper()
					tools := append(more, c.tools...)
					tab := h.tabWith(tools...)
					for _, tool := range tools {
						want := "5"
						if strings.HasSuffix(tool, "order") {
							want = "large"
						}
						if got, err := h.call(tab, tool, `{"a":2,"b":3}`); err != nil || !strings.Contains(got, want) {
							t.Errorf("%s: %s: %s, %v", when, tool, got, err)
						}
					}
					if got := p.Eval(c.call); !strings.Contains(got, "large") {
						t.Errorf("%s: the page's own call: %s", when, got)
					}
					if got := p.Eval("failures"); got != "[]" {
						t.Errorf("%s: the page's client: %s", when, got)
					}
				}
				check("at first")
				tell(b, `{ask: "save", settings: {mode: "allowed", allowed: []}}`)
				h.tabWith()
				tell(b, `{ask: "save", settings: {mode: "all"}}`)
				check("switched off and on")
				if c.name == "a frame" {
					p.Eval(`new Promise(done => {
						const frame = document.querySelector('mcp-iframe').shadowRoot.querySelector('iframe');
						frame.addEventListener('load', done);
						frame.src += '?next';
					})`)
					check("with the frame's next document", "next", "app_next")
				}
			})
		}
	}
}

// Where the page has no client, the extension answers its server's requests.
func TestPageServerAsks(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	p := b.Open(site(t, map[string]string{"/": asking, "/lib.js": published(t, "@mcp-b/global")}))
	tab := h.tabWith("add", "order")
	p.Eval(`void mc.registerPrompt({name: "greet", get: async () => ({messages: []})})`) // which only the server has
	h.wait("the prompt", func() bool { return equal(names(h.tabs[tab].prompts), []string{"greet"}) })
	if got := p.Eval(`mc.mcpServer.server.ping()`); got != "{}" {
		t.Errorf("ping: %s", got)
	}
	if got, err := h.call(tab, "order", "{}"); err != nil || !strings.Contains(got, "elicitation") || !strings.Contains(got, `"isError":true`) {
		t.Errorf("order: %s, %v", got, err)
	}
}
