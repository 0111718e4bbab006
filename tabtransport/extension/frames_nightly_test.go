//go:build nightly

package extension_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// A library in the page around them takes the tools of frames of its site for its own, and cannot
// run them: they are the frames' alone.
func TestFramesBelowALibrary(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	p := b.Open(site(t, map[string]string{
		"/": `<!doctype html><script src="/lib.js"></script><iframe src="/tool"></iframe><script>
			let lists = 0; // how often the library's server was asked for its tools
			addEventListener("message", ({data}) => data?.payload?.method === "tools/list" && lists++);
		</script>`,
		"/tool":   `<!doctype html><script>` + chromium.InFrame(`document.modelContext.registerTool({name: "inner", description: "d", execute: () => location.href})`) + `</script>`,
		"/lib.js": published(t, "@mcp-b/global"),
	}))
	p.WaitFor(`document.modelContext.listTools().some(({name}) => name === "inner")`)
	p.Eval(`(lists = 0, document.modelContext.registerTool({name: "outer", description: "d", execute: () => ""}))`)
	tab := h.tabWith("outer", "inner")
	// Once the hub has what only the server gives, and after its tools, they are known, too.
	p.WaitFor("lists > 0")
	p.Eval(`void document.modelContext.registerPrompt({name: "greet", get: async () => ({messages: []})})`)
	h.wait("the prompt", func() bool { return equal(names(h.tabs[tab].prompts), []string{"greet"}) })
	h.tabWith("outer", "inner")
	if got, err := h.call(tab, "inner", "{}"); err != nil || !strings.Contains(got, "/tool") {
		t.Errorf("inner: %s, %v", got, err)
	}
}

// A frame of a shadow tree, of which none can be told from the others, may get the extension while it is
// empty. What it loads then, with the same window, has its tools nevertheless.
func TestFrameThatLoadsLate(t *testing.T) {
	t.Parallel()
	tool := func(name string) string {
		return `<!doctype html><script>` + chromium.InFrame(fmt.Sprintf(`document.modelContext.registerTool({name: %q, description: "d", execute: () => location.href})`, name)) + `</script>`
	}
	load := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/":
			_, _ = io.WriteString(w, `<!doctype html><body><button>Frames</button><script>
				document.querySelector("button").onclick = ({target}) => target.parentNode.appendChild(document.createElement("div")).attachShadow({mode: "closed"}).append(
					...["/late", "/tool"].map(src => Object.assign(document.createElement("iframe"), {src})));
			</script>`)
		case "/late":
			select {
			case <-load:
				_, _ = io.WriteString(w, tool("late"))
			case <-r.Context().Done():
			}
		default:
			_, _ = io.WriteString(w, tool("other"))
		}
	}))
	t.Cleanup(s.Close)
	h := newHub(t)
	p := h.browse(chromium.Options{WebMCP: true}).Open(s.URL)
	p.Eval(`document.querySelector("button").click()`)
	tab := h.tabWith("other")
	close(load)
	h.tabWith("late", "other")
	if got, err := h.call(tab, "late", "{}"); err != nil || !strings.Contains(got, s.URL+"/late") {
		t.Errorf("late: %s, %v", got, err)
	}
}

// What runs in a frame is not lost when another frame of its site goes.
func TestSiblingOfARunningFrameGoes(t *testing.T) {
	t.Parallel()
	toParent := strings.NewReplacer("mcp-default", "mcp-iframe", "window.postMessage", "parent.postMessage", "source !== window", "source !== parent", "ANNOUNCED", "0",
		"'slow'", "'old'", "window.token =", "window.finish = () => reply({content: [{type: 'text', text: 'finished'}]}); window.token =")
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, map[string]string{
		"/":      `<!doctype html><title>Outer</title><iframe src="/frame"></iframe><iframe src="/other"></iframe><iframe src="/other"></iframe>`,
		"/frame": toParent.Replace(oldServer),
		"/other": strings.NewReplacer("ANNOUNCED", "0", "{name: 'old'", "{name: 'other'").Replace(oldServer),
	})
	p := b.Open(url)
	tab := h.tabWith("old", "other", "other")
	started := make(chan struct{})
	wait := tabtransport.Wait{Timeout: chromium.Timeout, Progress: func(spec.Progress) { close(started) }}
	done := h.beginWith(t.Context(), tab, h.tool(tab, "old").FrameID, "old", "{}", wait)
	<-started
	// The frame is asked again whether it is there, which it answers, and nothing more.
	p.Eval(`new Promise(asked => {
		frames[0].addEventListener('message', ({data}) => data.payload.method === 'tools/list' && asked());
		document.querySelectorAll('iframe')[1].remove();
	})`)
	p.Eval(`frames[0].finish()`)
	if got := <-done; !strings.HasPrefix(got, `{"content":[{"type":"text","text":"finished"}]}`) {
		t.Errorf("the call: %s", got)
	}
	h.tabWith("old", "other")
}

// A window without an address that a page has opened shows frames of other pages.
func TestFrameInAWindowWithoutAddress(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, native bool) {
		testFrameInAWindowWithoutAddress(newHub(t), chromium.Options{WebMCP: native})
	})
	// Such a window may be complete before the browser tells of changes.
	t.Run("unchanged", func(t *testing.T) {
		t.Parallel()
		h := newHub(t)
		dir := h.write()
		addToWorker(t, dir, `import "./deaf.js";`)
		deaf := `Object.defineProperty(chrome.tabs, "onUpdated", {value: {addListener() {}}});`
		if err := os.WriteFile(filepath.Join(dir, "worker", "deaf.js"), []byte(deaf), 0o600); err != nil {
			t.Fatal(err)
		}
		testFrameInAWindowWithoutAddress(h, chromium.Options{WebMCP: true, Extension: dir})
	})
}

func testFrameInAWindowWithoutAddress(h *hub, opts chromium.Options) {
	t := h.t
	b := h.browse(opts)
	url := site(t, map[string]string{
		"/":     `<!doctype html><title>Opener</title>`,
		"/tool": `<!doctype html><script>` + chromium.InFrame(`document.modelContext.registerTool({name: "tool", description: "d", execute: () => "x"})`) + `</script>`,
	})
	p := b.Open(url)
	p.Eval(`void open("about:blank").document.body.append(Object.assign(document.createElement("iframe"), {src: "/tool"}))`)
	if got := h.tool(h.tabWith("tool"), "tool"); got.Origin != url || got.FrameID == 0 {
		t.Errorf("%+v", got)
	}
}
