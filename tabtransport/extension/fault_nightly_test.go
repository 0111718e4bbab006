//go:build nightly

package extension_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// A worker that is stopped while the next document loads does not lose the call.
func TestWorkerStoppedUnderNavigation(t *testing.T) {
	t.Parallel()
	bothWays(t, testWorkerStoppedUnderNavigation)
}

func testWorkerStoppedUnderNavigation(t *testing.T, native bool) {
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	// Another page, which has a process of its own, wakes the worker where no document is left to.
	elsewhere := strings.Replace(site(t, map[string]string{"/": shop}), "127.0.0.1", "localhost", 1)
	b.Open(elsewhere)
	h.tabAt(elsewhere, shopTools...)
	noted := func(w *chromium.Page, what string) {
		w.WaitFor("chrome.storage.session.get('calls').then(({calls = {}}) => Object.values(calls).some(call => " + what + "))")
	}
	for _, c := range []struct {
		name, tool    string
		begun         bool // the next document is there when the worker is stopped, and still loads
		before, after func(p, w *chromium.Page)
	}{
		{name: "nothing is noted", tool: "form", before: func(_, w *chromium.Page) { storesSlowly(w) }},
		{name: "only the call is noted", tool: "goes", after: func(p, w *chromium.Page) {
			noted(w, "call.tool")
			p.WaitFor("window.go")
			storesSlowly(w)
			p.Eval("go()")
		}},
		{name: "the document has gone", tool: "form", begun: true, after: func(_, w *chromium.Page) {
			noted(w, "call.leaving")
			w.WaitFor("chrome.tabs.query({title: 'Next'}).then(({length}) => length)")
		}},
		{name: "the browser tells the worker nothing any more", tool: "form", begun: true, after: func(_, w *chromium.Page) {
			noted(w, "call.leaving")
			w.Eval(`void Object.defineProperty(chrome.tabs, "get", {value: () => Promise.reject(self.told = new Error("No SW"))})`)
			w.WaitFor("self.told")
		}},
	} {
		asked, release := make(chan struct{}), make(chan struct{})
		load := sync.OnceFunc(func() { close(release) })
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			if r.URL.Path != "/next" {
				_, _ = io.WriteString(w, `<form toolname="form" tooldescription="d" toolautosubmit action="/next"></form><script>
					const execute = () => new Promise(() => { window.go = () => void setTimeout(() => location.href = "/next?"); });
					document.modelContext.registerTool({name: "goes", description: "d", execute});
				</script>`)
				return
			}
			_, _ = io.WriteString(w, `<!doctype html><title>Next</title>`)
			if c.begun {
				_ = http.NewResponseController(w).Flush()
			}
			close(asked)
			<-release
			_, _ = io.WriteString(w, `<script type="application/ld+json">{"n":1}</script>`)
		}))
		t.Cleanup(s.Close)
		t.Cleanup(load)
		p := b.Open(s.URL)
		tab := h.tabAt(s.URL, "form", "goes")
		w := b.Worker()
		if c.before != nil {
			c.before(p, w)
		}
		done := h.begin(tab, 0, c.tool, "{}")
		if c.after != nil {
			c.after(p, w)
		}
		w.Close()
		<-asked
		h.stopWorker(b)
		if !c.begun {
			h.wait("the document speaks to the next worker", func() bool { return h.tabs[tab].registrations > 0 && len(h.tabs[tab].here()) == 2 })
		}
		load()
		if got, want := <-done, `{"content":[{"type":"text","text":"[{\"n\":1}]"}]} at `+s.URL+`/next? "Next"`; got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
		p.Close()
	}
}
