package extension_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/tabtest/chromium"
	"tabhub/tabtransport/tabtest/shapes"
)

// write writes a copy of the extension that is paired with h.
func (h *hub) write() string {
	h.t.Helper()
	dir := h.t.TempDir()
	if _, err := extension.Write(dir, h.pairings.Ring, h.url()); err != nil {
		h.t.Fatal(err)
	}
	return dir
}

// addToWorker has the workers of a copy of the extension run more.
func addToWorker(t testing.TB, dir, script string) {
	t.Helper()
	main := filepath.Join(dir, "worker", "main.js")
	text, err := os.ReadFile(main)
	if err == nil {
		err = os.WriteFile(main, append(text, "\n"+script+"\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// browse starts a browser with the extension connected to h.
func (h *hub) browse(opts chromium.Options) *chromium.Browser {
	h.t.Helper()
	if opts.Extension == "" {
		opts.Extension = h.write()
		if shape, ok := everywhere(h.t); ok {
			opts.WebMCP = true
			dress(h.t, opts.Extension, shape)
		}
	}
	start := chromium.Start
	if opts == (chromium.Options{WebMCP: opts.WebMCP, Extension: opts.Extension}) {
		start = chromium.Shared
	}
	b := start(h.t, opts)
	h.wait("the extension connects", func() bool { return h.hello != nil })
	return b
}

// everywhere returns the WebMCP that all tests are to find in the browser, if TABHUB_SHAPE names one:
// chromium is what it has itself.
func everywhere(t testing.TB) (shapes.Shape, bool) {
	t.Helper()
	name, ok := os.LookupEnv("TABHUB_SHAPE")
	if !ok || name == "chromium" {
		return shapes.Shape{}, ok
	}
	for _, s := range shapes.All {
		if s.Name == name {
			return s, true
		}
	}
	t.Fatalf("TABHUB_SHAPE: there is no %s", name)
	return shapes.Shape{}, false
}

// dress has a copy of the extension, and the pages that it is in, find a shape of WebMCP.
func dress(t testing.TB, dir string, s shapes.Shape) {
	t.Helper()
	for _, script := range []string{"page.js", "plain.js", "frame.js"} {
		prepend(t, filepath.Join(dir, "content", script), s.Script)
	}
}

// stopWorker stops the extension's worker, and returns when there is another one.
func (h *hub) stopWorker(b *chromium.Browser) {
	h.t.Helper()
	h.mu.Lock()
	hellos := h.hellos
	h.mu.Unlock()
	b.StopWorker()
	h.wait("the extension is back", func() bool { return h.hellos > hellos })
}

// bothWays runs a test where the extension gives pages WebMCP, and nightly in a browser that does, too.
func bothWays(t *testing.T, test func(t *testing.T, native bool)) {
	t.Helper()
	for _, native := range chromium.Rows(1, false, true) {
		t.Run(fmt.Sprintf("native=%v", native), func(t *testing.T) {
			t.Parallel()
			test(t, native)
		})
	}
}
