package extension_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// announcing is a page with a server that announces itself once, and nothing else that
// would lead to it.
const announcing = `<!doctype html><title>Announcing</title><script src="/server.js"></script>`

// Each sign alone leads to what a page has, in the page itself and in a frame of another site.
func TestSigns(t *testing.T) {
	t.Parallel()
	const late = `<!doctype html><title>Late</title><script>setTimeout(() => {
		const tools = [{name: "late", description: "d", inputSchema: {type: "object"}}];
		document.modelContext = {getTools: async () => tools, executeTool: async () => JSON.stringify({content: [{type: "text", text: "from the library"}]})};
	}, 1500)</script>`
	bothWays(t, func(t *testing.T, native bool) {
		h := newHub(t)
		b := h.browse(chromium.Options{WebMCP: native})
		pages := map[string]string{
			"/server.js": scriptOf(strings.ReplaceAll(oldServer, "ANNOUNCED", "0")),
			"/announces": announcing,
			"/names":     strings.ReplaceAll(oldServer, "ANNOUNCED", "1e9"),
		}
		const form = `<form toolname=search tooldescription=Searches><input name=q></form>`
		pages["/form"] = `<!doctype html><title>Form</title>` + form
		pages["/registers"] = `<!doctype html><title>Tool</title><script>document.modelContext.registerTool({name: "tool", description: "d", execute: () => "x"})</script>`
		tools := map[string]string{"/announces": "old", "/names": "old", "/form": "search", "/registers": "tool"}
		if !native {
			pages["/late"] = late
			pages["/lateform"] = `<!doctype html><title>Form</title><script>setTimeout(() => document.body.innerHTML = "` + form + `", 1500)</script>`
			tools["/late"], tools["/lateform"] = "late", "search"
		}
		url := site(t, pages)
		for path, tool := range tools {
			frame := site(t, map[string]string{"/": `<!doctype html><title>Around</title><iframe src="/empty"></iframe><iframe allow="tools" src="` + url + path + `"></iframe>`, "/empty": "<!doctype html>"})
			for _, address := range []string{url + path, frame} {
				p := b.Open(address)
				tab := h.tabWith(tool)
				if got := h.tool(tab, tool); got.Origin != url {
					t.Errorf("%s in %s: %+v", path, address, got)
				}
				h.closeTab(p)
			}
		}
	})
}

// A page without tools has nothing of the extension's own but the gateway in its top document.
func TestNothingRunsWhereNothingIs(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	url := site(t, map[string]string{
		"/":      `<!doctype html><title>Plain</title><iframe src="/frame"></iframe><iframe srcdoc="<script>1</script>"></iframe><iframe></iframe>`,
		"/frame": `<!doctype html><script>addEventListener("message", () => {}); postMessage("news", "*")</script>`,
		"/tool":  `<!doctype html><title>Tool</title><script>document.modelContext.registerTool({name: "tool", description: "d", execute: () => "x"})</script>`,
	})
	b.Open(url)
	// By the time that another page is known this one is, too.
	b.Open(url + "/tool")
	h.tabWith("tool")
	w := b.Worker()
	defer w.Close()
	id := w.Eval(`chrome.tabs.query({ url: "` + url + `/" }).then(([tab]) => tab.id)`)
	tell(b, `{ask: "status", tabId: `+id+`}`) // the gateway is there at the latest when the popup is shown
	got := w.Eval(`(async () => {
		const all = await chrome.scripting.executeScript({ target: { tabId: ` + id + `, allFrames: true }, func: () => [typeof tabhubGateway, typeof tabhubFrame].join() });
		return all.sort((a, b) => a.frameId - b.frameId).map(({ result }) => result);
	})()`)
	if want := `["object,undefined","undefined,undefined","undefined,undefined","undefined,undefined"]`; got != want {
		t.Errorf("the scripts of the extension's own world: %s, want %s", got, want)
	}
}

// What a page has is known while the page is still loading, however long that takes.
func TestSignsOfAPageThatLoadsForLong(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	end := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			<-end
		case "/frame":
			_, _ = io.WriteString(w, `<!doctype html><script>document.modelContext.registerTool({name: "inner", description: "d", execute: () => "x"})</script>`)
		default:
			_, _ = io.WriteString(w, `<!doctype html><title>Slow</title><script>document.modelContext.registerTool({name: "outer", description: "d", execute: () => "x"})</script><iframe src="/frame"></iframe><img src="/slow">`)
			_ = http.NewResponseController(w).Flush()
			<-end // the document itself never ends, either
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(end) })
	opener := b.Open(site(t, map[string]string{"/": "<!doctype html><title>Opener</title>"}))
	opener.Eval(`void open("` + server.URL + `")`)
	h.tabWith("outer", "inner")
}

