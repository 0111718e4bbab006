//go:build nightly

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
			_, _ = io.WriteString(w, `<!doctype html><script>`+chromium.InFrame(`document.modelContext.registerTool({name: "inner", description: "d", execute: () => "x"})`)+`</script>`)
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
