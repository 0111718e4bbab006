package pages_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tabhub/hub/call"
	"tabhub/hub/hubtest"
	"tabhub/hub/pages"
	"tabhub/hub/state"
	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/tabtest/chromium"
)

// standard is a page of the standard's API alone, forms included.
const standard = `
	<form toolname="order" tooldescription="Order something" toolautosubmit><input name="what" toolparamdescription="What to order"></form>
	<script>
		document.forms[0].addEventListener("submit", (e) => { e.preventDefault(); e.respondWith(Promise.resolve((e.agentInvoked ? "the model ordered " : "ordered ") + new FormData(e.target).get("what"))) });
		const tool = (name, execute, more) => document.modelContext.registerTool({name, description: "d of " + name, execute, ...more});
		let runs = 0;
		tool("add", async ({a, b}, {signal}) => { runs++; return {sum: a + b} }, {title: "Add", annotations: {readOnlyHint: true},
			inputSchema: {type: "object", properties: {a: {type: "number"}, b: {type: "number"}}, required: ["a", "b"]}});
		tool("fails", async () => { throw new Error("out of stock") });
		const gone = new AbortController();
		document.modelContext.registerTool({name: "gone", description: "d", execute: () => 1}, {signal: gone.signal});
		gone.abort();
		addEventListener("load", () => setTimeout(() => {
			const form = document.createElement("form");
			form.innerHTML = "<input name=q>";
			form.setAttribute("toolname", "late");
			form.setAttribute("tooldescription", "Comes late");
			form.toggleAttribute("toolautosubmit");
			form.addEventListener("submit", (e) => { e.preventDefault(); e.respondWith(Promise.resolve("late")) });
			document.body.append(form);
		}, 100));
	</script>`

// A page of the standard works in a browser that has none as in one that has it, whatever brings it.
func TestStandardAPI(t *testing.T) {
	t.Parallel()
	const script = `<script src="http://HUB/tab.js"></script>`
	for _, c := range chromium.Rows(3, []struct {
		name              string
		native, extension bool
		body              string
	}{
		{"the script's", false, false, script + standard},
		{"the extension's", false, true, script + standard},
		{"the browser's, with the extension", true, true, script + standard},
		{"the script's, loaded by a module", false, false, `<script type="module">import "http://HUB/tab.js"</script>` + strings.Replace(standard, "<script>", `<script type="module">`, 1)},
		{"the browser's", true, false, script + standard},
		{"the extension's, with a module", false, true, `<script type="module">import "http://HUB/tab.js"</script>` + standard},
	}...) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			var b *chromium.Browser
			by := "page 4"
			if c.extension {
				b = s.extended(chromium.Options{WebMCP: c.native})
				by = "extension 4"
			} else {
				b = chromium.Shared(t, chromium.Options{WebMCP: c.native})
			}
			page := b.Open(s.host(c.body, ""))
			s.awaitTabs("one tab", by)
			if got := page.Eval("tabhub.status.by"); !strings.Contains(by, strings.Trim(got, `"`)) {
				t.Errorf("the page says that it is connected by %s", got)
			}
			item, err := s.hub.Lists.Find("tool", s.name("add"))
			for _, want := range []string{`"title":"Add"`, `"required":["a","b"]`, `"readOnlyHint":true`} {
				if err != nil || !strings.Contains(string(item.JSON), want) {
					t.Errorf("add lost %s: %s %v", want, item.JSON, err)
				}
			}
			raw, err := s.hub.Calls.Call(t.Context(), call.Request{By: tester, Name: s.name("add"), Args: []byte(`{"a":2,"b":3}`)})
			if err != nil || hubtest.Said(raw) != `{"content":[{"type":"text","text":"{\"sum\":5}"}],"structuredContent":{"sum":5}}` {
				t.Errorf("add: %s %v", raw, err)
			}
			for tool, want := range map[string]string{"order": "the model ordered tea", "late": "late"} {
				if r := s.call(tool, map[string]string{"order": `{"what":"tea"}`, "late": `{"q":"x"}`}[tool]); r.IsError || r.text() != want {
					t.Errorf("%s: %+v, want %q", tool, r, want)
				}
			}
			if r := s.call("fails", `{}`); !r.IsError || !strings.Contains(r.text(), "out of stock") {
				t.Errorf("fails: %+v", r)
			}
		})
	}
}

