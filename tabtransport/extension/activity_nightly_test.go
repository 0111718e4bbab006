//go:build nightly

package extension_test

import (
	"fmt"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// The extension forgets a tab that was closed while an app used it.
func TestUsedTabIsClosed(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	page := b.Open(site(t, map[string]string{"/": shop}))
	tab := h.tabWith(shopTools...)
	popup := h.popup(b, tab)
	done := h.beginWith(t.Context(), tab, h.tool(tab, "slow").FrameID, "slow", `{"ms":60000}`, claude)
	page.WaitFor(marked)
	popup.WaitFor(fmt.Sprintf("chrome.storage.session.get('uses').then(({uses}) => uses?.[%d])", tab))
	popup.Eval(fmt.Sprintf("chrome.tabs.remove(%d)", tab))
	<-done
	popup.WaitFor("chrome.storage.session.get('uses').then(({uses}) => Object.keys(uses).length === 0)")
}

// A form of the page that the owner tries waits for the owner to submit it.
func TestManualCallThatLeadsElsewhere(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	page := b.Open(site(t, map[string]string{"/": booking, "/booked": "<!doctype html><title>Booked</title>"}))
	tab := h.tabWith("book")
	popup := h.popup(b, tab)
	popup.Click(".tool summary")
	popup.Click(".try button")
	popup.Click(".try textarea")
	popup.Type("4")
	popup.Click(".try button.main")
	page.WaitFor("form.guests.value === '4'")
	page.Front()
	page.Click("button")
	has(t, popup, "#recent", "You book", "done")
}
