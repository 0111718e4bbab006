package pages_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"tabhub/hub/lists"
	"tabhub/hub/state"
	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/tabtest/chromium"
)

// extended starts a browser whose companion extension has joined the hub.
func (s *site) extended(opts chromium.Options) *chromium.Browser {
	s.t.Helper()
	opts.Extension = s.t.TempDir()
	if _, err := extension.Write(opts.Extension, s.pairings.Ring, "ws://"+s.addr+"/tabs"); err != nil {
		s.t.Fatal(err)
	}
	b := chromium.Shared(s.t, opts)
	s.awaitExtension()
	return b
}

func (s *site) awaitExtension() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), chromium.Timeout)
	defer cancel()
	if _, err := s.hub.AwaitPeer(ctx, func(b state.BrowserInfo) bool { return b.Connected && !b.Single }); err != nil {
		s.t.Fatalf("the extension joins: %v", err)
	}
}

// tabsBy lists the connected tabs that have tools, by what has connected them, and with how many:
// "extension 7", "page 5".
func (s *site) tabsBy() []string {
	var out []string
	for _, tab := range s.hub.Tabs(nil) {
		tools := 0
		for _, d := range tab.Domains {
			tools += d.Tools
		}
		if !tab.Connected || tools == 0 {
			continue
		}
		by := "page"
		if strings.HasPrefix(string(tab.Addr.Peer), "browser:") {
			by = "extension"
		}
		out = append(out, fmt.Sprint(by, " ", tools))
	}
	slices.Sort(out)
	return out
}

func (s *site) awaitTabs(what string, want ...string) {
	s.t.Helper()
	s.await(fmt.Sprintf("%s: %v", what, want), func() bool { return slices.Equal(s.tabsBy(), want) })
}

// site switches a site on or off in the extension, as its popup does.
func (s *site) switchSite(b *chromium.Browser, origin string, on bool) {
	s.t.Helper()
	s.tellExtension(b, fmt.Sprintf(`{ask: "site", origin: %q, on: %v}`, origin, on))
}

// tellExtension sends the extension what its own pages send.
func (s *site) tellExtension(b *chromium.Browser, request string) {
	s.t.Helper()
	options := b.Open("chrome-extension://" + b.ExtensionID + "/options.html")
	options.Eval(`chrome.runtime.sendMessage(` + request + `)`)
	options.Close()
}

// A user who has the extension and opens the demo sees it once, with all that it has.
func TestConnectedByTheExtension(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.extended(chromium.Options{})
	page := b.Open(s.url("/demo"))
	s.awaitTabs("one tab", "extension 7")
	page.WaitFor(`tabhub.status.by === "extension" && tabhub.status.tools === 7 && tabhub.status.resources === 3 && tabhub.status.prompts === 1`)
	page.WaitFor(`document.querySelector("#hub-state").textContent.includes("by the companion extension")`)

	if r := s.call("add_to_cart", `{"productId":6,"quantity":2}`); r.IsError {
		t.Errorf("add_to_cart: %+v", r)
	}
	page.WaitFor(`document.querySelector("#cart").textContent.includes("2 × Fountain pen")`)
	s.useDemo(page)

	cart := ""
	for _, it := range s.hub.Lists.List(lists.ListResources).Items {
		if strings.HasSuffix(it.Name, "cart") {
			cart = it.Name
		}
	}
	updated := make(chan string, 10)
	defer s.hub.Lists.Watch(func(c lists.Change) {
		for _, u := range c.Updated {
			updated <- u
		}
	})()
	stop, err := s.hub.Calls.SubscribeResource(t.Context(), tester, cart)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	s.call("add_to_cart", `{"productId":1}`)
	if got := <-updated; got != cart {
		t.Errorf("updated %s, want %s", got, cart)
	}

	number := s.numbers()
	page.Reload()
	page.WaitFor(`tabhub.status.by === "extension" && tabhub.status.tools === 7`)
	s.awaitTabs("reloaded", "extension 7")
	s.awaitNumbers("reloaded", number...)
	if len(number) != 1 {
		t.Errorf("the tabs' numbers are %v, want one", number)
	}
}