// What a page does to itself, or its frames do to it, hides no tool of it.
func TestSignsOfAwkwardPages(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	const register = `document.modelContext.registerTool({name: "tool", description: "d", inputSchema: {type: "object"}, execute: () => "x"})`
	flood := site(t, map[string]string{"/": `<!doctype html><script>for (let i = 0; i < 1000; i++) top.postMessage({tabhub: "sign", kind: "x"}, "*")</script>`})
	for what, page := range map[string]string{
		"its own modelContext leads to the removed one": `<script>Object.defineProperty(document, "modelContext", {value: {
			getTools: async () => [], executeTool() {}, addEventListener() {}, removeEventListener() {}, registerTool: (tool) => navigator.modelContext.registerTool(tool),
		}});` + register + `</script>`,
		"a frame gives more signs than anybody keeps": `<iframe src="` + flood + `"></iframe><script>onload = () => ` + register + `</script>`,
		"frames that never rest, in a page that never ends loading": `<script>` + register + `</script><img src="/never">` +
			strings.Repeat(`<iframe srcdoc="<script>setInterval(() => location.hash = Math.random(), 50)</script>"></iframe>`, 3),
	} {
		end := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/never" {
				<-end
				return
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, `<!doctype html><title>Awkward</title>`+page)
		}))
		opener := b.Open(flood)
		opener.Eval(`void (window.opened = open("` + server.URL + `"))`)
		if got := h.tool(h.tabWith("tool"), "tool"); got.Origin != server.URL {
			t.Errorf("%s: %+v", what, got)
		}
		opener.Eval(`opened.close()`)
		opener.Close()
		close(end)
		server.Close()
		h.wait("the tab is closed", func() bool { return len(h.tabs) == 0 })
	}
}

// Where Chromium has WebMCP at navigator only, as before 152, pages have no errors, and what they
// register is found.
func TestSignsInAnOlderBrowser(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	dir := h.write()
	script := filepath.Join(dir, "content", "page.js")
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	// What runs before the sentinel makes the browser an older one.
	const older = `{
		const { get } = Object.getOwnPropertyDescriptor(Document.prototype, "modelContext");
		delete Document.prototype.modelContext;
		Object.defineProperty(Navigator.prototype, "modelContext", { configurable: true, enumerable: true, get: () => Reflect.apply(get, document, []) });
		window.errors = [];
		addEventListener("error", ({ message }) => errors.push(message));
	}
	`
	if err := os.WriteFile(script, []byte(older+string(text)), 0o600); err != nil {
		t.Fatal(err)
	}
	b := h.browse(chromium.Options{WebMCP: true, Extension: dir})
	p := b.Open(site(t, map[string]string{"/": `<!doctype html><title>Older</title><script>
		document.modelContext = {getTools: async () => [{name: "library", description: "d", inputSchema: {type: "object"}}], executeTool: async () => "{}"};
	</script>`}))
	h.tabWith("library")
	if got := p.Eval("errors"); got != "[]" {
		t.Errorf("errors in the page: %s", got)
	}
}

// A frame of a site that is shared is found also where the page around it is not.
func TestSignsInAPageThatIsSwitchedOff(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	url := site(t, map[string]string{
		"/registers": `<!doctype html><title>Tool</title><script>document.modelContext.registerTool({name: "tool", description: "d", execute: () => "x"})</script>`,
		"/script":    `<!doctype html><title>Named</title>` + strings.ReplaceAll(oldServer, "ANNOUNCED", "1e9"),
	})
	off := site(t, map[string]string{"/": `<!doctype html><title>Off</title><iframe allow="tools" src="` + url + `/registers"></iframe><iframe src="` + url + `/script"></iframe>`})
	switchSite(b, off, false)
	b.Open(off)
	if got := h.tool(h.tabWith("tool", "old"), "tool"); got.Origin != url {
		t.Errorf("%+v", got)
	}
}

// A page that the browser has loaded ahead is found once the user goes there.
func TestSignsOfAPageThatWasLoadedAhead(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	loaded := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			_, _ = io.WriteString(w, `<!doctype html><title>Before</title><a href="/ahead">next</a>
				<script type="speculationrules">{"prerender": [{"urls": ["/ahead"], "eagerness": "immediate"}]}</script>
				<script>fetch("/wait").then(() => document.querySelector("a").click())</script>`)
		case "/ahead":
			_, _ = io.WriteString(w, `<!doctype html><title>Ahead</title><script>
				const ahead = document.prerendering;
				document.modelContext.registerTool({name: "tool", description: "d", execute: () => String(ahead)});
				onload = () => fetch("/loaded");
			</script>`)
		case "/loaded":
			if r.Header.Get("Sec-Purpose") != "" {
				close(loaded)
			}
		case "/wait":
			select {
			case <-loaded:
			case <-r.Context().Done():
			}
		}
	}))
	t.Cleanup(server.Close)
	// A window that another could reach is never shown what was loaded ahead.
	b.Open(site(t, map[string]string{"/": "<!doctype html><title>Opener</title>"})).Eval(`void open("` + server.URL + `", "", "noopener")`)
	got, err := h.call(h.tabWith("tool"), "tool", "{}")
	if err != nil || !strings.Contains(got, "true") {
		t.Errorf("%s, %v", got, err)
	}
}
