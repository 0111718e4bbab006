//go:build nightly

package extension_test

import (
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// In a browser with real windows nothing that a client opens takes the front, or the focus, from
// what the owner is at.
func TestTabGroupsStayBehind(t *testing.T) {
	t.Parallel()
	for shade, dark := range map[string]bool{"light": false, "dark": true} {
		t.Run(shade, func(t *testing.T) {
			t.Parallel()
			display := chromium.Display(t)
			h := newHub(t)
			b := h.browse(chromium.Options{Display: display, Dark: dark})
			url := site(t, map[string]string{"/": "<!doctype html><title>Page</title>Text", "/mine": "<!doctype html><title>Mine</title><h1>What the owner reads"})
			mine := b.Open(url + "/mine")
			mine.WaitFor("document.hasFocus()")
			where := byOwner(b, `chrome.windows.getLastFocused().then(({id}) => id)`)
			h.openIn(claudes, url)
			h.openIn(claudes, url)
			h.openIn(codexs, url)
			if got := byOwner(b, `chrome.windows.getLastFocused().then(({id, focused}) => focused && id)`); got != where {
				t.Errorf("the owner was in window %s, and now in %s", where, got)
			}
			if got := mine.Eval("document.hasFocus()"); got != "true" {
				t.Error("the owner's page has lost the focus")
			}
			chromium.Picture(t, display, "strip-"+shade)
			h.endRoom(codexs.ID, false)
			chromium.Picture(t, display, "strip-ended-"+shade)
			mine.WaitFor("document.hasFocus()")
		})
	}
}