// The page serves itself where the extension does not, and is one tab all the time: the
// user switches the site off and on, sets the extension to another hub and back, and a
// call under way gets its answer on the path that it came.
func TestConnectedWhereTheExtensionServes(t *testing.T) {
	t.Parallel()
	s, elsewhere := newSite(t), newSite(t)
	b := s.extended(chromium.Options{})
	url := s.host(`<script src="http://HUB/tab.js"></script><script>
		let runs = 0, finish;
		tabhub.registerTool({name: "wait", description: "d", execute: () => { runs++; return new Promise(done => finish = done) }});
	</script>`, "")
	page := b.Open(url)
	origin := strings.TrimSuffix(url, "/")
	s.awaitTabs("at first", "extension 1")
	extensionNumber := s.numbers()
	runs := 0
	// under runs a call, does what changes the path, and sees the call answered once.
	under := func(what string, change func()) {
		t.Helper()
		runs++
		done := make(chan reply, 1)
		name := s.name("wait")
		go func() { done <- s.send(t.Context(), name, `{}`, nil) }()
		page.WaitFor(fmt.Sprintf("runs === %d", runs))
		change()
		page.Eval(fmt.Sprintf(`void finish("answer %d")`, runs))
		if r := <-done; r.IsError || r.text() != fmt.Sprint("answer ", runs) {
			t.Errorf("%s: the call was answered with %+v", what, r)
		}
		if got := page.Eval("runs"); got != fmt.Sprint(runs) {
			t.Errorf("%s: the tool ran %s times for %d calls", what, got, runs)
		}
	}

	under("switched off", func() {
		s.switchSite(b, origin, false)
		s.awaitTabs("switched off", "page 1")
	})
	pageNumber := s.numbers()
	page.WaitFor(`tabhub.status.by === "page" && tabhub.status.state === "open" && tabhub.status.tools === 1`)
	under("switched on", func() {
		s.switchSite(b, origin, true)
		s.awaitTabs("switched on", "extension 1")
	})
	s.awaitNumbers("switched on", extensionNumber...)
	s.await("the page's own tab is closed", func() bool { return len(s.hub.Tabs(nil)) == 1 })

	_, port, _ := net.SplitHostPort(s.addr)
	s.tellExtension(b, `{ask: "save", settings: {hub: "ws://localhost:`+port+`/tabs"}}`)
	s.awaitTabs("by another name of the hub", "extension 1")

	s.tellExtension(b, `{ask: "save", settings: {hub: "ws://`+elsewhere.addr+`/tabs"}}`)
	s.awaitTabs("the extension is with another hub", "page 1")
	s.awaitNumbers("the extension is with another hub", pageNumber...)
	elsewhere.awaitTabs("the other hub has nothing of the page")
	s.tellExtension(b, `{ask: "save", settings: {hub: "ws://`+s.addr+`/tabs"}}`)
	s.awaitTabs("the extension is back", "extension 1")
	s.awaitNumbers("the extension is back", extensionNumber...)

	s.tellExtension(b, `{ask: "save", settings: {mode: "allowed"}}`)
	s.awaitTabs("the site is not allowed", "page 1")
	s.tellExtension(b, `{ask: "save", settings: {mode: "all"}}`)
	s.awaitTabs("all sites are allowed", "extension 1")
	s.lockedOut.Store(true)
	s.tellExtension(b, `{ask: "reconnect"}`)
	s.awaitTabs("the hub refuses the extension", "page 1")
	s.lockedOut.Store(false)
	s.tellExtension(b, `{ask: "reconnect"}`)
	s.awaitTabs("the hub takes the extension again", "extension 1")
	under("at last", func() {})
}

// A script that takes the page and does not serve it, or says what no extension says, costs
// the page a moment.
func TestPretendedExtensions(t *testing.T) {
	t.Parallel()
	for name, pretend := range map[string]string{
		"silent":   `e.preventDefault()`,
		"mumbling": `e.preventDefault(); const port = e.ports[0]; for (const m of [null, 1, {}, {frame: "{"}, {frame: "[]"}, {open: true}, {frame: 'null'}]) port.postMessage(m)`,
		"refusing": `e.preventDefault(); const port = e.ports[0]; port.onmessage = ({data}) => port.postMessage({code: 4100}); port.postMessage({open: true})`,
		"leaving": `e.preventDefault(); const port = e.ports[0]; port.postMessage({open: true}); port.onmessage = ({data}) => {
			const send = (m) => port.postMessage({frame: JSON.stringify({jsonrpc: "2.0", ...m})});
			const {id, method} = JSON.parse(data.frame ?? "{}");
			if (method === "browser/hello") send({id, result: {}});
			else { send({method: "tabhub/carried", params: {tools: "x", rejected: 7}}); send({method: "tabhub/leave"}) } }`,
		"a crowd": `e.preventDefault(); e.ports[0].close(); for (let i = 0; i < 5; i++) setTimeout(() => dispatchEvent(new Event("tabhub-extension")))`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			url := s.host(`<script>addEventListener("tabhub-page", (e) => { `+pretend+` })</script><script src="http://HUB/tab.js"></script><script>
				let runs = 0;
				tabhub.registerTool({name: "mine", description: "d", execute: () => ++runs});
			</script>`, "")
			page := chromium.Shared(t, chromium.Options{}).Open(url)
			if r := s.call("mine", `{}`); r.text() != "1" {
				t.Errorf("reply %+v", r)
			}
			page.WaitFor(`tabhub.status.by === "page" && tabhub.status.state === "open" && tabhub.status.tools === 1`)
		})
	}
}

