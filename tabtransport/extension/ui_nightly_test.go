//go:build nightly

package extension_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// What the user switches in the popup and in the settings holds, also after a restart of
// the browser.
func TestChoices(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	profile := filepath.Join(t.TempDir(), "profile")
	opts := chromium.Options{WebMCP: true, Profile: profile}
	b := h.browse(opts)
	url := site(t, map[string]string{"/": shop})
	b.Open(url)
	tab := h.tabWith(shopTools...)

	popup := b.Open("chrome-extension://" + b.ExtensionID + "/popup.html?tab=" + strconv.FormatInt(tab, 10))
	popup.WaitFor("document.querySelectorAll('#sites .tool').length === " + strconv.Itoa(len(shopTools)))
	inBothShades(t, popup, "popup")
	popup.Click("#sites .more summary")
	popup.Click("#sites .more label input")
	h.wait("the site keeps its tools", func() bool {
		s := h.tabs[tab].state
		return s.KeepTools != nil && *s.KeepTools
	})
	popup.Click("#sites section > label input")
	h.wait("the site's tools are gone", func() bool { return len(h.tabs[tab].tools) == 0 })
	popup.WaitFor("document.body.innerText.includes('Off: the hub sees nothing')")

	settings := b.Open("chrome-extension://" + b.ExtensionID + "/options.html")
	settings.WaitFor("document.querySelector('#sites li')?.innerText.includes(" + strconv.Quote(url) + ")")
	inBothShades(t, settings, "options")
	settings.Click("#sites button")
	h.tabWith(shopTools...)
	settings.Click("input[value=allowed]")
	h.wait("only allowed sites", func() bool { return len(h.tabs[tab].tools) == 0 })
	settings.Click("#site")
	settings.Type(url + "/some/page")
	settings.Click("#add button")
	h.tabWith(shopTools...)

	h.mu.Lock()
	id, session := h.hello.BrowserID, h.hello.Session
	h.mu.Unlock()
	b.Close()
	h.change(func() { h.tabs, h.hello = map[int64]*tabView{}, nil })
	b = h.browse(opts)
	h.mu.Lock()
	if h.hello.BrowserID != id || h.hello.Session == session {
		t.Errorf("after a restart of the browser: %+v", h.hello)
	}
	h.mu.Unlock()
	b.Open(url)
	h.tabWith(shopTools...)
	other := site(t, map[string]string{"/": shop})
	b.Open(other)
	popup = b.Open("chrome-extension://" + b.ExtensionID + "/popup.html")
	popup.WaitFor("document.querySelector('#headline').textContent === 'Connected'")
	if n := len(h.ids()); n != 1 {
		t.Errorf("the hub knows a site that is not allowed: %d tabs", n)
	}
	b.Close()
}
