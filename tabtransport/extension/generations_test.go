package extension_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// generation is a page as one release of the published libraries has it.
type generation struct {
	name   string
	script func(t testing.TB) string
	// register is JavaScript that offers the tools of offered and defines change.add and
	// change.remove, of the tool "later"; "" if the script does.
	register string
	// tools are those that the page has at first.
	tools []string
	// plain: of a result the library leaves only the content.
	plain bool
	// untold: the library does not notify of changes, so that it is a minute until that is seen.
	untold bool
	// items: the page has a resource, a template and a prompt.
	items bool
	// serves: it has a server of its own, with subscriptions, progress and cancelling.
	serves bool
}

// offered is the tools of pages that do not serve them by themselves.
const offered = `
	const inputSchema = {type: 'object', properties: {}};
	const tool = (name, execute) => ({name, description: name, inputSchema, execute: async () => execute()});
	const all = [
		tool('text', () => ({content: [{type: 'text', text: 'plain'}]})),
		tool('structured', () => ({content: [{type: 'text', text: '5'}], structuredContent: {sum: 5}})),
		tool('image', () => ({content: [{type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png'}]})),
		tool('fails', () => { throw new Error('no such product'); }),
		{name: 'add', description: 'Adds', annotations: {readOnlyHint: true},
			inputSchema: {type: 'object', properties: {a: {type: 'number'}, b: {type: 'number'}}, required: ['a', 'b']},
			execute: async ({a, b}) => ({content: [{type: 'text', text: String(a + b)}]})},
	];
	const later = tool('later', () => ({content: [{type: 'text', text: 'late'}]}));
	window.change = {};
`

const (
	// byDocument is how pages of today register tools.
	byDocument = `
		for (const one of all) document.modelContext.registerTool(one);
		let controller;
		change.add = () => void document.modelContext.registerTool(later, {signal: (controller = new AbortController()).signal});
		change.remove = () => controller.abort();
	`
	// withItems is what @mcp-b/global has besides.
	withItems = `
		const mc = document.modelContext;
		mc.registerResource({uri: 'shop://stock', name: 'stock', read: async () => ({contents: [{uri: 'shop://stock', text: '2 shoes'}]})});
		mc.registerResource({uri: 'shop://product/{id}', name: 'product', read: async (uri) => ({contents: [{uri: String(uri), text: 'product ' + String(uri).split('/').at(-1)}]})});
		mc.registerPrompt({name: 'greet', argsSchema: {type: 'object', properties: {who: {type: 'string'}}},
			get: async ({who}) => ({messages: [{role: 'user', content: {type: 'text', text: 'hello ' + who}}]})});
	`
	// byNavigator is how pages registered tools before.
	byNavigator = `
		if (navigator.modelContext.provideContext) navigator.modelContext.provideContext({tools: all});
		else for (const one of all) navigator.modelContext.registerTool(one);
		let handle;
		change.add = () => void (handle = navigator.modelContext.registerTool(later));
		change.remove = () => handle?.unregister ? handle.unregister() : navigator.modelContext.unregisterTool('later');
	`
)

// most are the tools of most pages, and those of offered.
var (
	most  = []string{"text", "structured", "image", "fails"}
	given = append([]string{"add"}, most...)
)

var generations = chromium.Rows(4, []generation{
	{name: "global 5", script: npm("@mcp-b/global", ""), register: byDocument + withItems, tools: given, items: true},
	{name: "transports 5", script: bundle("server5.js"), tools: append([]string{"steps", "waits"}, most...), items: true, serves: true},
	{name: "global 1.0", script: npm("mcp-b-global-1", ""), register: byNavigator, tools: given, plain: true},
	{name: "react 5", script: bundle("react.js"), tools: []string{"text", "fails"}},
	{name: "polyfill 5", script: npm("@mcp-b/webmcp-polyfill", "WebMCPPolyfill.initializeWebMCPPolyfill()"), register: byDocument, tools: given},
	{name: "global 2", script: npm("mcp-b-global-2", ""), register: byNavigator, tools: given},
	{name: "global 1.6", script: npm("mcp-b-global-1-6", ""), register: byNavigator, tools: given},
	{name: "polyfill 0", script: npm("webmcp-polyfill-0", ""), register: byNavigator, tools: given, untold: true},
	{name: "transports 0", script: bundle("server0.js"), tools: append([]string{"steps", "waits"}, most...), items: true, serves: true},
}...)