// A page without TLS of another machine, where no browser has the API, has it all the same.
func TestStandardAPIWithoutTLS(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	url := s.savedAt(ownAddress(t), `<body><script src="/tab.js"></script>`+standard)
	use := func(b *chromium.Browser) {
		page := b.Open(url)
		if got := page.Eval("isSecureContext"); got != "false" {
			t.Fatalf("isSecureContext: %s", got)
		}
		page.WaitFor(`document.modelContext.getTools().then(tools => tools.length === 4)`)
		page.Eval(`document.modelContext.getTools().then(tools => document.modelContext.executeTool(tools.find(({name}) => name === "add"), {a: 1, b: 2}))`)
		page.WaitFor("runs === 1")
	}
	use(chromium.Shared(t, chromium.Options{WebMCP: true}))
	// The browser lets no such page connect to this machine; the extension may.
	use(s.extended(chromium.Options{WebMCP: true}))
	s.awaitTabs("one tab", "extension 4")
	if r := s.call("fails", `{}`); !r.IsError || !strings.Contains(r.text(), "out of stock") {
		t.Errorf("fails: %+v", r)
	}
	if r := s.call("order", `{"what":"tea"}`); r.IsError || r.text() != "the model ordered tea" {
		t.Errorf("order: %+v", r)
	}
}

// ownAddress is an address of this machine that no browser takes for it.
func ownAddress(t *testing.T) string {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range addrs {
		if ip, ok := addr.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			return ip.IP.String()
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("this machine has no address but loopback ones")
	}
	t.Skip("this machine has no address but loopback ones")
	return ""
}

// A library that comes after the script has the page's word, and its tools are offered once.
func TestLibraryAfterTheScript(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := chromium.Shared(t, chromium.Options{}).Open(s.host(`<script src="http://HUB/tab.js"></script><script>
		document.modelContext.registerTool({name: "mine", description: "d", execute: async () => "given"});
		const all = [{name: "theirs", description: "d", inputSchema: "{}"}, {name: "mine", description: "d", inputSchema: "{}"}];
		document.modelContext = {getTools: async () => all, executeTool: async ({name}, input) => { JSON.parse(input); return "library" }};
	</script>`, ""))
	s.await("both", func() bool { return len(s.names()) == 2 })
	for tool, want := range map[string]string{"mine": "given", "theirs": "library"} {
		if r := s.call(tool, `{}`); r.text() != want {
			t.Errorf("%s: %+v, want %q", tool, r, want)
		}
	}
	if got := page.Eval("document.modelContext.getTools().then(tools => tools.length)"); got != "2" {
		t.Errorf("the page's modelContext lists %s tools", got)
	}
}

// What a page does not use costs it nothing: the API is made at the first touch.
func TestAPIIsMadeAtTheFirstTouch(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := chromium.Shared(t, chromium.Options{}).Open(s.host(`<script>
		const made = [], {defineProperty} = Object;
		Object.defineProperty = (object, name, how) => { if (name === "modelContext") made.push(how.get); return defineProperty(object, name, how) };
	</script><script src="http://HUB/tab.js"></script><form><input name="x"></form><script>
		tabhub.registerTool({name: "own", description: "d", execute: () => made.length});
	</script>`, ""))
	if r := s.call("own", `{}`); r.text() != "1" {
		t.Errorf("before the first touch there are %s getters", r.text())
	}
	page.Eval("void document.modelContext.registerTool({name: 'add', description: 'd', execute: () => 1})")
	s.name("add")
	if r := s.call("own", `{}`); r.text() != "2" {
		t.Errorf("after it there are %s getters", r.text())
	}
}

// saved serves a page beside a copy of the hub's script, as a server of its own or a bundler does.
func (s *site) saved(body string) string { return s.savedAt("127.0.0.1", body) }

func (s *site) savedAt(host, body string) string {
	s.t.Helper()
	script := s.script()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/tab.js" || r.URL.Path == "/bundle.js" {
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, script)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><title>Somebody’s page</title>", strings.ReplaceAll(body, "HUB", s.addr))
	}))
	srv.Listener.Close()
	var err error
	if srv.Listener, err = net.Listen("tcp", net.JoinHostPort(host, "0")); err != nil {
		s.t.Fatal(err)
	}
	srv.Start()
	s.t.Cleanup(srv.Close)
	return srv.URL + "/"
}

