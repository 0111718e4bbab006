//go:build nightly

package extension_test

import (
	"path/filepath"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// A browser that is started again, and brings its tabs back, has the client's group still.
func TestTabGroupAfterABrowsersRestart(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	profile := filepath.Join(t.TempDir(), "profile")
	opts := chromium.Options{Profile: profile, Extension: h.write()}
	b := h.browse(opts)
	url := site(t, map[string]string{"/": "<!doctype html><title>Page</title>Text"})
	b.Open(url + "/?owner")
	h.openIn(claudes, url+"/?one")
	twin := claudes
	twin.ID = "1a" // of the same colour
	h.openIn(twin, url+"/?two")
	b.Close()
	h.change(func() { h.hello = nil })
	opts.Restore = true
	b = h.browse(opts)
	h.openIn(claudes, url+"/?three")
	h.openIn(twin, url+"/?four")
	w := b.Worker()
	defer w.Close()
	w.WaitFor(`chrome.tabGroups.query({title: "Claude Code"}).then((all) => all.length === 2)`)
	w.WaitFor(`chrome.tabs.query({groupId: chrome.tabGroups.TAB_GROUP_ID_NONE}).then((all) => !all.some(({url}) => /three|four/.test(url)))`)
}