func npm(name, start string) func(testing.TB) string {
	return func(t testing.TB) string { return published(t, name) + "\n;" + start }
}

func bundle(name string) func(testing.TB) string {
	return func(t testing.TB) string { return bundled(t, name) }
}

// listening notes what a page logs as an error.
const listening = `<!doctype html><meta charset="utf-8"><title>Shop</title><script>
	window.logged = [];
	addEventListener('error', ({message}) => logged.push(message));
	addEventListener('unhandledrejection', ({reason}) => logged.push(String(reason)));
	console.error = (...args) => logged.push(args.join(' '));
	</script>`

// Pages of all generations of the published libraries do in full what they do by themselves, and
// log no error that they do not log without the extension, also when their site is switched off and on.
func TestGenerations(t *testing.T) {
	t.Parallel()
	scripts := make([]string, len(generations))
	for i, g := range generations {
		scripts[i] = g.script(t)
	}
	bothWays(t, func(t *testing.T, native bool) {
		h := newHub(t)
		b := h.browse(chromium.Options{WebMCP: native})
		alone := chromium.Shared(t, chromium.Options{WebMCP: native})
		urls, pages := make([]string, len(generations)), make([]*chromium.Page, len(generations))
		for i, g := range generations {
			register := g.register
			if register != "" {
				register = offered + register
			}
			urls[i] = site(t, map[string]string{"/": listening + `<script src="/lib.js"></script><script>{` + register + `}</script>`, "/lib.js": scripts[i]})
			pages[i] = b.Open(urls[i])
		}
		check := func() {
			t.Helper()
			for i, g := range generations {
				g.check(t, h, urls[i], pages[i])
			}
		}
		check()
		tell(b, `{ask: "save", settings: {mode: "allowed", allowed: []}}`)
		h.wait("the tabs are empty", func() bool {
			for _, tab := range h.tabs {
				if len(tab.tools) > 0 {
					return false
				}
			}
			return true
		})
		tell(b, `{ask: "save", settings: {mode: "all"}}`)
		check()
		for i, g := range generations {
			p := alone.Open(urls[i])
			p.Eval("change.add()")
			p.Eval("change.remove()")
			expected := errorsOf(p)
			for _, text := range errorsOf(pages[i]) {
				if !slices.Contains(expected, text) {
					t.Errorf("%s: the page logs %q, without the extension only %q", g.name, text, expected)
				}
			}
			p.Close()
		}
	})
}

// errorsOf returns what a page has logged, but for what its tool fails with.
func errorsOf(p *chromium.Page) []string {
	var logged []string
	p.Into("logged", &logged)
	return slices.DeleteFunc(logged, func(text string) bool { return strings.Contains(text, "no such product") })
}