// script is the hub's /tab.js.
func (s *site) script() string {
	s.t.Helper()
	resp, err := http.Get(s.url("/tab.js"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// A copy of the script works without a hub, and joins the one that it is of when that comes: as a
// script, a module, part of a bundle. With the extension the page is one tab.
func TestSavedCopy(t *testing.T) {
	t.Parallel()
	const use = `<script>let count = 0</script><script MODULE>document.body.append("shown"); document.modelContext.registerTool({name: "add", description: "d", execute: () => ++count})</script>`
	bodies := map[string]string{
		"script": `<body><script src="/tab.js"></script>` + strings.ReplaceAll(use, "MODULE", ""),
		"module": `<body><script type="module" src="/bundle.js"></script>` + strings.ReplaceAll(use, "MODULE", `type="module"`),
	}
	for name, body := range bodies {
		for _, extended := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, extension=%v", name, extended), func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				url := s.saved(body)
				var b *chromium.Browser
				by := "page 1"
				if extended {
					b, by = s.extended(chromium.Options{}), "extension 1"
				} else {
					b = chromium.Shared(t, chromium.Options{})
				}
				s.stop()
				page := b.Open(url)
				page.WaitFor(`document.body.innerText.includes("shown")`)
				page.Eval(`document.modelContext.getTools().then(tools => document.modelContext.executeTool(tools[0], {}))`)
				page.WaitFor(`count === 1`)
				s.start()
				s.awaitTabs("the hub has come", by)
				if r := s.call("add", `{}`); r.text() != "2" {
					t.Errorf("add: %+v", r)
				}
			})
		}
	}
}

// The script holds the address of the hub as the client of the request knows it, quoted.
func TestScriptHoldsTheAddress(t *testing.T) {
	etags := map[string]bool{}
	for _, origin := range []string{"http://127.0.0.1:3300", "https://hub.example", `http://"+alert(1)+"</script>`} {
		h := pages.Handler(func(*http.Request) string { return origin })
		for _, path := range []string{"/tab.js", "/embed.js"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			body := w.Body.String()
			if strings.Contains(body, `"{hub}"`) || strings.Contains(body, "</script>") {
				t.Errorf("%s for %s is not quoted", path, origin)
			}
			if !strings.Contains(origin, "alert") && !strings.Contains(body, `HUB = "`+origin+`";`) {
				t.Errorf("%s does not hold %s", path, origin)
			}
			etags[w.Header().Get("ETag")] = true
		}
	}
	if len(etags) != 6 {
		t.Errorf("six bodies have %d tags", len(etags))
	}
}

