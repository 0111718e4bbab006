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
	script := filepath.Join(dir, "worker", "hand.js")
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	sooner := strings.Replace(string(text), "QUIET = 10_000", "QUIET = 200", 1)
	if sooner == string(text) {
		t.Fatal("hand.js says otherwise how long a hand rests")
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
