package chromium_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tabhub/tabtransport/tabtest/chromium"
)

func TestMain(m *testing.M) { os.Exit(chromium.Main(m)) }

func site(t *testing.T, html string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, html)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestPageHasWebMCPOnlyIfAsked(t *testing.T) {
	url := site(t, "<!doctype html><title>x</title><button onclick='document.title=\"clicked\"'>b</button>")
	for _, on := range []bool{true, false} {
		b := chromium.Start(t, chromium.Options{WebMCP: on})
		p := b.Open(url)
		var has bool
		p.Into("'modelContext' in document", &has)
		if has != on {
			t.Errorf("WebMCP %v: document.modelContext present: %v", on, has)
		}
		p.Click("button")
		p.WaitFor("document.title === 'clicked'")
		p.Crash()
		b.Open(url).WaitFor("document.title === 'x'")
		b.Close()
	}
}

// hasRun returns JavaScript that reports that the script before it has run, and what waits for that: a
// worker is there before its script has run, and before it has a clock to wait by.
func hasRun(t *testing.T) (script string, wait func()) {
	t.Helper()
	reports := make(chan struct{}, 8)
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reports <- struct{}{} }))
	t.Cleanup(s.Close)
	wait = func() {
		t.Helper()
		select {
		case <-reports:
		case <-time.After(chromium.Timeout):
			t.Fatal("the worker's script has not run")
		}
	}
	return "void fetch('" + s.URL + "', {mode: 'no-cors'});", wait
}

func TestWorkerStopsAndComesBack(t *testing.T) {
	report, wait := hasRun(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"manifest.json": `{"manifest_version":3,"name":"t","version":"1","background":{"service_worker":"w.js"},
			"content_scripts":[{"matches":["<all_urls>"],"js":["c.js"]}]}`,
		"w.js": `globalThis.born = Math.random(); chrome.runtime.onConnect.addListener(() => {});` + report,
		"c.js": `const open = () => chrome.runtime.connect().onDisconnect.addListener(open); open();`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := chromium.Start(t, chromium.Options{Extension: dir})
	if b.ExtensionID == "" {
		t.Fatal("the extension has no id")
	}
	wait()
	w := b.Worker()
	first := w.Eval("born")
	w.Close()
	b.Open(site(t, "<!doctype html>"))
	b.StopWorker()
	wait()
	if second := b.Worker().Eval("born"); second == first {
		t.Error("the worker kept its memory: it was not stopped")
	}
}

// A test finds no trace of the earlier test in a shared browser.
func TestSharedBrowserIsAsNew(t *testing.T) {
	report, wait := hasRun(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"manifest.json": `{"manifest_version":3,"name":"t","version":"1","permissions":["storage","tabs"],"background":{"service_worker":"w.js"}}`,
		"w.js":          `globalThis.kept = chrome.storage.local.get(); chrome.storage.local.set({a: 1});` + report,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	url := site(t, "<!doctype html><title>x</title>")
	for range 2 {
		b := chromium.Shared(t, chromium.Options{Extension: dir})
		wait()
		w := b.Worker()
		if got := w.Eval(`Promise.all([kept, chrome.tabs.query({}), chrome.windows.getAll()]).then(([kept, tabs, windows]) => [kept, tabs.length, windows.length])`); got != `[{},1,1]` {
			t.Errorf("what is stored, and the tabs and windows: %s", got)
		}
		p := b.Open(url)
		if got := p.Eval("[document.cookie, {...localStorage}]"); got != `["",{}]` {
			t.Errorf("what the page finds: %s", got)
		}
		p.Eval("document.cookie = 'a=b'; localStorage.c = 'd'; void 0")
		w.Eval(`chrome.windows.create({url: "` + url + `"}).then(() => 0)`)
		b.Close()
	}
}
