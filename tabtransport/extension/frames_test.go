package extension_test

import (
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// A tool of a frame belongs to the frame's site and is called in the frame.
func TestFrames(t *testing.T) {
	t.Parallel()
	bothWays(t, testFrames)
}

func testFrames(t *testing.T, native bool) {
	register := func(name string) string {
		return fmt.Sprintf(`document.modelContext?.registerTool({name: %q, description: 'd', execute: () => location.href})`, name)
	}
	tool := func(name string) string { return `<!doctype html><script>` + register(name) + `</script>` }
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	other := site(t, map[string]string{"/frame": tool("theirs")})
	url := site(t, map[string]string{
		"/":      tool("mine") + `<iframe src="/frame"></iframe><iframe src="` + other + `/frame" allow="tools"></iframe><iframe sandbox="allow-scripts" allow="tools *" src="/frame"></iframe>`,
		"/frame": `<!doctype html><script>` + chromium.InFrame(register("ours")) + `</script>`,
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
	h.wait("why the tools of a sandboxed frame are not listed", func() bool {
		got := h.tabs[tab].rejected
		return len(got) == 1 && got[0].Name == "frame "+url+"/frame" && strings.Contains(got[0].Reason, "sandboxed")
	})
	p.Eval(`document.querySelectorAll('iframe')[2].remove()`)
	h.wait("it is gone", func() bool { return len(h.tabs[tab].rejected) == 0 })
	p.Eval(`document.querySelectorAll('iframe')[1].remove()`)
	h.tabWith("mine", "ours")
}

// Frames in shadow trees, which their page does not list, are found as others are.
func TestFramesInShadowTrees(t *testing.T) {
	t.Parallel()
	const around = `<!doctype html><script>
		const frame = Object.assign(document.createElement("iframe"), {src: FRAME, allow: "tools"});
		document.documentElement.appendChild(document.createElement("div")).attachShadow({mode: "closed"}).append(frame);
	</script>`
	tool := `<!doctype html><script>` + chromium.InFrame(`document.modelContext.registerTool({name: "inner", description: "d", execute: () => location.href})`) + `</script>`
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

// A frame without an address of its own, such as a srcdoc, has the site of the page
// around it; a sandboxed one has none.
func TestFramesWithoutAddress(t *testing.T) {
	t.Parallel()
	frame := func(sandbox, page string) string {
		return fmt.Sprintf(`<iframe %s srcdoc="%s"></iframe>`, sandbox, html.EscapeString(page))
	}
	tool := func(name string) string {
		return `<script>` + chromium.InFrame(fmt.Sprintf(`document.modelContext.registerTool({name: %q, description: 'd', execute: () => location.href})`, name)) + `</script>`
	}
	server := strings.ReplaceAll(oldServer, "ANNOUNCED", "0")
	registered := `<!doctype html>` + frame("", tool("inner")) + frame(`sandbox="allow-scripts"`, tool("locked"))
	const fromAround = `<!doctype html><iframe></iframe><script>frames[0].document.modelContext.registerTool({name: "blank", description: "d", execute: () => "from about:blank"})</script>`
	for _, c := range chromium.Rows(3, []struct {
		native            bool
		page, name, reply string
	}{
		{false, registered, "inner", "about:srcdoc"},
		{false, `<!doctype html>` + frame("", server) + frame(`sandbox="allow-scripts"`, server), "old", "from the old server"},
		{true, fromAround, "blank", "from about:blank"},
		{true, registered, "inner", "about:srcdoc"},
		{false, fromAround, "blank", "from about:blank"},
		{false, `<!doctype html><script type="text/plain" id="page">` + url.PathEscape(server) + `</script><script>
			const frame = document.createElement("iframe");
			frame.src = URL.createObjectURL(new Blob([decodeURIComponent(document.getElementById("page").textContent)], {type: "text/html"}));
			document.documentElement.append(frame);
		</script>`, "old", "from the old server"},
	}...) {
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

// A reload must not take the tools away for a moment: every client would be notified.
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
