//go:build nightly

package extension_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// The owner uses a tab no more after a time without input, in front or not.
func TestUserInputEnds(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	dir := h.write()
	script := filepath.Join(dir, "worker", "main.js")
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	sooner := strings.Replace(string(text), "INPUT_QUIET = 1e4", "INPUT_QUIET = 200", 1)
	if sooner == string(text) {
		t.Fatal("the worker says otherwise when user input ends")
	}
	if err := os.WriteFile(script, []byte(sooner), 0o600); err != nil {
		t.Fatal(err)
	}
	b := h.browse(chromium.Options{WebMCP: true, Extension: dir})
	page := b.Open(site(t, map[string]string{"/": shop}))
	tab := h.tabWith(shopTools...)
	h.lease(tab, false)
	listens(b, tab)
	page.Keys("x")
	h.awaitInputs(userInput{tab, true}, userInput{tab, false})
}