// A page that no hub answers works, says so once, also where one has gone, and says what to do: nothing
// else on this machine, on another site what the hub needs, in a file to serve it, as no flag of the hub
// helps.
func TestNoHubIsToldOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const body = `<body><script>const said = []; for (const how of ["warn", "error"]) console[how] = (...a) => said.push(a.join(" "))</script>
		SCRIPT<script>
		let tries = 0;
		tabhub.addEventListener("status", () => tabhub.status.state === "connecting" && tries++);
		document.modelContext.registerTool({name: "add", description: "d", execute: () => 1});
		</script>`
	copied := strings.Replace(body, "SCRIPT", `<script src="/tab.js"></script>`, 1)
	here, elsewhere := s.saved(copied), s.savedAt(ownAddress(t), copied)
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte("<!doctype html>"+strings.Replace(body, "SCRIPT", "<script>"+s.script()+"</script>", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	b := chromium.Shared(t, chromium.Options{})
	before := b.Open(here)
	s.name("add")
	s.stop()
	answer := "No hub answers at http://" + s.addr
	for _, c := range []struct {
		page *chromium.Page
		says []string
		not  string
	}{
		{before, []string{answer}, "allow-origin"},
		{b.Open(here), []string{answer}, "allow-origin"},
		{b.Open(elsewhere), []string{answer, "--allow-origin " + strings.TrimSuffix(elsewhere, "/")}, "serve its directory"},
		{b.Open("file://" + file), []string{answer, "serve its directory"}, "allow-origin"},
	} {
		c.page.Front()
		c.page.WaitFor("tries >= 3 && said.length > 0") // of which the first may have been answered
		var said []string
		c.page.Into("said", &said)
		if len(said) != 1 {
			t.Fatalf("it says %q, want %q", said, c.says)
		}
		for _, part := range c.says {
			if !strings.Contains(said[0], part) || strings.Contains(said[0], c.not) {
				t.Errorf("it says %q, want %q and not %q", said, c.says, c.not)
			}
		}
	}
	s.start()
}

// An extension that comes to an open page offers what the page has given to the script's API, a form
// that waits for the person included; the page has no other until it is loaded again.
func TestStandardAPIMovesToTheExtension(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := chromium.Shared(t, chromium.Options{})
	page := b.Open(s.host(`<script src="http://HUB/tab.js"></script>`+standard+`<form toolname="book" tooldescription="Books a table"><input name="who"><button>Book</button></form>
		<script>document.forms[1].addEventListener("submit", (e) => { e.preventDefault(); e.respondWith(Promise.resolve("booked for " + e.target.who.value)) })</script>`, ""))
	s.awaitTabs("by the script", "page 5")
	dir := t.TempDir()
	if _, err := extension.Write(dir, s.pairings.Ring, "ws://"+s.addr+"/tabs"); err != nil {
		t.Fatal(err)
	}
	b.Load(dir)
	s.awaitTabs("by the extension", "extension 5")
	for _, when := range []string{"open before", "loaded again"} {
		if r := s.call("fails", `{}`); !r.IsError || !strings.Contains(r.text(), "out of stock") {
			t.Errorf("%s: fails: %+v", when, r)
		}
		done := make(chan reply)
		name := s.name("book")
		go func() { done <- s.send(t.Context(), name, `{"who":"Ada"}`, nil) }()
		s.await("the tab waits for the person", func() bool {
			return slices.ContainsFunc(s.hub.Tabs(nil), func(tab state.TabInfo) bool { return tab.Connected && tab.Waiting })
		})
		page.WaitFor(`document.forms[1].who.value === "Ada"`)
		page.Eval(`document.forms[1].querySelector("button").click()`)
		if r := <-done; r.text() != "booked for Ada" {
			t.Errorf("%s: book: %+v", when, r)
		}
		page.Reload()
		s.awaitTabs("after a reload", "extension 5")
	}
}

// A server that renders the page's components imports the script, too.
func TestScriptWithoutADocument(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	for _, file := range []string{"/tab.js", "/embed.js"} {
		resp, err := http.Get(s.url(file))
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command(node, "--input-type=module", "-")
		c.Stdin = resp.Body
		if out, err := c.CombinedOutput(); err != nil || len(out) != 0 {
			t.Errorf("%s: %v %s", file, err, out)
		}
		resp.Body.Close()
	}
}

// Where the user has left the site out of the extension's WebMCP the script's is there, and the page is
// one tab whose calls run once.
func TestStandardAPIWhereTheExtensionGivesNone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.extended(chromium.Options{})
	url := s.host(`<script src="http://HUB/tab.js"></script>`+standard, "")
	s.tellExtension(b, fmt.Sprintf(`{ask: "site", origin: %q, webmcp: false}`, strings.TrimSuffix(url, "/")))
	page := b.Open(url)
	s.awaitTabs("one tab", "extension 4")
	s.says("add", `{"a":2,"b":3}`, `{"sum":5}`)
	s.says("order", `{"what":"tea"}`, "the model ordered tea")
	if r := s.call("fails", `{}`); !r.IsError || !strings.Contains(r.text(), "out of stock") {
		t.Errorf("fails: %+v", r)
	}
	if got := page.Eval("runs"); got != "1" {
		t.Errorf("add ran %s times", got)
	}
	if got := page.Eval("'mcp' in window"); got != "false" {
		t.Error("the extension's WebMCP is there")
	}
}

// What a frame of another site says does nothing to the page, not even an error in its console.
func TestHostileFrame(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	frame := s.host(`<script>
		const odd = [undefined, null, 1, "length", {toString: 1}, [], "stumbles"];
		for (const ask of ["permitted", "tools", "told", "run", "changed", undefined, {toString: 1}]) {
			for (const x of odd) {
				const {port1, port2} = new MessageChannel();
				port1.onmessage = () => port1.postMessage("run");
				parent.postMessage({tabhub: "webmcp", ask, id: x, tools: x, name: x, input: x, of: ask === "permitted" ? {index: x, origin: x} : x}, "*", [port2]);
				parent.postMessage({tabhub: "webmcp", ask, id: x, tools: [x], name: "pay", input: x, of: x}, "*");
			}
		}
		parent.postMessage("done", "*");
	</script>`, "")
	frame = strings.Replace(frame, "127.0.0.1", "localhost", 1)
	page := chromium.Shared(t, chromium.Options{}).Open(s.host(`<script>
		const errors = [];
		let paid = 0, done = false;
		addEventListener("error", ({message}) => errors.push(message));
		addEventListener("unhandledrejection", ({reason}) => errors.push(String(reason)));
	</script>
	<script src="http://HUB/tab.js"></script>
	<script>
		Object.defineProperty(window, "stumbles", {get() { throw new Error("stumbled") }});
		document.modelContext.registerTool({name: "pay", description: "d", execute: () => ++paid});
		addEventListener("message", ({data}) => done ||= data === "done");
	</script>
	<iframe src="`+frame+`"></iframe>`, ""))
	page.WaitFor("done")
	if r := s.call("pay", `{}`); r.text() != "1" {
		t.Errorf("pay: %+v", r)
	}
	if got := page.Eval("errors"); got != "[]" {
		t.Errorf("the page has errors: %s", got)
	}
}
