//go:build nightly

package extension_test

import (
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// Two documents in quick succession: neither of the first one's tools is taken for the last one's.
func TestDocumentsInQuickSuccession(t *testing.T) {
	t.Parallel()
	s := newPages(t, false, map[string][]string{"first": {"one", "all"}, "second": {"two", "all"}, "third": {"all"}})
	h := newHub(t)
	// Chromium 156 with WebMCP of its own ends when a page is left while that lists its tools,
	// without any extension, too: here the extension gives the page WebMCP.
	b := h.browse(chromium.Options{})
	for _, name := range []string{"first", "second", "third"} {
		close(s.offers[name])
	}
	p := b.Open(s.url + "/first")
	tab := h.tabShowing("one", "all")
	p.Navigate(s.url + "/second")
	p.Navigate(s.url + "/third")
	if got, err := h.call(tab, "all", "{}"); err != nil || !strings.Contains(got, "third ran it 1") {
		t.Errorf("the call: %s, %v", got, err)
	}
	h.tabWith("all")
}