// The extension's tab and the hub survive what happens to either.
func TestConnectedThroughRestarts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.extended(chromium.Options{})
	page := b.Open(s.url("/demo"))
	s.awaitTabs("opened", "extension 7")
	number := s.numbers()

	b.StopWorker()
	if r := s.call("search_products", `{}`); r.IsError {
		t.Errorf("after the worker was stopped: %+v", r)
	}
	s.stop()
	page.WaitFor(`tabhub.status.state === "waiting" && tabhub.status.by === "extension"`)
	s.start()
	s.awaitTabs("after a restart of the hub", "extension 7")
	s.awaitNumbers("after a restart of the hub", number...)
	page.WaitFor(`tabhub.status.state === "open"`)

	page.Eval("void (window.kept = true)")
	elsewhere := s.host("<p>nothing here", "")
	page.Navigate(elsewhere)
	s.awaitTabs("away")
	page.Eval("void setTimeout(() => history.back())")
	s.awaitTabs("back", "extension 7")
	s.awaitNumbers("back", number...)
	if page.Eval("window.kept === true") != "true" {
		t.Log("this browser did not keep the page")
	}
	if r := s.call("search_products", `{}`); r.IsError {
		t.Errorf("a call after going back: %+v", r)
	}
}

// The extension comes and goes while the page is open.
func TestExtensionComesAndGoes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := chromium.Shared(t, chromium.Options{})
	page := b.Open(s.url("/demo"))
	s.awaitTabs("without the extension", "page 7")
	dir := t.TempDir()
	if _, err := extension.Write(dir, s.pairings.Ring, "ws://"+s.addr+"/tabs"); err != nil {
		t.Fatal(err)
	}
	b.Load(dir)
	s.awaitTabs("installed", "extension 7")
	s.await("the page's own tab is closed", func() bool { return len(s.hub.Tabs(nil)) == 1 })
	number := s.numbers()
	joined := s.hub.Browsers(nil)[0].ConnectedAt
	b.Load(dir)
	s.await("the new one joins", func() bool {
		for _, browser := range s.hub.Browsers(nil) {
			if browser.Connected && browser.ConnectedAt.After(joined) {
				return true
			}
		}
		return false
	})
	page.WaitFor(`tabhub.status.by === "extension"`)
	s.awaitTabs("updated", "extension 7")
	s.awaitNumbers("updated", number...)
	if r := s.call("search_products", `{}`); r.IsError {
		t.Errorf("a call after the update: %+v", r)
	}
	management := b.Open("chrome-extension://" + b.ExtensionID + "/options.html")
	management.Eval(`void setTimeout(() => chrome.management.uninstallSelf())`)
	page.WaitFor(`tabhub.status.by === "page" && tabhub.status.state === "open"`)
	s.awaitTabs("removed", "page 7")
}

