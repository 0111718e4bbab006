//go:build nightly

package extension_test

import (
	"fmt"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// Any page can have the user asked. The answer must not bring a tab back to that page which
// the user has taken elsewhere.
func TestInvitationOfATabThatHasMovedOn(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	o := h.pairings.MustInvite(t)
	page := b.Open("http://" + h.addr + "/pair#" + o.Text())
	window := b.Window("invite.html")
	page.Navigate(site(t, map[string]string{"/": shop}))
	window.WaitFor("document.querySelector('#code').textContent !== ''")
	w := b.Worker()
	defer w.Close()
	window.ClickLast("#decline")
	w.WaitFor("chrome.windows.getAll().then((all) => all.every(({type}) => type !== 'popup'))")
	if led := w.Eval("chrome.tabs.query({}).then((all) => all.map(({url, pendingUrl}) => pendingUrl || url || '').filter((url) => url.includes('/pair')).join())"); led != `""` && led != "" {
		t.Errorf("the tab was led to %s", led)
	}
}

// A page may have the user asked first. A user who pastes another address must not take that
// question for the answer to it.
func TestPasteWhileAPageAsks(t *testing.T) {
	t.Parallel()
	h, other := newHub(t), newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	theirs, mine := h.pairings.MustInvite(t), other.pairings.MustInvite(t)
	b.Open("http://" + h.addr + "/pair#" + theirs.Text())
	window := b.Window("invite.html")
	window.WaitFor(fmt.Sprintf("document.querySelector('#code').textContent === %q", theirs.Code()))
	settings := b.Open("chrome-extension://" + b.ExtensionID + "/options.html")
	settings.Click("#link")
	settings.Type("http://" + other.addr + "/pair#" + mine.Text())
	settings.Click("#pairing button")
	settings.WaitFor("document.querySelector('#linkproblem').textContent.includes('another address')")
}
