package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"tabhub/spec/rawjson"
	"tabhub/tabtransport/tabtest/chromium"
)

// shop is a page with tools that are registered with the browser; it counts how often
// each ran.
const shop = `<!doctype html><title>Shop</title><script>
	window.runs = {};
	const add = (name, execute, more) => document.modelContext.registerTool({name, description: 'Does ' + name, ...more, execute: (input, options) => {
		const key = name + ' ' + (input.n ?? '');
		runs[key] = (runs[key] ?? 0) + 1;
		return execute(input, options);
	}});
	add('buy', ({n}) => ({bought: n, at: location.search}), {inputSchema: {type: 'object', properties: {n: {type: 'number'}}, required: ['n']}});
	add('throws', () => { throw new Error('the cart is empty'); });
	add('big', ({n}) => ({content: [{type: 'text', text: 'x'.repeat(n)}]}));
	add('wait', (_, {signal}) => new Promise((_, fail) => signal.addEventListener('abort', () => { document.title = 'cancelled'; fail(signal.reason); })));
	</script>`

// server is a page with an MCP server in it that reports progress.
const server = `<!doctype html><title>Server</title><script>
	const send = payload => window.postMessage({channel: 'mcp-default', type: 'mcp', direction: 'server-to-client', payload}, '*');
	addEventListener('message', ({data}) => {
		if (data?.direction !== 'client-to-server') return;
		if (data.payload === 'mcp-check-ready') return send('mcp-server-ready');
		const {id, method, params} = data.payload;
		const reply = result => send({jsonrpc: '2.0', id, result});
		if (method === 'initialize') reply({protocolVersion: '2025-06-18', capabilities: {tools: {listChanged: true}}, serverInfo: {name: 's', version: '1'}});
		if (method === 'tools/list') reply({tools: [{name: 'steps', inputSchema: {type: 'object'}}]});
		if (method === 'tools/call') {
			send({jsonrpc: '2.0', method: 'notifications/progress', params: {progressToken: params._meta.progressToken, progress: 1, total: 2, message: 'half'}});
			setTimeout(() => reply({content: [{type: 'text', text: 'all steps'}]}), 100);
		}
	});
	</script>`

func website(t testing.TB) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		page := shop
		if r.URL.Path == "/server" {
			page = server
		}
		_, _ = io.WriteString(w, page)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// browse starts a browser with the extension, whose hub is the one of this place.
func (p *place) browse() *chromium.Browser {
	p.t.Helper()
	return p.browseWith(chromium.Options{WebMCP: true})
}

// browseWith is browse for a browser with other options.
func (p *place) browseWith(opts chromium.Options) *chromium.Browser {
	p.t.Helper()
	dir := p.t.TempDir()
	if _, stderr, exit := p.run("extension", dir, "--hub", "ws://"+p.tabsAt()+"/tabs"); exit != 0 {
		p.t.Fatal(stderr)
	}
	opts.Extension = dir
	start := chromium.Shared
	if opts.Windows || opts.Dark {
		start = chromium.Start
	}
	b := start(p.t, opts)
	popup := b.Open("chrome-extension://" + b.ExtensionID + "/popup.html")
	// A page that loads earlier lacks the extension's script in the page's main world.
	popup.WaitFor("chrome.scripting.getRegisteredContentScripts().then((scripts) => scripts.length > 0)")
	popup.Close()
	return b
}

// A user's tools, from pages in a real browser to a client on pipes and back.
func TestRealBrowser(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := p.stdio()
	b := p.browse()
	url := website(t)
	page := b.Open(url + "/?1")
	list := c.awaitTools("the shop's tools are listed", func(l tools) bool { return len(l.names()) == 4 })
	buy := list.named("_buy")
	description := func() string {
		text, _ := rawjson.String(rawjson.Get(c.tools().find(buy), "description"))
		return text
	}
	bought := func(name string, n int) (at string) {
		t.Helper()
		a := c.call(name, fmt.Sprintf(`{"n":%d}`, n))
		if got := string(rawjson.Get(a.result, "structuredContent", "bought")); a.outcome() != "ok" || got != fmt.Sprint(n) {
			t.Errorf("%s: %s %s", name, a.outcome(), a.result)
		}
		at, _ = rawjson.String(rawjson.Get(a.result, "structuredContent", "at"))
		return at
	}

	t.Run("calls", func(t *testing.T) {
		awaitUntold(t, "the tab in front is the active one", page, func() bool {
			return strings.Contains(description(), "Active")
		})
		if text := description(); !strings.Contains(text, "Does buy") {
			t.Errorf("the description of %s: %s", buy, text)
		}
		bought(buy, 1)
		if got := c.call(buy, `{"n":"many"}`).outcome(); got != "INVALID_ARGUMENTS" {
			t.Errorf("buy with bad arguments: %s", got)
		}
		if a := c.call(list.named("_throws"), `{}`); a.outcome() == "ok" || !strings.Contains(string(a.result), "the cart is empty") {
			t.Errorf("a tool that throws: %s", a.result)
		}
		if a := c.call(list.named("_big"), `{"n":5242880}`); a.outcome() != "ok" || len(a.result) < 5<<20 {
			t.Errorf("a result of 5 MiB: %s, %d bytes", a.outcome(), len(a.result))
		}
	})

	t.Run("cancellation", func(t *testing.T) {
		waiting := c.begin("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, list.named("_wait")))
		page.WaitFor("runs['wait ']")
		c.mu.Lock()
		id := c.lastID
		c.mu.Unlock()
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"enough"}}`, id))
		page.WaitFor("document.title === 'cancelled'")
		select {
		case a := <-waiting:
			t.Errorf("a cancelled call was answered: %s %s", a.outcome(), a.err)
		default:
		}
	})

	// The user keeps the site, whose only tab is closed. A call opens it again.
	t.Run("closed tab", func(t *testing.T) {
		if _, diag, exit := p.run("site", strings.TrimPrefix(url, "http://"), "--cache", "on"); exit != 0 {
			t.Fatalf("tabhub site: %s", diag)
		}
		pace := b.Open("about:blank")
		page.Close()
		awaitUntold(t, "the site's tools are kept", pace, func() bool { return strings.Contains(description(), "Cached") })
		bought(buy, 7)
		var runs int
		b.AttachURL(url+"/?1").Into("runs['buy 7']", &runs)
		if runs != 1 {
			t.Errorf("the tab that was opened ran it %d times", runs)
		}
	})

	t.Run("two tabs", func(t *testing.T) {
		b.Open(url + "/?2")
		ofTab := func(name string) bool { return strings.HasSuffix(name, "_buy") && strings.Contains(name, "_tab") }
		var names []string
		c.awaitTools("both tabs' tools are listed", func(l tools) bool {
			names = slices.DeleteFunc(l.names(), func(name string) bool { return !ofTab(name) })
			return len(names) == 2
		})
		if one, other := bought(names[0], 2), bought(names[1], 2); min(one, other) != "?1" || max(one, other) != "?2" {
			t.Errorf("the tabs' own names led to %s and %s", one, other)
		}
	})

	t.Run("page with a server", func(t *testing.T) {
		b.Open(url + "/server")
		list := c.awaitTools("the server's tool is listed", func(l tools) bool { return l.named("_steps") != "" })
		a := c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{},"_meta":{"progressToken":"p"}}`, list.named("_steps")))
		if a.outcome() != "ok" || c.noticed("notifications/progress") != 1 {
			t.Errorf("steps: %s, %d notices of progress", a.outcome(), c.noticed("notifications/progress"))
		}
	})
}
