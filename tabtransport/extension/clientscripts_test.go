package extension_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// script has a client's script run in the top document of a tab at a site.
func (h *hub) script(ctx context.Context, tab int64, url, code string) string {
	return h.runAs(ctx, tab, &spec.Run{FrameID: new(int64), Origin: url, Script: code}, "", tabtransport.Wait{Timeout: time.Minute})
}

// beginScript is script in the background.
func (h *hub) beginScript(tab int64, url, code string) <-chan string {
	done := make(chan string, 1)
	go func() { done <- h.script(h.t.Context(), tab, url, code) }()
	return done
}

// offscreen is true in the worker while there is a document for scripts.
const offscreen = `chrome.runtime.getContexts({contextTypes: ["OFFSCREEN_DOCUMENT"]}).then((all) => all.length > 0)`

// A script does its steps one after the other, gets what they read, and ends with its first failure; each step is
// in the receipt, and it is done once.
func TestScriptOfAClient(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, cart)
	h.tellPacks(cartPack(url))
	for _, c := range []struct{ name, code, want, counts string }{
		{"nothing", `return 1 + 1`, `2 []`, `"0,0,0"`},
		{"steps on one page", `await page.fill('textbox "Name"', "Ada ${x}"); await page.click('button "Add"'); return await page.text('button "Add"')`, `"Add" [fill yes, click yes, read yes]`, `"1,0,0"`},
		{"without await", `page.click('button "Add"'); page.wait(20); page.click('button "Add"')`, `null [click yes, click yes]`, `"2,0,0"`},
		{"whose page goes while it pauses", `await page.click('button "Add"'); await page.wait(800); await page.click('button "Add"')`, `1 STEP_LOST the page gave way to another one, to which no step had led: a script looks there before it acts`, `"1,0,0"`},
		{"that looks where its page has gone", `await page.click('button "Add"'); await page.wait(800); await page.wait('button "Add"'); await page.click('button "Add"')`, `null [click yes, wait yes, click yes] at `, `"2,0,0"`},
		{"what follows a call that is not awaited", `page.text("button \"Add\"").then((text) => page.click({role: "button", name: text}))`, `null [read yes, click yes]`, `"1,0,0"`},
		{"to the next page", `page.fill({'textbox "Name"': "Ada"}); await page.click('button "Order"'); const n = await page.text({selector: "#number"}); await page.click('button "Confirm"'); return {n}`, `{"n":"Order 7"} [fill yes, click yes, read yes, click yes] at ` + url + `/confirm?Ada`, `"0,1,1"`},
		{"by its address", `await page.open("/confirm"); return page.text({selector: "#number"})`, `"Order 7" [open yes, read yes] at ` + url + `/confirm`, `"0,0,0"`},
		{"to another site", `await page.open("https://shop.example/")`, `0 STEP_REFUSED it would reach https://shop.example/, which is not on this site [open no]`, `"0,0,0"`},
		{"that finds", `return (await page.find('button "Add"')).map(({ref, ...rest}) => [/^[a-z]{3}\d+$/.test(ref), rest])`, `[[true,{"role":"button","name":"Add","text":"Add","value":null}]] [read yes]`, `"0,0,0"`},
		{"that clicks what it has found", `const [found] = await page.find('button "Add"'); await page.click(found.ref)`, `null [read yes, click yes]`, `"1,0,0"`},
		{"that looks", `return [await page.look({find: "Add"}), await page.look({scope: 'button "Add"'})].map((text) => text.includes('button "Add" '))`, `[true,true] [look yes, look yes]`, `"0,0,0"`},
		{"that finds nothing", `return (await page.find('button "No such"')).length`, `0 [read yes]`, `"0,0,0"`},
		{"that fails", `try { await page.click('button "No such"') } catch {} await page.click('button "Add"')`, `0 STEP_NOT_FOUND there is no button "No such" [click no]`, `"0,0,0"`},
		{"that fails after others", `await page.click('button "Add"'); await page.click('button "No such"')`, `1 STEP_NOT_FOUND there is no button "No such" [click yes, click no]`, `"1,0,0"`},
		{"that throws", "await page.click('button \"Add\"');\nnull.x", `0 STEP_SCRIPT TypeError: Cannot read properties of null (reading 'x') (line 2) [click yes]`, `"1,0,0"`},
		{"that throws while a step is done", `page.click('button "Add"'); throw new Error("no")`, `0 STEP_SCRIPT Error: no (line 1) [click yes]`, `"1,0,0"`},
		{"that throws what is no error", `throw Object.create(null)`, `0 STEP_SCRIPT it threw what has no text []`, `"0,0,0"`},
		{"that is none", `return (`, `0 STEP_SCRIPT SyntaxError: `, `"0,0,0"`},
		{"that returns what is no JSON", `await page.click('button "Add"'); const a = []; a.push(a); return a`, `0 STEP_SCRIPT what it returns is no JSON: Converting circular structure to JSON`, `"1,0,0"`},
		{"that returns a number without JSON", `return 1n`, `0 STEP_SCRIPT what it returns is no JSON: `, `"0,0,0"`},
		{"that returns nothing", `return () => 1`, `null []`, `"0,0,0"`},
		{"that returns too much", `return "x".repeat(300 << 10)`, `0 STEP_SCRIPT it returns more than 256 KiB: return less []`, `"0,0,0"`},
		{"that calls too much", `for (let i = 0; i < 250; i++) page.click('button "Add"'); await new Promise(() => {})`, `0 STEP_SCRIPT a script may take 200 steps `, `"1,0,0"`},
		{"that floods", `for (;;) page.click('button "Add"')`, `0 STEP_SCRIPT `, `"1,0,0"`},
		{"that says what makes no sense", `await page.click({role: "button", name: "Add", nth: "1"})`, `0 STEP_SCRIPT page.click: nth is a number []`, `"0,0,0"`},
		{"with a method that there is not", `await page.request({path: "/"})`, `0 STEP_SCRIPT TypeError: page.request is not a function (line 1) []`, `"0,0,0"`},
		{"that changes what it has", `JSON.stringify = () => '[{"selector": "button"}]'; await page.click('button "Add"')`, `0 STEP_AMBIGUOUS there are `, `"0,0,0"`},
		{"with what is no target", `await page.click("Order")`, `0 STEP_SCRIPT page.click: "Order" is no target: one is a reference, such as kfa3, or a role and a name, such as button "Order" or button "Remove" in row "Tea..." []`, `"0,0,0"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := b.Open(url + "/cart")
			tab := h.tabAt(url+"/cart", "order")
			if strings.Contains(c.code, "wait(800)") {
				p.Eval(`new MutationObserver(() => setTimeout(() => location.reload(), 200)).observe(document.querySelector("title"), {childList: true}); 0`)
			}
			if got := h.script(t.Context(), tab, url, c.code); !strings.HasPrefix(got, c.want) || strings.HasSuffix(c.want, "]") && got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := counted(p); got != c.counts {
				t.Errorf("done: %s, want %s", got, c.counts)
			}
			h.closeTab(p)
		})
	}
	b.Worker().WaitFor(fmt.Sprintf(`(%s).then((is) => !is)`, offscreen))
}

// waysOut are what a script may try to reach the network, a page or the extension by, at URL: each is an expression that
// gives something if it has come through.
var waysOut = []struct{ name, try string }{
	{"fetch", `await (await fetch(URL)).text()`},
	{"fetch without an answer", `await fetch(URL, {mode: "no-cors", keepalive: true})`},
	{"fetch of data", `await (await fetch("data:,x")).text()`},
	{"fetch of a blob", `await (await fetch(URL_.createObjectURL(new Blob(["x"])))).text()`},
	{"fetch of a file", `await (await fetch("file:///etc/hostname")).text()`},
	{"fetch of the extension", `await (await fetch(EXT + "manifest.json")).text()`},
	{"a request", `await new Promise((done, no) => { const r = new XMLHttpRequest(); r.open("GET", URL); r.onload = done; r.onerror = no; r.send() })`},
	{"a request that waits", `(() => { const r = new XMLHttpRequest(); r.open("POST", URL, false); r.send("x"); return r.status })()`},
	{"a socket", `await new Promise((done, no) => { const s = new WebSocket(URL.replace("http", "ws")); s.onopen = done; s.onerror = no })`},
	{"a stream of sockets", `await new WebSocketStream(URL.replace("http", "ws")).opened`},
	{"events", `await new Promise((done, no) => { const s = new EventSource(URL); s.onopen = done; s.onerror = no })`},
	{"WebTransport", `await new WebTransport(URL.replace("http:", "https:")).ready`},
	{"RTC", `new RTCPeerConnection({iceServers: [{urls: URL.replace("http://", "stun:")}]})`},
	{"a module of the extension", `(await import(EXT + "manifest.json", {with: {type: "json"}})).default.name`},
	{"a script of the extension", `importScripts(EXT + "worker/main.js")`},
	{"text that is run", `eval("1")`},
	{"a function from text", `new Function("return 1")()`},
	{"an async function from text", `await (async () => {}).constructor("return 1")()`},
	{"text that is run later", `await new Promise((done) => { self.done_ = done; setTimeout("done_(1)") })`},
	{"what the worker says", `postMessage({type: "ended", value: "1"})`},
	{"importScripts", `importScripts(URL)`},
	{"importScripts of data", `importScripts("data:text/javascript,self.came=1"), self.came`},
	{"import", `await import(URL)`},
	{"import of data", `await import("data:text/javascript,export default 1")`},
	{"import within a blob", `await import(URL_.createObjectURL(new Blob(["import " + JSON.stringify(URL)], {type: "text/javascript"})))`},
	{"a beacon", `navigator.sendBeacon(URL, "x")`},
	{"a worker", `await new Promise((done, no) => { const w = new Worker(URL); w.onmessage = done; w.onerror = no })`},
	{"a worker in it", `await new Promise((done, no) => { const w = new Worker(URL_.createObjectURL(new Blob(["fetch(" + JSON.stringify(URL) + ").then(() => postMessage(1), () => { try { importScripts(" + JSON.stringify(URL) + "); postMessage(1) } catch { throw 1 } })"]))); w.onmessage = done; w.onerror = no })`},
	{"a module worker", `await new Promise((done, no) => { const w = new Worker(URL_.createObjectURL(new Blob(["import " + JSON.stringify(URL) + "; postMessage(1)"], {type: "text/javascript"})), {type: "module"}); w.onmessage = done; w.onerror = no })`},
	{"a shared worker", `new SharedWorker(URL)`},
	{"a service worker", `await navigator.serviceWorker.register(URL)`},
	{"caches", `await (await caches.open("x")).add(URL)`},
	{"a database", `await new Promise((done, no) => { const r = indexedDB.open("x"); r.onsuccess = done; r.onerror = no })`},
	{"files", `await navigator.storage.getDirectory()`},
	{"locks", `await navigator.locks.query()`},
	{"a font", `await new FontFace("x", "url(" + URL + ")").load()`},
	{"a picture", `await createImageBitmap(await (await fetch(URL)).blob())`},
	{"a stylesheet", `await import(URL, {with: {type: "css"}})`},
	{"code that streams", `await WebAssembly.instantiateStreaming(fetch(URL))`},
	{"a notification", `new Notification("x")`},
	{"the document", `document`},
	{"the window", `window`},
	{"the page around it", `parent`},
	{"the opener", `opener`},
	{"chrome", `chrome`},
	{"the function's realm", `(() => {}).constructor("return this")().chrome ?? (() => { throw 1 })()`},
	{"the extension's id", `chrome.runtime.id`},
	{"cookies", `await cookieStore.getAll()`},
	{"storage", `localStorage`},
	{"memory beyond its own", `new ArrayBuffer(1)`},
}

// Scripts in several tabs run at once, and the end of one is none of the others'.
func TestScriptsOfClientsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url, other := site(t, cart), site(t, cart)
	h.tellPacks(cartPack(url))
	first, second := b.Open(url+"/cart"), b.Open(other+"/cart")
	h.tabAt(url+"/cart", "order")
	tabAt := func(url string) (id int64) {
		b.Worker().Into(fmt.Sprintf(`chrome.tabs.query({}).then((all) => all.find(({url}) => url === %q).id)`, url+"/cart"), &id)
		return id
	}
	waits := h.beginScript(tabAt(url), url, `await page.click('button "Add"'); await page.wait('button "Go on"', {timeout: 30}); await page.click('button "Add"'); return "first"`)
	first.WaitFor("sessionStorage.added === '1'")
	for range 2 {
		if got, want := h.script(t.Context(), tabAt(other), other, `await page.click('button "Add"'); return "second"`), `"second" [click yes]`; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	first.Eval(`document.body.append(Object.assign(document.createElement("button"), {textContent: "Go on"}))`)
	if got, want := <-waits, `"first" [click yes, wait yes, click yes]`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := counted(first) + counted(second); got != `"2,0,0""2,0,0"` {
		t.Errorf("done: %s", got)
	}
	b.Worker().WaitFor(fmt.Sprintf(`(%s).then((is) => !is)`, offscreen))
}

// ending is how a script of a client may end otherwise than by itself.
type ending struct {
	name, code string
	end        func(p *chromium.Page, cancel func())
	want       string
}

// endings are those that take long, which nightly tests have.
var endings []ending

// A script that does not end, takes all memory, or is cancelled ends, and so does one whose tab is closed or whose
// document the browser ends: what was done is said, and nothing else is lost with it.
func TestScriptOfAClientIsEnded(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	dir := h.write()
	addToWorker(t, dir, `{ const set = setTimeout; globalThis.setTimeout = (then, ms, ...more) => set(then, ms === 60000 ? 1500 : ms, ...more) }`)
	b := h.browse(chromium.Options{Extension: dir})
	url := site(t, cart)
	h.tellPacks(cartPack(url))
	const begin = `await page.click('button "Add"'); `
	for _, c := range append([]ending{
		{"an endless loop", begin + `for (;;);`, nil, `0 STEP_TIMEOUT the script went on for 60 s without a step [click yes]`},
		{"one that waits for nothing", begin + `await new Promise(() => {})`, nil, `0 STEP_TIMEOUT the script went on for 60 s without a step [click yes]`},
		{"one that ends itself", begin + `self.close?.(); await new Promise(() => {})`, nil, `0 STEP_TIMEOUT the script went on for 60 s without a step [click yes]`},
		{"cancelled", begin + `await page.wait('button "Never"', {timeout: 30}); await page.click('button "Add"')`, func(_ *chromium.Page, cancel func()) { cancel() }, `the user said stop`},
		{"whose tab is closed", begin + `await page.wait('button "Never"', {timeout: 30})`, func(p *chromium.Page, _ func()) { p.Close() }, `1 STEP_LOST the tab was closed after step 1; nothing after it was done [click yes, wait no]`},
		{"whose tab is closed meanwhile", begin + `await page.find('button "Add"'); await page.wait(1000); await page.click('button "Add"')`, func(p *chromium.Page, _ func()) { p.Close() }, `2 STEP_LOST the tab was closed after step 1; nothing after it was done [click yes, read yes, click no]`},
		{"whose site is switched off", begin + `await page.wait('button "Never"', {timeout: 30})`, func(*chromium.Page, func()) { switchSite(b, url, false) }, `1 STEP_STOPPED the user has switched this site off [click yes, wait no]`},
		{"whose document is ended", begin + `await page.wait(30000)`, func(*chromium.Page, func()) { b.Worker().Eval(`chrome.offscreen.closeDocument().then(() => 0)`) }, `0 STEP_SCRIPT the script is gone: the browser has ended it, as when it takes too much memory [click yes]`},
	}, endings...) {
		t.Run(c.name, func(t *testing.T) {
			switchSite(b, url, true)
			p := b.Open(url + "/cart")
			tab := h.tabAt(url+"/cart", "order")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			done := make(chan string, 1)
			go func() { done <- h.script(ctx, tab, url, c.code) }()
			if c.end != nil {
				b.Worker().WaitFor(`chrome.storage.session.get("runs").then(({runs}) => Object.values(runs.runs)[0]?.did === 0)`)
				if n := strings.Count(c.code, "await page."); n > 1 && !strings.Contains(c.code, "wait(30000)") {
					b.Worker().WaitFor(`chrome.storage.session.get("runs").then(({runs}) => { const [run] = Object.values(runs.runs); return run.params.steps.length === 2 && (!run.params.steps[1].read || run.reports.length === 2) })`)
				}
				c.end(p, func() { cancel(errors.New("the user said stop")) })
			}
			if got := <-done; got != c.want && (c.name != "cancelled" || !strings.Contains(got, c.want)) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			b.Worker().WaitFor(`chrome.storage.session.get("runs").then(({runs}) => Object.keys(runs.runs).length === 0)`)
			b.Worker().WaitFor(fmt.Sprintf(`(%s).then((is) => !is)`, offscreen))
			if !strings.HasPrefix(c.name, "whose tab") {
				if got := counted(p); got != `"1,0,0"` {
					t.Errorf("done: %s", got)
				}
				h.closeTab(p)
			}
		})
	}
}

// A script reaches no network, no page and nothing of the extension, in none of the ways that a worker has.
func TestScriptOfAClientHasNoWayOut(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	var heard atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, "self.came = 1; try { postMessage(1) } catch {}")
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			heard.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	// WebTransport and STUN come as datagrams.
	datagrams, err := net.ListenPacket("udp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = datagrams.Close() })
	go func() {
		for {
			if _, _, err := datagrams.ReadFrom(make([]byte, 2000)); err != nil {
				return
			}
			heard.Add(1)
		}
	}()
	// The page, and the extension's worker, hear whatever is said to them.
	url := site(t, map[string]string{"/cart": cart["/cart"] + `<script>
		heard = []; addEventListener("message", ({data}) => heard.push(data));
		for (const name of ["x", "runs"]) new BroadcastChannel(name).onmessage = ({data}) => heard.push(data);
	</script>`})
	h.tellPacks(cartPack(url))
	p := b.Open(url + "/cart")
	tab := h.tabAt(url+"/cart", "order")
	w := b.Worker()
	w.Eval(`globalThis.heard = []; globalThis.channel = new BroadcastChannel("x"); channel.onmessage = ({data}) => heard.push(data); 0`)
	var code strings.Builder
	fmt.Fprintf(&code, "const URL_ = self.URL, came = {}, refused = {};\n{ const URL = %q, EXT = \"chrome-extension://%s/\";\n", server.URL+"/x.js", b.ExtensionID)
	code.WriteString(`const soon = (promise) => Promise.race([promise, new Promise((_, late) => setTimeout(() => late("nothing came"), 1500))]);
	const tries = [];` + "\n")
	imports := []string{"import/**/(URL)", "import//\n(URL)", "import\u2003\n(URL)", "import<!-- \n(URL)", "import\n-->\n(URL)", "import.meta", `im\u0070ort(URL)`}
	for _, way := range waysOut {
		if strings.Contains(way.try, "import(") {
			imports = append(imports, way.try)
			continue
		}
		fmt.Fprintf(&code, "tries.push([%q, async () => %s]);\n", way.name, way.try)
	}
	code.WriteString(`await Promise.all(tries.map(async ([name, way]) => {
		try { const got = await soon(way()); came[name] = String(got).slice(0, 60) } catch (error) { refused[name] = String(error).slice(0, 90) }
	}));
	for (const name of ["x", "runs"]) try { new BroadcastChannel(name).postMessage("from the script") } catch {}
	}
	await page.click('button "Add"');
	return {came, refused}`)
	for _, way := range imports {
		code := fmt.Sprintf("const URL = %q, EXT = %q, URL_ = self.URL; return String(await %s)", server.URL+"/x.js", "chrome-extension://"+b.ExtensionID+"/", way)
		if got := h.script(t.Context(), tab, url, code); got != "0 STEP_SCRIPT a script has no import []" && !strings.Contains(got, "Keyword must not contain escaped characters") {
			t.Errorf("%s: %s", way, got)
		}
	}
	got := h.script(t.Context(), tab, url, code.String())
	var all struct{ Came, Refused map[string]string }
	value, did, _ := strings.Cut(got, " [")
	if err := json.Unmarshal([]byte(value), &all); err != nil || did != "click yes]" {
		t.Fatalf("%v: %s", err, got)
	}
	for name, what := range all.Came {
		t.Errorf("%s gave %s", name, what)
	}
	for _, way := range waysOut {
		t.Logf("%s: %s", way.name, all.Refused[way.name])
	}
	if n := heard.Load(); n != 0 {
		t.Errorf("the server was reached %d times", n)
	}
	// Nor does a page reach the pages in which scripts run.
	for _, name := range []string{"sandbox.html", "offscreen.html"} {
		got := p.Eval(fmt.Sprintf(`new Promise((done) => {
			const { port1, port2 } = new MessageChannel(), frame = document.createElement("iframe");
			port1.onmessage = ({data}) => done(JSON.stringify(data));
			frame.onload = () => { frame.contentWindow.postMessage("return 1", "*", [port2]); setTimeout(() => done("nothing"), 500) };
			frame.src = "chrome-extension://%s/%s";
			document.body.append(frame);
		})`, b.ExtensionID, name))
		if got != `"nothing"` {
			t.Errorf("a page in whose frame %s is was told %s", name, got)
		}
	}
	if got := p.Eval(`heard.join()`); got != `""` {
		t.Errorf("the page heard %s", got)
	}
	if got := w.Eval(`heard.join()`); got != `""` {
		t.Errorf("the extension heard %s", got)
	}
}