// check uses all that a page has.
func (g generation) check(t *testing.T, h *hub, url string, p *chromium.Page) {
	t.Helper()
	tab := h.tabAt(url, g.tools...)
	for name, want := range map[string]string{
		"text":       `{"content":[{"type":"text","text":"plain"}]}`,
		"structured": `{"content":[{"type":"text","text":"5"}],"structuredContent":{"sum":5}}`,
		"image":      `{"content":[{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}]}`,
	} {
		if !slices.Contains(g.tools, name) {
			continue
		}
		if g.plain {
			want, _, _ = strings.Cut(want, `,"structuredContent"`)
		}
		got, err := h.call(tab, name, "{}")
		if err != nil || !strings.HasPrefix(got, strings.TrimSuffix(want, "}")) {
			t.Errorf("%s: %s: %s, %v, want %s", g.name, name, got, err, want)
		}
	}
	if slices.Contains(g.tools, "add") {
		if got, err := h.call(tab, "add", `{"a":2,"b":3}`); err != nil || !strings.Contains(got, `"text":"5"`) {
			t.Errorf("%s: add: %s, %v", g.name, got, err)
		}
		if add := h.tool(tab, "add"); add.Origin != url || !strings.Contains(string(add.InputSchema), `"required":["a","b"]`) ||
			!strings.Contains(string(add.Annotations), `"readOnlyHint":true`) && strings.HasSuffix(g.name, " 5") {
			t.Errorf("%s: add: %+v", g.name, add)
		}
	}
	if got, err := h.call(tab, "fails", "{}"); err != nil || !strings.Contains(got, "no such product") || !strings.Contains(got, `"isError":true`) && !strings.HasPrefix(got, "failed: ") {
		t.Errorf("%s: fails: %s, %v", g.name, got, err)
	}
	if !g.untold {
		p.Eval("change.add()")
		h.tabAt(url, append([]string{"later"}, g.tools...)...)
		if got, err := h.call(tab, "later", "{}"); err != nil || !strings.Contains(got, `"late"`) {
			t.Errorf("%s: later: %s, %v", g.name, got, err)
		}
		p.Eval("change.remove()")
		h.tabAt(url, g.tools...)
	}
	if g.items {
		g.checkItems(t, h, tab)
	}
	if g.serves {
		g.checkServer(t, h, p, tab)
	}
}

// checkItems uses the resources and prompts.
func (g generation) checkItems(t *testing.T, h *hub, tab int64) {
	t.Helper()
	h.wait("the resources and the prompt", func() bool {
		return equal(names(h.tabs[tab].resources), []string{"stock", "product"}) && equal(names(h.tabs[tab].prompts), []string{"greet"})
	})
	for uri, want := range map[string]string{"shop://stock": " shoes", "shop://product/7": "product 7"} {
		if got, err := h.ask(tab, &spec.ReadResource{URI: uri, FrameID: new(int64(0))}); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %s: %s, %v", g.name, uri, got, err)
		}
	}
	if got, err := h.ask(tab, &spec.GetPrompt{Name: "greet", Args: json.RawMessage(`{"who":"Ada"}`), FrameID: new(int64(0))}); err != nil || !strings.Contains(got, "hello Ada") {
		t.Errorf("%s: greet: %s, %v", g.name, got, err)
	}
}

// checkServer uses what only a server has: subscriptions, progress, and calls that can be cancelled.
func (g generation) checkServer(t *testing.T, h *hub, p *chromium.Page, tab int64) {
	t.Helper()
	stock := spec.SubscribeResource{URI: "shop://stock", Subscribe: true, FrameID: new(int64(0))}
	if _, err := h.ask(tab, &stock); err != nil {
		t.Errorf("%s: subscribing: %v", g.name, err)
	}
	p.WaitFor("document.title === 'subscribed shop://stock'")
	h.change(func() { h.updates = nil })
	p.Eval("change.sell()")
	h.wait("the stock's update", func() bool { return slices.Equal(h.updates, []string{"shop://stock"}) })
	stock.Subscribe = false
	if _, err := h.ask(tab, &stock); err != nil {
		t.Errorf("%s: unsubscribing: %v", g.name, err)
	}
	p.WaitFor("document.title === 'unsubscribed'")

	var steps []spec.Progress
	wait := tabtransport.Wait{Timeout: chromium.Timeout, Progress: func(step spec.Progress) { steps = append(steps, step) }}
	if got, err := h.callFrame(t.Context(), tab, 0, "steps", "{}", wait); err != nil || !strings.Contains(got, `"all"`) || len(steps) != 1 || steps[0].Message != "half" {
		t.Errorf("%s: steps: %s, %v, %v", g.name, got, err, steps)
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	done := h.beginWith(ctx, tab, 0, "waits", "{}", tabtransport.Wait{Timeout: chromium.Timeout})
	p.WaitFor("document.title === 'waiting'")
	cancel(errors.New("enough"))
	<-done
	p.WaitFor("document.title === 'cancelled'")
}
