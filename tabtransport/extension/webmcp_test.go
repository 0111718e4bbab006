package extension_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
	"tabhub/tabtransport/tabtest/shapes"
)

// The standard's API is the same from the browser, from the browser with the extension, and from
// the extension alone: what is checked is what the browser does. What is to come with Chrome 160
// is checked of its shape.
func TestWebMCP(t *testing.T) {
	t.Parallel()
	chrome160 := shapes.All[slices.IndexFunc(shapes.All, func(s shapes.Shape) bool { return s.Name == "chrome-160" })]
	const own, shape = "the extension's", "the browser's in the shape of Chrome 160"
	for _, name := range chromium.Rows(1, own, "the browser's", "the browser's with the extension", shape) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b *chromium.Browser
			if opts := (chromium.Options{WebMCP: name != own}); name == "the browser's" || name == shape {
				b = chromium.Shared(t, opts)
			} else {
				b = newHub(t).browse(opts)
			}
			url := site(t, webMCPChecks(t))
			other := site(t, webMCPChecks(t))
			for _, part := range []string{"interfaces", "register", "execute", "schemas", "forms", "frames"} {
				open := func() *chromium.Page {
					p := b.Open("about:blank")
					if name == shape {
						p.Prepend(chrome160.Script)
					}
					p.Navigate(url + "/" + part)
					p.Eval(fmt.Sprintf("void (globalThis.OTHER = %q)", other))
					return p
				}
				p := open()
				var checks int
				p.Into("checks.length", &checks)
				if checks == 0 {
					t.Errorf("%s checks nothing", part)
				}
				for i := range checks {
					var failed string
					p.Into(fmt.Sprintf("runCheck(%d)", i), &failed)
					switch {
					case failed == "":
					case name != own && (strings.HasPrefix(failed, "the API is silent") || strings.HasPrefix(failed, "it does not end: a frame that goes")):
						// Where the machine is very busy, Chromium 156 may never answer a
						// document with frames again, nor end a call when its frame goes.
						t.Logf("%s: %s", part, failed)
						p.Close()
						p = open()
					default:
						t.Errorf("%s: %s", part, failed)
					}
				}
				p.Close()
			}
		})
	}
}

// webMCPChecks returns the pages that check WebMCP.
func webMCPChecks(t *testing.T) map[string]string {
	t.Helper()
	const dir = "testdata/webmcp"
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{"/blank": "<!doctype html>"}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		pages["/"+e.Name()] = string(text)
		if part, ok := strings.CutSuffix(e.Name(), ".js"); ok {
			pages["/"+part] = fmt.Sprintf(`<!doctype html><title>%s</title><body><script src="/harness.js"></script><script src="/%[1]s.js"></script>`, part)
		}
	}
	return pages
}

// The hub learns what gives pages WebMCP, by the time that a page could tell.
func TestWhoGivesWebMCP(t *testing.T) {
	t.Parallel()
	for want, native := range map[spec.WebMCP]bool{"browser": true, "extension": false} {
		t.Run(string(want), func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			b := h.browse(chromium.Options{WebMCP: native})
			b.Open(site(t, map[string]string{"/": `<p id="ModelContext">` + shop}))
			h.tabWith(shopTools...)
			h.change(func() { h.hello = nil })
			tell(b, `{ask: "reconnect"}`)
			h.wait("it says hello again", func() bool { return h.hello != nil && h.hello.WebMCP == want })
		})
	}
}

// A site that is left out works as without the extension, and is shared as before.
func TestSiteWithoutWebMCP(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, map[string]string{"/": `<!doctype html><title>Plain</title><script>
		const tools = [{name: "own", description: "d", inputSchema: {type: "object"}}];
		window.found = ["modelContext" in document, "modelContext" in navigator, "ModelContext" in window, "agentInvoked" in SubmitEvent.prototype].join();
		document.modelContext ??= {getTools: async () => tools, executeTool: async () => "{}"};
		document.modelContext.registerTool?.({name: "given", description: "d", execute() {}});
	</script>`})
	p := b.Open(url)
	h.tabWith("given")
	tell(b, fmt.Sprintf(`{ask: "site", origin: %q, webmcp: false}`, url))
	p.Reload()
	h.tabWith("own")
	if got := p.Eval("found"); got != `"false,false,false,false"` {
		t.Errorf("what a page that is left out finds: %s", got)
	}
	tell(b, fmt.Sprintf(`{ask: "site", origin: %q, webmcp: true}`, url))
	p.Reload()
	h.tabWith("given")
	if got := p.Eval("found"); got != `"true,true,true,true"` {
		t.Errorf("what a page that is not left out finds: %s", got)
	}
}

