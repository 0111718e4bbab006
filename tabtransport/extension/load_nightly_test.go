//go:build nightly

package extension_test

import (
	"encoding/json"
	"errors"
	"image/color"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// flood offers as much as a page may, and something else twice a second.
const flood = `<!doctype html><title>Flood</title><script>
	const send = payload => window.postMessage({channel: 'mcp-default', type: 'mcp', direction: 'server-to-client', payload}, '*');
	const patterns = Object.fromEntries(Array.from({length: 15}, (_, i) => ['p' + i, {type: 'string', pattern: '^(' + 'ab|cd|'.repeat(40) + 'x)+$'}]));
	let turn = 0;
	addEventListener('message', ({data}) => {
		if (data?.direction !== 'client-to-server' || data.payload === 'mcp-check-ready') return;
		const {id, method} = data.payload;
		const reply = result => send({jsonrpc: '2.0', id, result});
		if (method === 'initialize') reply({protocolVersion: '2025-06-18', capabilities: {tools: {listChanged: true}}, serverInfo: {name: 'flood', version: '1'}});
		if (method === 'tools/list') reply({tools: Array.from({length: 1024}, (_, i) => ({name: 'many' + i, description: 'turn ' + turn, inputSchema: {type: 'object', properties: patterns}}))});
	});
	send('mcp-server-ready');
	setInterval(() => { turn++; send({jsonrpc: '2.0', method: 'notifications/tools/list_changed'}); }, 500);
	</script>`

// A page that offers much, again and again, takes no time from the calls of others.
func TestCallsBesideAFlood(t *testing.T) {
	h := newHub(t)
	b := h.browse(chromium.Options{})
	good := b.Open(site(t, map[string]string{"/": strings.ReplaceAll(oldServer, "ANNOUNCED", "0")}))
	tab := h.tabWith("old")
	// rate runs calls for d, and returns how many of them were answered in a second.
	rate := func(d time.Duration) float64 {
		good.Front()
		n, began := 0.0, time.Now()
		for ; time.Since(began) < d; n++ {
			if got, err := h.call(tab, "old", "{}"); err != nil || !strings.Contains(got, "from the old server") {
				t.Fatalf("%s, %v", got, err)
			}
		}
		return n / time.Since(began).Seconds()
	}
	quiet := rate(time.Second)
	b.Open(site(t, map[string]string{"/": flood}))
	var other int64
	h.wait("the flood", func() bool {
		for id := range h.tabs {
			if id != tab && len(h.tabs[id].tools) == 1024 {
				other = id
				return true
			}
		}
		return false
	})
	h.mu.Lock()
	before := h.tabs[other].registrations
	h.mu.Unlock()
	beside := rate(4 * time.Second)
	h.mu.Lock()
	n := h.tabs[other].registrations - before
	h.mu.Unlock()
	t.Logf("%.0f calls a second; beside a flood %.0f, with %d registrations", quiet, beside, n)
	if n > 1 || beside < quiet/10 {
		t.Error("calls wait for the flood")
	}
}

// A picture is of the tab that it was asked of, whatever comes in front meanwhile.
func TestPictureWhileTabsChange(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	off := site(t, map[string]string{"/": red})
	b.Open(off)
	private := front(b)
	public := b.Open(site(t, map[string]string{"/": green}))
	tab := front(b)
	switchSite(b, off, false)
	public.Front()
	taken := 0
	for range 16 {
		if _, err := h.ask(tab, &spec.ActivateTab{}); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := h.ask(private, &spec.ActivateTab{})
			done <- err
		}()
		got, err := h.ask(tab, &spec.Screenshot{})
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err != nil {
			if strings.Contains(err.Error(), "Private") || strings.Contains(err.Error(), off) {
				t.Errorf("the error tells of the other tab: %v", err)
			}
			continue
		}
		taken++
		if shows(t, got, color.RGBA{R: 255, A: 255}) {
			t.Error("the picture shows the other tab")
		}
	}
	t.Logf("%d of 16 pictures were taken", taken)
	if _, err := h.ask(tab, &spec.ActivateTab{}); err != nil {
		t.Error(err)
	}
	if got, err := h.ask(tab, &spec.Screenshot{}); err != nil || !shows(t, got, color.RGBA{G: 255, A: 255}) {
		t.Errorf("when all is quiet: %v", err)
	}
}

// A client that sends a tab to another page of its site waits there for what that one offers.
func TestNothingIsKeptOfThePageBefore(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/" {
			_, _ = io.WriteString(w, shop)
			return
		}
		_, _ = io.WriteString(w, "<!doctype html><title>Endless</title>")
		_ = http.NewResponseController(w).Flush()
		<-done
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(done) })
	b.Open(server.URL + "/")
	tab := h.tabWith(shopTools...)
	if _, err := h.ask(tab, &spec.Navigate{URL: server.URL + "/endless"}); err != nil {
		t.Fatal(err)
	}
	// The page goes on loading for ever, so that it has not said that it offers nothing.
	h.change(func() {
		if left := h.tabs[tab].here(); len(left) > 0 {
			t.Errorf("the hub still takes %q for the page's", left)
		}
	})
}

// A client that sends a tab somewhere learns if no page came of it.
func TestAddressesWithoutAPage(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.browse(chromium.Options{})
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			panic(http.ErrAbortHandler)
		case "/nothing":
			w.WriteHeader(http.StatusNoContent)
		case "/silent":
			<-done
		case "/endless":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<!doctype html><title>Endless</title><p>The first part")
			_ = http.NewResponseController(w).Flush()
			<-done
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<!doctype html><title>Page</title><p>Here")
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(done) })
	open := func() int64 {
		t.Helper()
		answer, err := h.ask(0, &spec.OpenTab{URL: server.URL + "/"})
		var opened spec.OpenTabResult
		if err := errors.Join(err, json.Unmarshal([]byte(answer), &opened)); err != nil {
			t.Fatal(err)
		}
		return opened.TabID
	}
	// Each has a tab of its own, and they wait side by side.
	type outcome struct{ path, got, want string }
	outcomes := make(chan outcome)
	tests := map[string]string{"/gone": "cannot be loaded", "/nothing": "led to no page", "/silent": "has not answered", "/endless": ""}
	for path, want := range tests {
		tab := open()
		go func() {
			_, err := h.ask(tab, &spec.Navigate{URL: server.URL + path})
			o := outcome{path: path, want: want}
			if err != nil {
				o.got = err.Error()
			}
			if path == "/endless" {
				// What is there can be read before all is.
				answer, err := h.ask(tab, &spec.Text{})
				if err != nil || !strings.Contains(answer, "The first part") {
					o.got += answer
				}
			}
			outcomes <- o
		}()
	}
	for range tests {
		// On a busy machine any of them may be late.
		if o := <-outcomes; (o.want == "") != (o.got == "") || !strings.Contains(o.got, o.want) && !strings.Contains(o.got, "has not answered") {
			t.Errorf("%s: %q, want %q", o.path, o.got, o.want)
		}
	}
}
