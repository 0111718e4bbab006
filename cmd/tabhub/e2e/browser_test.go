package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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
	b := chromium.Start(p.t, opts)
	popup := b.Open("chrome-extension://" + b.ExtensionID + "/popup.html")
	// A page that is loaded before lacks what the extension puts in the page's own world.
	popup.WaitFor("chrome.scripting.getRegisteredContentScripts().then((scripts) => scripts.length > 0)")
	popup.Close()
	return b
}

// A user's tools, from a page in a real browser to a client on pipes and back.
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
	awaitUntold(t, "the tab in front is the active one", page, func() bool {
		return strings.Contains(description(), "Active")
	})
	if text := description(); !strings.Contains(text, "Does buy") {
		t.Errorf("the description of %s: %s", buy, text)
	}
	a := c.call(buy, `{"n":1}`)
	if got := string(rawjson.Get(a.result, "structuredContent", "bought")); a.outcome() != "ok" || got != "1" {
		t.Errorf("buy: %s %s", a.outcome(), a.result)
	}
	if got := c.call(buy, `{"n":"many"}`).outcome(); got != "INVALID_ARGUMENTS" {
		t.Errorf("buy with bad arguments: %s", got)
	}
	if a := c.call(list.named("_throws"), `{}`); a.outcome() == "ok" || !strings.Contains(string(a.result), "the cart is empty") {
		t.Errorf("a tool that throws: %s", a.result)
	}
	if a := c.call(list.named("_big"), `{"n":5242880}`); a.outcome() != "ok" || len(a.result) < 5<<20 {
		t.Errorf("a result of 5 MiB: %s, %d bytes", a.outcome(), len(a.result))
	}
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

	b.Open(url + "/server")
	list = c.awaitTools("the server's tool is listed", func(l tools) bool { return l.named("_steps") != "" })
	a = c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{},"_meta":{"progressToken":"p"}}`, list.named("_steps")))
	if a.outcome() != "ok" || c.noticed("notifications/progress") != 1 {
		t.Errorf("steps: %s, %d notices of progress", a.outcome(), c.noticed("notifications/progress"))
	}

	// A second tab of the site, and one in a second browser.
	b.Open(url + "/?2")
	p.browse().Open(url + "/?3")
	list = c.awaitTools("three tabs' tools are listed", func(l tools) bool {
		return l.named("_tab1_buy") != "" && len(tabsOf(l, "_buy")) == 3
	})
	seen := map[string]bool{}
	for _, name := range tabsOf(list, "_buy") {
		a := c.call(name, `{"n":2}`)
		at, _ := rawjson.String(rawjson.Get(a.result, "structuredContent", "at"))
		seen[at] = true
	}
	if !seen["?1"] || !seen["?2"] || !seen["?3"] {
		t.Errorf("the tabs' own names led to %v", seen)
	}
}

// tabsOf returns the names of single tabs that end so.
func tabsOf(l tools, suffix string) []string {
	return slices.DeleteFunc(l.names(), func(name string) bool {
		return !strings.HasSuffix(name, suffix) || !strings.Contains(name, "_tab")
	})
}

// A site that the user keeps can be called with all its tabs closed.
func TestClosedTabIsOpenedAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := p.stdio()
	b := p.browse()
	url := website(t)
	page := b.Open(url + "/?1")
	c.awaitTools("the shop's tools are listed", func(l tools) bool { return len(l.names()) == 4 })
	domain := strings.TrimPrefix(url, "http://")
	if _, diag, exit := p.run("site", domain, "--cache", "on"); exit != 0 {
		t.Fatalf("tabhub site: %s", diag)
	}
	pace := b.Open("about:blank")
	page.Close()
	var list tools
	awaitUntold(t, "the site's tools are kept", pace, func() bool {
		list = c.tools()
		return strings.Contains(string(list.find(list.named("_buy"))), "Cached")
	})
	if a := c.call(list.named("_buy"), `{"n":7}`); a.outcome() != "ok" {
		t.Errorf("a call with the tab closed: %s %s", a.outcome(), a.result)
	}
	var runs int
	b.AttachURL(url+"/?1").Into("runs['buy 7']", &runs)
	if runs != 1 {
		t.Errorf("the tab that was opened ran it %d times", runs)
	}
}

// A tab that the browser puts to sleep has its tools, under the same names, also for a hub that is
// started then. A call wakes it, and opens no other.
func TestTabAsleepIsWoken(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := p.stdio()
	b := p.browse()
	w := b.Worker()
	defer w.Close()
	url := website(t)
	w.Eval(fmt.Sprintf(`void chrome.tabs.create({url: %q, active: false})`, url+"/?1"))
	before := c.awaitTools("the shop's tools are listed", func(l tools) bool { return len(l.names()) == 4 })
	if _, diag, exit := p.run("site", strings.TrimPrefix(url, "http://"), "--cache", "on"); exit != 0 {
		t.Fatalf("tabhub site: %s", diag)
	}
	w.Eval(fmt.Sprintf(`chrome.tabs.query({url: %q}).then(([{id}]) => chrome.tabs.discard(id)).then(() => {})`, url+"/*"))
	for _, restarted := range []bool{false, true} {
		if restarted {
			p.kill()
		}
		var list tools
		awaitUntold(t, "the tab sleeps", w, func() bool {
			list = c.tools()
			return strings.Contains(string(list.find(list.named("_buy"))), "Asleep")
		})
		if !slices.Equal(list.names(), before.names()) {
			t.Errorf("asleep the names are %q, and were %q", list.names(), before.names())
		}
	}
	name := strings.TrimSuffix(before.named("_buy"), "_buy") + "_tab1_buy"
	a := c.call(strings.Replace(name, "__tab1", "_tab1", 1), `{"n":7}`)
	if at, _ := rawjson.String(rawjson.Get(a.result, "structuredContent", "at")); a.outcome() != "ok" || at != "?1" {
		t.Errorf("a call of the tab's own name: %s %s %s", a.outcome(), a.result, a.err)
	}
	var open int
	w.Into(fmt.Sprintf(`chrome.tabs.query({url: %q}).then((tabs) => tabs.length)`, url+"/*"), &open)
	if open != 1 {
		t.Errorf("%d tabs of the site are open", open)
	}
}

// A hub that is killed under calls to a real page: it comes back, so does the browser,
// and the page has run nothing twice.
func TestHubKilledUnderBrowser(t *testing.T) {
	t.Parallel()
	const calls, inFlight, killAt = 300, 16, 100
	p := newPlace(t)
	c := p.stdio()
	page := p.browse().Open(website(t))
	before := c.awaitTools("the shop's tools are listed", func(l tools) bool { return len(l.names()) == 4 })
	buy := before.named("_buy")
	// One call at least is under way when the hub dies.
	waiting := c.begin("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, before.named("_wait")))
	page.WaitFor("runs['wait ']")
	outcomes := make([]string, calls)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range inFlight {
		workers.Go(func() {
			for n := int(next.Add(1)) - 1; n < calls; n = int(next.Add(1)) - 1 {
				if n == killAt {
					p.kill()
				}
				outcomes[n] = c.call(buy, fmt.Sprintf(`{"n":%d}`, n)).outcome()
				if outcomes[n] != "ok" {
					// The browser needs a moment; so does whoever asks again.
					c.awaitTools("the shop is back", func(l tools) bool { return l.named("_buy") != "" })
				}
			}
		})
	}
	workers.Wait()
	after := c.awaitTools("the shop is back", func(l tools) bool { return len(l.names()) == 4 })
	if !slices.Equal(after.names(), before.names()) {
		t.Errorf("the names were %q, and are %q", before.names(), after.names())
	}
	runs := map[string]int{}
	page.Into("runs", &runs)
	bad := 0
	for n, got := range outcomes {
		ran := runs["buy "+strconv.Itoa(n)]
		switch {
		case got == "ok" && ran == 1:
		case slices.Contains(lost, got) && ran <= 1:
			bad++
		default:
			t.Errorf("call %d: %s, and the page ran it %d times", n, got, ran)
		}
	}
	if bad > 2*inFlight {
		t.Errorf("%d calls were lost", bad)
	}
	if got := c.wait("the call that does not end", waiting).outcome(); !slices.Contains(lost, got) || runs["wait "] != 1 {
		t.Errorf("the call that does not end: %s, and the page ran it %d times", got, runs["wait "])
	}
	t.Logf("%d of %d calls were lost", bad, calls)
	if got := c.call(buy, `{"n":1000}`).outcome(); got != "ok" {
		t.Errorf("a call afterwards: %s", got)
	}
}
