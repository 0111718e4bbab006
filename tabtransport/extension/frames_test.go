package extension_test

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// A tool of a frame belongs to the frame's site and is called in the frame.
func TestFrames(t *testing.T) {
	t.Parallel()
	bothWays(t, testFrames)
}

func testFrames(t *testing.T, native bool) {
	tool := func(name string) string {
		return fmt.Sprintf(`<!doctype html><script>document.modelContext?.registerTool({name: %q, description: 'd', execute: () => location.href})</script>`, name)
	}
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	other := site(t, map[string]string{"/frame": tool("theirs")})
	url := site(t, map[string]string{
		"/":      tool("mine") + `<iframe src="/frame"></iframe><iframe src="` + other + `/frame" allow="tools"></iframe><iframe sandbox="allow-scripts" src="/frame"></iframe>`,
		"/frame": tool("ours"),
	})
	p := b.Open(url)
	tab := h.tabWith("mine", "ours", "theirs")
	if mine, ours, theirs := h.tool(tab, "mine"), h.tool(tab, "ours"), h.tool(tab, "theirs"); mine.Origin != url || ours.Origin != url || theirs.Origin != other || mine.FrameID != 0 || ours.FrameID == 0 || theirs.FrameID == 0 || ours.FrameID == theirs.FrameID {
		t.Errorf("frames: %+v %+v %+v", mine, ours, theirs)
	}
	for name, want := range map[string]string{"mine": url + "/", "ours": url + "/frame", "theirs": other + "/frame"} {
		if got, err := h.call(tab, name, "{}"); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
	p.Eval(`document.querySelectorAll('iframe')[1].remove()`)
	h.tabWith("mine", "ours")
}

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
		"/tool":   `<!doctype html><script>document.modelContext.registerTool({name: "inner", description: "d", execute: () => location.href})</script>`,
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

// Frames in shadow trees, which their page does not list, are found as others are.
func TestFramesInShadowTrees(t *testing.T) {
	t.Parallel()
	const around = `<!doctype html><script>
		const frame = Object.assign(document.createElement("iframe"), {src: FRAME, allow: "tools"});
		document.documentElement.appendChild(document.createElement("div")).attachShadow({mode: "closed"}).append(frame);
	</script>`
	const tool = `<!doctype html><script>document.modelContext.registerTool({name: "inner", description: "d", execute: () => location.href})</script>`
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	other := site(t, map[string]string{"/": strings.ReplaceAll(around, "FRAME", `"/tool"`), "/tool": tool})
	b.Open(site(t, map[string]string{"/": strings.ReplaceAll(around, "FRAME", fmt.Sprintf("%q", other))}))
	tab := h.tabWith("inner")
	if got := h.tool(tab, "inner"); got.Origin != other {
		t.Errorf("%+v", got)
	}
	if got, err := h.call(tab, "inner", "{}"); err != nil || !strings.Contains(got, other+"/tool") {
		t.Errorf("inner: %s, %v", got, err)
	}
}

// A frame of a shadow tree, of which none can be told from the others, may get the extension while it is
// empty. What it loads then, with the same window, has its tools nevertheless.
func TestFrameThatLoadsLate(t *testing.T) {
	t.Parallel()
	tool := func(name string) string {
		return fmt.Sprintf(`<!doctype html><script>document.modelContext.registerTool({name: %q, description: "d", execute: () => location.href})</script>`, name)
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

// A frame without an address of its own, such as a srcdoc, has the site of the page
// around it; a sandboxed one has none.
func TestFramesWithoutAddress(t *testing.T) {
	t.Parallel()
	frame := func(sandbox, page string) string {
		return fmt.Sprintf(`<iframe %s srcdoc="%s"></iframe>`, sandbox, html.EscapeString(page))
	}
	tool := func(name string) string {
		return fmt.Sprintf(`<script>document.modelContext.registerTool({name: %q, description: 'd', execute: () => location.href})</script>`, name)
	}
	server := strings.ReplaceAll(oldServer, "ANNOUNCED", "0")
	registered := `<!doctype html>` + frame("", tool("inner")) + frame(`sandbox="allow-scripts"`, tool("locked"))
	const fromAround = `<!doctype html><iframe></iframe><script>frames[0].document.modelContext.registerTool({name: "blank", description: "d", execute: () => "from about:blank"})</script>`
	for _, c := range []struct {
		native            bool
		page, name, reply string
	}{
		{true, registered, "inner", "about:srcdoc"},
		{false, registered, "inner", "about:srcdoc"},
		{false, `<!doctype html>` + frame("", server) + frame(`sandbox="allow-scripts"`, server), "old", "from the old server"},
		{true, fromAround, "blank", "from about:blank"},
		{false, fromAround, "blank", "from about:blank"},
		{false, `<!doctype html><script type="text/plain" id="page">` + url.PathEscape(server) + `</script><script>
			const frame = document.createElement("iframe");
			frame.src = URL.createObjectURL(new Blob([decodeURIComponent(document.getElementById("page").textContent)], {type: "text/html"}));
			document.documentElement.append(frame);
		</script>`, "old", "from the old server"},
	} {
		t.Run(fmt.Sprintf("%s native=%v", c.name, c.native), func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			b := h.browse(chromium.Options{WebMCP: c.native})
			address := site(t, map[string]string{"/": c.page})
			b.Open(address)
			tab := h.tabWith(c.name)
			if got := h.tool(tab, c.name); got.Origin != address || got.FrameID == 0 {
				t.Errorf("%+v", got)
			}
			if got, err := h.call(tab, c.name, `{}`); err != nil || !strings.Contains(got, c.reply) {
				t.Errorf("%s: %s, %v", c.name, got, err)
			}
		})
	}
}

// In a browser without WebMCP a server in a frame speaks only to the frame's parent.
func TestServersInFrames(t *testing.T) {
	t.Parallel()
	toParent := strings.NewReplacer("mcp-default", "mcp-iframe", "window.postMessage", "parent.postMessage", "source !== window", "source !== parent", "ANNOUNCED", "0")
	h := newHub(t)
	b := h.browse(chromium.Options{})
	other := site(t, map[string]string{"/": toParent.Replace(oldServer)})
	url := site(t, map[string]string{
		"/":        `<!doctype html><title>Outer</title><iframe src="` + other + `/"></iframe><iframe src="/library"></iframe>`,
		"/library": libraryPage("/lib.js"),
		"/lib.js":  published(t, "@mcp-b/global"),
	})
	p := b.Open(url)
	tab := h.tabWith("old", "add", "throws")
	if old, add := h.tool(tab, "old"), h.tool(tab, "add"); old.Origin != other || add.Origin != url || old.FrameID == add.FrameID {
		t.Errorf("frames: %+v %+v", old, add)
	}
	if got, err := h.call(tab, "add", `{"a":2,"b":3}`); err != nil || !strings.Contains(got, `"sum":5`) {
		t.Errorf("add: %s, %v", got, err)
	}
	if got, err := h.call(tab, "old", `{}`); err != nil || !strings.Contains(got, "from the old server") {
		t.Errorf("old: %s, %v", got, err)
	}
	// The frame's next document has its own server.
	p.Eval(`new Promise(done => { const f = document.querySelector('iframe'); f.onload = done; f.src = f.src; })`)
	h.tabWith("old", "add", "throws")
	if got, err := h.call(tab, "old", `{}`); err != nil || !strings.Contains(got, "from the old server") {
		t.Errorf("old after a reload of the frame: %s, %v", got, err)
	}
	p.Eval(`document.querySelector('iframe').remove()`)
	h.tabWith("add", "throws")
}

// A page cannot speak for a frame of another site with events that it makes itself.
func TestForgedMessagesOfFrames(t *testing.T) {
	t.Parallel()
	toParent := strings.NewReplacer("mcp-default", "mcp-iframe", "window.postMessage", "parent.postMessage", "source !== window", "source !== parent", "ANNOUNCED", "0")
	h := newHub(t)
	b := h.browse(chromium.Options{})
	other := site(t, map[string]string{"/": toParent.Replace(oldServer) + `<script>addEventListener("message", ({data}) => data === "more" && change([{name: "old"}, {name: "new"}]))</script>`})
	p := b.Open(site(t, map[string]string{"/": `<!doctype html><title>Outer</title><iframe src="` + other + `/"></iframe>`}))
	tab := h.tabWith("old")
	p.Eval(fmt.Sprintf(`void ['mcp-server-stopped', 'mcp-server-ready'].forEach((payload, i) => dispatchEvent(new MessageEvent('message', {
		data: {channel: 'mcp-iframe', type: 'mcp', direction: 'server-to-client', payload},
		source: frames[0], origin: [%q, 'https://bank.example'][i],
	})))`, other))
	p.Eval(`frames[0].postMessage("more", "*")`)
	h.tabWith("old", "new")
	if got, err := h.call(tab, "old", `{}`); err != nil || !strings.Contains(got, "from the old server") {
		t.Errorf("old: %s, %v", got, err)
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

// A page that comes back from the back/forward cache has its tools, and the same ones.
func TestBackForwardCache(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, native bool) {
		h := newHub(t)
		b := h.browse(chromium.Options{WebMCP: native})
		url := site(t, map[string]string{
			"/":       libraryPage("/lib.js"),
			"/lib.js": published(t, "@mcp-b/global"),
			"/next":   `<!doctype html><title>Next</title>`,
		})
		p := b.Open(url)
		tab := h.tabWith("add", "throws")
		p.Eval(`addEventListener('pageshow', e => window.fromCache = e.persisted)`)
		p.Navigate(url + "/next")
		h.tabWith()
		p.Back()
		p.WaitFor("window.fromCache")
		h.tabWith("add", "throws")
		if got, err := h.call(tab, "add", `{"a":2,"b":3}`); err != nil || !strings.Contains(got, `"sum":5`) {
			t.Errorf("add: %s, %v", got, err)
		}
	})
}

// A reload must not take the tools away for a moment: every client would be told.
func TestReloadDoesNotFlap(t *testing.T) {
	t.Parallel()
	bothWays(t, testReloadDoesNotFlap)
}

func testReloadDoesNotFlap(t *testing.T, native bool) {
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	p := b.Open(site(t, map[string]string{"/": shop}))
	tab := h.tabWith(shopTools...)
	fewest := h.fewest(tab)
	p.Eval("window.old = true")
	p.Reload()
	p.Eval(`document.modelContext.registerTool({name: 'reloaded', description: 'd', execute: () => ''})`)
	h.tabWith(append([]string{"reloaded"}, shopTools...)...)
	if n := fewest(); n < len(shopTools) {
		t.Errorf("while the page was reloaded the hub saw %d tools", n)
	}
}

// A window that a page has opened without an address of its own shows frames of other pages.
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
		"/tool": `<!doctype html><script>document.modelContext.registerTool({name: "tool", description: "d", execute: () => "x"})</script>`,
	})
	p := b.Open(url)
	p.Eval(`void open("about:blank").document.body.append(Object.assign(document.createElement("iframe"), {src: "/tool"}))`)
	if got := h.tool(h.tabWith("tool"), "tool"); got.Origin != url || got.FrameID == 0 {
		t.Errorf("%+v", got)
	}
}
