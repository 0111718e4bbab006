//go:build nightly

package extension_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// The hand has left once it has rested, though nobody has gone elsewhere.
func TestOwnersHandRests(t *testing.T) {
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
	h.hold(tab, false)
	listens(b, tab)
	page.Keys("x")
	h.toldHands(hand{tab, true}, hand{tab, false})
}