// What a frame may not ask by the API it may not ask by messages of its own either: of the page
// around it, or of another frame there.
func TestFrameWithoutLeaveAsksByItself(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	asker := site(t, map[string]string{"/": `<!doctype html><script>
		const asked = (target, message) => new Promise((done) => {
			const { port1, port2 } = new MessageChannel();
			port1.onmessage = ({ data }) => data === "ready" ? port1.postMessage("run") : done(data.text ?? "FAILED");
			if (message.ask === "tools") onmessage = ({ data }) => data.ask === "told" && done(data.tools.map(({ name }) => name).join());
			target.postMessage({ tabhub: "webmcp", ...message }, "*", [port2]);
		});
		onload = async () => {
			const got = [];
			for (const target of [parent, parent[0]]) {
				got.push(await asked(target, { ask: "tools", id: "1" }), await asked(target, { ask: "run", name: "tool", input: "{}" }));
			}
			parent.postMessage(got.join(" "), "*");
		};
	</script>`})
	switchSite(b, asker, false) // where the extension keeps what it learns from the page
	register := fmt.Sprintf(`document.modelContext.registerTool({name: "tool", description: "d", execute: () => "ran"}, {exposedTo: [%q]})`, asker)
	shop := site(t, map[string]string{"/": `<!doctype html><script>` + register + `.then(() => parent.postMessage("registered", "*"))</script>`})
	p := b.Open(site(t, map[string]string{"/": `<!doctype html><iframe allow="tools" src="` + shop + `"></iframe><script>
		const said = () => new Promise((done) => addEventListener("message", ({ data }) => done(data), { once: true }));
		const registered = said();
		const asks = async (allow) => {
			const answer = said();
			document.body.append(Object.assign(document.createElement("iframe"), { allow, src: "` + asker + `" }));
			return answer;
		};
		` + register + `;
	</script>`}))
	p.Eval("registered")
	for allow, want := range map[string]string{"": `" FAILED  FAILED"`, "tools": `"tool ran tool ran"`} {
		if got := p.Eval(fmt.Sprintf("asks(%q)", allow)); got != want {
			t.Errorf("with leave %q: %s, want %s", allow, got, want)
		}
	}
}

// A page that changes all the time is not looked through all the time, however long one look takes.
func TestPageThatChangesAllTheTime(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	p := b.Open(site(t, map[string]string{"/": `<!doctype html><form toolname="form" tooldescription="d"><input name="q"></form><script>
		let looks = 0;
		Object.defineProperty(document.querySelector("input"), "type", { get() {
			looks++;
			for (const until = performance.now() + 20; performance.now() < until;);
			return "text";
		} });
		const { port1, port2 } = new MessageChannel();
		const turn = () => new Promise((done) => { port1.onmessage = done; port2.postMessage(0); });
		async function looksAt(changes) {
			looks = 0;
			for (let i = 0; i < changes; i++) {
				document.body.append(document.createElement("p"));
				await turn();
			}
			return looks;
		}
	</script>`}))
	h.tabWith("form")
	const changes = 100
	var looks int
	if p.Into(fmt.Sprintf("looksAt(%d)", changes), &looks); looks >= changes/2 {
		t.Errorf("the page was looked through %d times for %d changes", looks, changes)
	}
}

// A library that holds the values of its fields hears of all that are filled in.
func TestFormOfLibrary(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	b.Open(site(t, map[string]string{"/": `<!doctype html><script src="/form.js"></script>`, "/form.js": bundled(t, "form.js")}))
	const order = `{"name":"Ada","note":"soon","size":"l","gift":true,"pay":"cash"}`
	got, err := h.call(h.tabWith("order"), "order", order)
	if err != nil || !strings.HasSuffix(got, `"structuredContent":`+order+"}") {
		t.Errorf("%s, %v", got, err)
	}
}

// A page may put its own in the place of the API, and call what was there before.
func TestPageThatWrapsWebMCP(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	p := b.Open(site(t, map[string]string{"/": `<!doctype html><script>
		let reads = 0;
		for (const [object, name] of [[Document.prototype, "modelContext"], [SubmitEvent.prototype, "agentInvoked"], [window, "ModelContext"]]) {
			const { get, set } = Object.getOwnPropertyDescriptor(object, name);
			Object.defineProperty(object, name, { get() { reads++; return get.call(this); }, set, configurable: true });
		}
		document.modelContext.registerTool({ name: "wrapped", description: "d", execute: () => "ran" });
	</script>`}))
	if got, err := h.call(h.tabWith("wrapped"), "wrapped", "{}"); err != nil || !strings.Contains(got, "ran") {
		t.Errorf("the tool: %s, %v", got, err)
	}
	const uses = `(() => {
		const before = reads;
		const own = document.modelContext instanceof ModelContext;
		const invoked = new SubmitEvent("submit").agentInvoked;
		document.modelContext = ModelContext = 1;
		return [own, invoked, reads - before, document.modelContext, ModelContext];
	})()`
	if got := p.Eval(uses); got != "[true,false,3,1,1]" {
		t.Errorf("what the page finds: %s", got)
	}
}
