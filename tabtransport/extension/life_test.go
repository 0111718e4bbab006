package extension_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// page is a document whose tools say which document ran them, and how often. It goes on loading
// until the test lets it have its tools.
func page(name string, ofLibrary bool, tools ...string) string {
	library := ""
	if ofLibrary {
		library = `<script src="/lib.js"></script>`
	}
	return fmt.Sprintf(`<!doctype html><title>%s</title>%s<script src="/go/%[1]s"></script><script>
		var runs = 0;
		for (const name of %[3]s) {
			document.modelContext.registerTool({name, description: "d", inputSchema: {type: "object"}, execute: () => ({content: [{type: "text", text: "%[1]s ran it " + ++runs}]})});
		}
	</script>`, name, library, "["+`"`+strings.Join(tools, `","`)+`"`+"]")
}

// pages is a site of such pages.
type pages struct {
	url    string
	offers map[string]chan struct{} // by page: closed when it may have its tools
}

func newPages(t *testing.T, ofLibrary bool, all map[string][]string) *pages {
	s := &pages{offers: map[string]chan struct{}{}}
	mux := http.NewServeMux()
	for name, tools := range all {
		s.offers[name] = make(chan struct{})
		mux.HandleFunc("/"+name, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, page(name, ofLibrary, tools...))
		})
		mux.HandleFunc("/go/"+name, func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-s.offers[name]:
			case <-r.Context().Done():
			}
		})
	}
	if ofLibrary {
		library := published(t, "@mcp-b/global")
		mux.HandleFunc("/lib.js", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, library) })
	}
	mux.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/second", http.StatusFound) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	s.url = server.URL
	return s
}

// A document's tools are there as soon as it has registered them, those of the one before it
// are known to have gone, and are forgotten when it has had its time. A call that comes between
// the two reaches the one that has the tool, once.
func TestNextDocument(t *testing.T) {
	t.Parallel()
	for _, c := range chromium.Rows(2, []struct{ by, way string }{{"extension", "/second"}, {"browser", "/redirect"}, {"browser", "/second"}, {"library", "/second"}}...) {
		t.Run(c.by+c.way, func(t *testing.T) {
			t.Parallel()
			s := newPages(t, c.by == "library", map[string][]string{"first": {"mine", "both"}, "second": {"both", "theirs"}})
			h := newHub(t)
			b := h.browse(chromium.Options{WebMCP: c.by == "browser"})
			close(s.offers["first"])
			p := b.Open(s.url + "/first")
			tab := h.tabShowing("mine", "both")
			fewest := h.fewest(tab)
			p.Eval(fmt.Sprintf(`void setTimeout(() => location.href = %q)`, c.way))
			h.tabShowing()
			got := h.begin(tab, 0, "both", "{}")
			close(s.offers["second"])
			h.wait("the next document's tools beside what has departed", func() bool {
				v := h.tabs[tab]
				return equal(v.here(), []string{"both", "theirs"}) && equal(names(v.tools), []string{"mine", "both", "theirs"})
			})
			if result := <-got; !strings.Contains(result, "second ran it 1") {
				t.Errorf("the call: %s", result)
			}
			h.tabWith("both", "theirs")
			if n := p.Eval("runs"); n != "1" {
				t.Errorf("the call ran %s times", n)
			}
			if n := fewest(); n < 2 {
				t.Errorf("while the page changed the hub saw %d tools", n)
			}
		})
	}
}

// What the next site shows has nothing to do with the site before, however long it loads.
func TestNextSite(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	done := make(chan struct{})
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!doctype html><title>Endless</title>")
		_ = http.NewResponseController(w).Flush()
		<-done
	}))
	t.Cleanup(endless.Close)
	t.Cleanup(func() { close(done) })
	p := b.Open(site(t, map[string]string{"/": shop}))
	tab := h.tabShowing(shopTools...)
	start := time.Now()
	p.Eval(fmt.Sprintf("void setTimeout(() => location.href = %q)", endless.URL))
	h.wait("the tab without tools", func() bool { return len(h.tabs[tab].tools) == 0 })
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("the tools of the site before were listed for %v", took)
	}
}

// Where only the address changes the document stays, with the tools that it has then, which may
// come and go long after it was loaded.
func TestSameDocumentNavigation(t *testing.T) {
	t.Parallel()
	bothWays(t, testSameDocumentNavigation)
}

func testSameDocumentNavigation(t *testing.T, native bool) {
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	url := site(t, map[string]string{"/": `<!doctype html><script>
		const tool = (name, signal) => document.modelContext.registerTool({name, description: "d", execute: () => location.pathname}, {signal});
		const home = new AbortController();
		tool("stays");
		function go() { home.abort(); history.pushState({}, "", "/cart"); document.title = "Cart"; tool("cart"); }
	</script>`})
	p := b.Open(url)
	tab := h.tabShowing("stays")
	p.Eval(`tool("home", home.signal)`)
	h.tabShowing("stays", "home")
	p.Eval("go()")
	h.wait("the next view's tools, and nothing else", func() bool {
		v := h.tabs[tab]
		if slices.ContainsFunc(v.tools, func(it item) bool { return it.Departed }) {
			t.Error("a tool has departed though its document is there")
		}
		return equal(names(v.tools), []string{"stays", "cart"}) && v.state.URL != nil && strings.HasSuffix(*v.state.URL, "/cart") &&
			*v.state.Title == "Cart" && *v.state.Active && *v.state.WindowFocused
	})
	if got, err := h.call(tab, "stays", "{}"); err != nil || !strings.Contains(got, "/cart") {
		t.Errorf("%s, %v", got, err)
	}
}

// A reload gives frames other numbers. Their tools stay listed, and a call with an old number
// reaches the frame of that site that has the tool now.
func TestReloadOfAPageWithFrames(t *testing.T) {
	t.Parallel()
	bothWays(t, testReloadOfAPageWithFrames)
}

func testReloadOfAPageWithFrames(t *testing.T, native bool) {
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	tool := `<!doctype html><script>var runs = 0; document.modelContext.registerTool({name: "inner", description: "d", execute: () => String(++runs)})</script>`
	other := site(t, map[string]string{"/": tool})
	p := b.Open(site(t, map[string]string{"/": `<!doctype html><iframe src="` + other + `" allow="tools"></iframe>`}))
	tab := h.tabShowing("inner")
	old := h.tool(tab, "inner")
	fewest := h.fewest(tab)
	p.Reload()
	resp, err := h.ask(tab, &spec.ExecuteTool{ToolName: "inner", Args: []byte("{}"), FrameID: &old.FrameID, Origin: other})
	if err != nil || !strings.Contains(resp, `1`) {
		t.Errorf("a call with the frame's old number: %s, %v", resp, err)
	}
	h.wait("the new frame", func() bool {
		v := h.tabs[tab]
		return equal(v.here(), []string{"inner"}) && len(v.tools) == 1 && v.tools[0].FrameID != old.FrameID
	})
	if n := fewest(); n < 1 {
		t.Errorf("while the page was reloaded the hub saw %d tools", n)
	}
}
