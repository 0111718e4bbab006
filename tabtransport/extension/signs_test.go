package extension_test

import (
	"io"
	"net/http"
	"net/http/httptest"
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

// A frame that is slow to load is not asked for its tools before it has: the browser might never answer
// the frame itself then (chromium.InFrame).
func TestSlowFramesAreLeftAlone(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	opts := chromium.Options{Extension: h.write(), WebMCP: true}
	prepend(t, filepath.Join(opts.Extension, "content", "page.js"), `{
		const property = Object.getOwnPropertyDescriptor(Document.prototype, "modelContext");
		const get = function() { (window.uses ??= []).push(document.readyState); return property.get.call(this); };
		Object.defineProperty(Document.prototype, "modelContext", { ...property, get });
	}
	`)
	rested := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			_, _ = io.WriteString(w, `<!doctype html><title>Around</title><iframe src="/slow"></iframe>`)
		case "/slow":
			_, _ = io.WriteString(w, `<!doctype html><script>requestIdleCallback(() => fetch("/rested"))</script>`)
			_ = http.NewResponseController(w).Flush()
			<-rested
		case "/rested":
			close(rested)
		}
	}))
	t.Cleanup(s.Close)
	p := h.browse(opts).Open(s.URL)
	p.WaitFor("!!frames[0].uses")
	if got := p.Eval("frames[0].uses.filter((state) => state !== 'complete')"); got != `[]` {
		t.Errorf("the extension uses a frame's WebMCP while it is %s", got)
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
