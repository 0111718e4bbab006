package extension_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// picture writes what a page shows to $TABHUB_PICTURES, for people to look at.
func picture(t *testing.T, p *chromium.Page, name string) {
	t.Helper()
	if dir := os.Getenv("TABHUB_PICTURES"); dir != "" {
		p.Screenshot(filepath.Join(dir, name+".png"))
	}
}

// The popup's user reads of as many tools as there are, and why others are not.
func TestPopupCounts(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.registered = func(kind spec.Kind) (answer spec.Registered) {
		if kind == spec.KindTool {
			answer.Rejected = []spec.Rejection{{Name: "bad", Reason: "refused"}}
			answer.Warnings = []spec.Rejection{{Name: "good", Reason: "its hint is no hint"}}
		}
		return answer
	}
	b := h.browse(chromium.Options{WebMCP: true})
	b.Open(site(t, map[string]string{"/": `<!doctype html><title>Two</title><script>
		for (const name of ["good", "bad"]) document.modelContext.registerTool({name, description: "d", execute: () => 1});
	</script>`}))
	tab := h.tabWith("good", "bad")
	popup := b.Open("chrome-extension://" + b.ExtensionID + "/popup.html?tab=" + strconv.FormatInt(tab, 10))
	for _, text := range []string{"1 tool", "bad: refused", "good: a part of it: its hint is no hint"} {
		popup.WaitFor("document.querySelector('#sites').innerText.includes(" + strconv.Quote(text) + ")")
	}
}

// Choices made at the same time are all stored.
func TestChoicesAtOnce(t *testing.T) {
	t.Parallel()
	b := newHub(t).browse(chromium.Options{})
	popup := b.Open("chrome-extension://" + b.ExtensionID + "/popup.html")
	got := popup.Eval(`(async () => {
		const ask = (request) => chrome.runtime.sendMessage(request);
		await Promise.all([1, 2, 3].flatMap(i => [
			ask({ask: "site", origin: "https://off" + i + ".example", on: false}),
			ask({ask: "site", origin: "https://keep" + i + ".example", keep: true}),
		]));
		const {settings} = await chrome.storage.local.get("settings");
		return [settings.off.length, settings.keep.length];
	})()`)
	if got != "[3,3]" {
		t.Errorf("of three sites off and three kept: %s", got)
	}
}

// The owner sees in the popup which apps use the hub, and stops it there with one click. The toolbar
// says how things stand in every tab.
func TestPause(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.owner = spec.OwnerState{Apps: []spec.OwnerApp{
		{Name: "Claude Code", Said: "claude-code", Calls: 12, LastMs: 130_000},
		{Name: "Cursor", Calls: 0},
	}}
	b := h.browse(chromium.Options{WebMCP: true})
	b.Open(site(t, map[string]string{"/": shop}))
	tab := strconv.FormatInt(h.tabWith(shopTools...), 10)
	popup := b.Open("chrome-extension://" + b.ExtensionID + "/popup.html?tab=" + tab)
	badge := func(want string) {
		t.Helper()
		popup.WaitFor("Promise.all([chrome.action.getBadgeText({tabId: " + tab + "}), chrome.action.getTitle({})]).then((is) => is.join(' ') === " + strconv.Quote(want) + ")")
	}
	badge(strconv.Itoa(len(shopTools)) + " tabhub: Connected")
	for _, text := range []string{"Claude Code", "claude-code", "12 calls, the last 2 min ago", "It has called nothing"} {
		popup.WaitFor("document.querySelector('#apps').innerText.includes(" + strconv.Quote(text) + ")")
	}
	popup.Click("#pause")
	h.wait("everything is paused", func() bool { return h.owner.Paused })
	popup.WaitFor("document.querySelector('#headline').textContent === 'Paused'")
	badge("II tabhub: Paused")
	picture(t, popup, "popup-paused")
	popup.Click("#pause")
	h.wait("it goes on", func() bool { return !h.owner.Paused })
	badge(strconv.Itoa(len(shopTools)) + " tabhub: Connected")

	// What another face of the hub has done is seen here, too.
	h.tellOwner(func(o *spec.OwnerState) { o.Paused, o.Waiting = true, 2 })
	badge("2 tabhub: Waiting for you")
	h.stop()
	badge("off tabhub: The hub is not running")
	popup.WaitFor("document.querySelector('#pause').hidden")
}