// The author of a page reads in its console what the hub has left out of it, whatever connects the page:
// once, and what is a frame's only from that frame.
func TestConsole(t *testing.T) {
	t.Parallel()
	const script = `<script src="http://HUB/tab.js"></script>`
	body := `<script>
		const offer = (name, inputSchema) => (globalThis.tabhub ?? document.modelContext).registerTool({name, description: "d", inputSchema, execute: () => 1});
		if (location.search) {` + chromium.InFrame(`offer("framed", {type: "object", properties: {a: {type: "strin"}}})`) + `}
		else {
			offer("zod", {def: {type: "object", shape: {}}, type: "object"});
			globalThis.tabhub?.registerResource({uriTemplate: "bad:{", name: "n", read: () => 1});
			document.write('<iframe src="?framed"></iframe>');
		}
	</script>`
	want := []string{
		"tabhub: of tool framed, a part is left out or listed otherwise: inputSchema: /properties/a/type: strin is no type",
		"tabhub: of tool zod, a part is left out or listed otherwise: inputSchema: it looks like a schema of Zod: give z.toJSONSchema(schema)",
		"tabhub: resource bad:{ is not offered: uriTemplate is not an RFC 6570 template",
	}
	for _, c := range []struct {
		name, body string
		extended   bool
		want       []string
	}{
		{"by the page", script + body, false, want},
		{"by the extension", body, true, want[:2]},
		{"by both", script + body, true, want},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			var b *chromium.Browser
			if c.extended {
				b = s.extended(chromium.Options{WebMCP: true})
			} else {
				b = chromium.Shared(t, chromium.Options{})
			}
			page := b.Open("about:blank")
			next := page.Warnings()
			page.Navigate(s.host(c.body, ""))
			var got []string
			for range c.want {
				got = append(got, next())
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("the console says %q", got)
			}
			page.Eval(`void offer("late", {type: "object", properties: {a: 5}})`)
			if got := next(); !strings.Contains(got, "of tool late") {
				t.Errorf("then it says %q", got)
			}
		})
	}
}

// A tool of a frame belongs to the frame's site, and the frame to the tab around it.
// What a page gives to tabhub goes before what the browser has of the same name, and
// the rest is the extension's to find.
func TestConnectedFrames(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	frame := s.host(`<script src="http://HUB/tab.js"></script><script>
		tabhub.registerTool({name: "theirs", description: "d", execute: () => location.origin});
		document.modelContext.registerTool({name: "native_theirs", description: "d", execute: () => location.origin});
	</script>`, "")
	url := s.host(`<script src="http://HUB/tab.js"></script><script>
		const runs = [];
		tabhub.registerTool({name: "mine", description: "d", execute: () => { throw new Error("mine fails at " + location.origin) }});
		tabhub.registerTool({name: "both", description: "d", execute: () => { runs.push("tabhub"); return {from: "tabhub"} }});
		document.modelContext.registerTool({name: "both", description: "d", execute: () => { runs.push("browser"); return "browser" }});
		document.modelContext.registerTool({name: "native", description: "d", execute: () => "by the browser"});
		tabhub.registerResource({uriTemplate: "bad:{", name: "n", read: () => 1});
	</script><iframe allow="tools" src="`+frame+`"></iframe>`, "")
	b := s.extended(chromium.Options{WebMCP: true})
	page := b.Open(url)
	s.awaitTabs("one tab", "extension 5")
	page.WaitFor(`tabhub.status.rejected.length === 1 && tabhub.status.rejected[0].name === "bad:{"`)
	for tool, want := range map[string]string{
		"mine": "mine fails at " + strings.TrimSuffix(url, "/"), "both": `{"from":"tabhub"}`, "native": "by the browser",
		"theirs": strings.TrimSuffix(frame, "/"), "native_theirs": strings.TrimSuffix(frame, "/"),
	} {
		if r := s.call(tool, `{}`); r.text() != want && !strings.Contains(r.text(), want) || r.IsError != (tool == "mine") {
			t.Errorf("%s: %+v, want %q", tool, r, want)
		}
	}
	if got := page.Eval("runs.join()"); got != `"tabhub"` {
		t.Errorf("the tool that is registered twice ran as %s", got)
	}
	for _, it := range s.hub.Lists.List(lists.ListTools).Items {
		at := strings.TrimSuffix(strings.TrimPrefix(map[bool]string{true: frame, false: url}[strings.HasSuffix(it.Source, "theirs")], "http://"), "/")
		if string(it.Domain) != at {
			t.Errorf("%s is a tool of %s, want %s", it.Source, it.Domain, at)
		}
	}
	page.Eval(`void tabhub.registerTool({name: "late", description: "d", execute: () => "late"})`)
	if r := s.call("late", `{}`); r.text() != "late" {
		t.Errorf("late: %+v", r)
	}
}

// A page whose policy forbids it a connection needs no widget where there is the
// extension.
func TestEmbedWithTheExtension(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.extended(chromium.Options{})
	page := b.Open(s.host(`<body><script src="http://HUB/embed.js"></script>`+offerOne, "default-src 'none'; script-src http://HUB 'unsafe-inline'; frame-src http://HUB"))
	s.awaitTabs("one tab", "extension 1")
	if r := s.call("here", `{}`); !strings.HasPrefix(r.text(), "origin http://") {
		t.Errorf("reply %+v", r)
	}
	page.WaitFor(`tabhub.status.by === "extension"`)
}
