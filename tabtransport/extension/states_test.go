package extension_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// status is what the worker tells the popup, with some of it as parts say.
func status(t *testing.T, parts string) string {
	t.Helper()
	all := map[string]json.RawMessage{}
	for _, text := range []string{`{
		"hub": {"state": "connected", "hub": "tabhub", "version": "1.0.0"}, "owner": {"paused": false, "waiting": 0}, "waiting": 0, "working": 0,
		"address": "ws://127.0.0.1:3300/tabs", "recent": [], "used": [],
		"page": {"web": true, "secure": true, "allowed": true, "reached": true, "loading": false, "asleep": false},
		"sites": [{"origin": "https://shop.example.com", "on": true, "keep": false, "webmcp": true, "reached": true, "tools": [], "rejected": []}]
	}`, parts} {
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The owner reads in a word how things stand, then what to do.
func TestStates(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	p := h.popup(h.browse(chromium.Options{}), 0)
	for name, test := range map[string]struct{ parts, headline, detail string }{
		"connected":  {`{}`, "Connected", "Your apps can use the pages that you share."},
		"connecting": {`{"hub": {"state": "connecting"}}`, "Connecting…", "to 127.0.0.1:3300"},
		"working":    {`{"working": 1}`, "At work", "An app is using a page"},
		"waiting":    {`{"waiting": 1}`, "Waiting for you", "An app waits for your answer."},
		"waiting 2":  {`{"waiting": 1, "owner": {"paused": true, "waiting": 2}}`, "Waiting for you", "2 questions"},
		"elsewhere":  {`{"owner": {"paused": false, "waiting": 1}}`, "Waiting for you", "tabhub approve"},
		"paused":     {`{"working": 1, "owner": {"paused": true, "waiting": 0}}`, "Paused", "until you resume"},
		"absent":     {`{"hub": {"state": "absent"}}`, "The hub is not running", "Start your AI app"},
		"unpaired":   {`{"hub": {"state": "unpaired", "reason": ""}}`, "Not paired with the hub", "Run “tabhub browser pair”"},
		"forgotten":  {`{"hub": {"state": "unpaired", "reason": "unknown"}}`, "Not paired with the hub", "does not know this browser"},
		"unproved":   {`{"hub": {"state": "unproved"}}`, "Not your hub", "tabhub doctor"},
		"outdated":   {`{"hub": {"state": "outdated"}}`, "The hub is older than the extension", "Update tabhub"},
		"refused":    {`{"hub": {"state": "refused", "reason": "one too many"}}`, "The hub refused this browser", "one too many"},
		"replaced":   {`{"hub": {"state": "replaced"}}`, "Another browser took this one’s place", "Become a new browser"},
	} {
		p.Eval("void (chrome.runtime.sendMessage = async () => (" + status(t, test.parts) + "))")
		p.WaitFor(fmt.Sprintf("document.querySelector('#headline').textContent === %q && document.querySelector('#detail').textContent.includes(%q)", test.headline, test.detail))
		if slices.Contains([]string{"connected", "waiting", "absent", "unpaired"}, name) { // one of each colour
			inBothShades(t, p, "state-"+name)
		}
	}
}

// A browser that is not paired has pages with tools all the same. The popup says what they offer, and that
// no app can use it; and of a page that was there before the extension, that it has to be loaded again.
func TestUnpairedPopup(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	dir := h.write()
	if err := os.Remove(filepath.Join(dir, "pairing.json")); err != nil {
		t.Fatal(err)
	}
	b := chromium.Start(t, chromium.Options{Extension: dir})
	popup := h.popup(b, 0)
	popup.WaitFor("document.querySelector('#headline').textContent === 'Not paired with the hub'")
	// As it was loaded before: without what the extension gives pages.
	popup.Eval(`chrome.scripting.unregisterContentScripts()`)
	b.Open(site(t, map[string]string{"/": shop}))
	var tab int64
	popup.Into(`chrome.tabs.query({title: "Shop"}).then(([tab]) => tab.id)`, &tab)
	popup = h.popup(b, tab)
	has(t, popup, "#sites", "This page was loaded before the extension was there", "Reload this page")
	inBothShades(t, popup, "popup-before")
	tell(b, `{ask: "save", settings: {mark: true}}`) // which places it again
	popup.Click("#sites section button.main")
	has(t, popup, "#sites", "7 tools. No app can use them now: Not paired with the hub", "words")
	inBothShades(t, popup, "popup-unpaired")
}

// Of many tools the owner finds one by its words.
func TestFindTool(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	b.Open(site(t, map[string]string{"/": `<!doctype html><title>Many</title><script>
		for (let i = 0; i < 60; i++) document.modelContext.registerTool({name: "tool_" + i, description: "Says the number " + i, execute: () => i});
	</script>`}))
	h.wait("a tab with many tools", func() bool { return len(h.tabs) == 1 })
	popup := h.popup(b, h.ids()[0])
	popup.WaitFor("document.querySelectorAll('.tool').length === 60")
	popup.Click("input[type=search]")
	popup.Type("17 says")
	popup.WaitFor("document.querySelectorAll('.tool:not([hidden])').length === 1")
	has(t, popup, "#sites", "tool_17")
	inBothShades(t, popup, "popup-many")
}

// Of real pages, too: the popup of a page of the browser, and of a site that is switched off.
func TestWhyNoToolsHere(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	popup := h.popup(b, 0)
	has(t, popup, "#sites", "Only websites can offer tools")
	b.Open(site(t, map[string]string{"/": "<!doctype html><title>Plain</title>"}))
	var tab int64
	popup.Into(`chrome.tabs.query({title: "Plain"}).then(([tab]) => tab.id)`, &tab)
	popup = h.popup(b, tab)
	has(t, popup, "#sites", "This page offers no tools")
	popup.Click("#sites section > label input")
	has(t, popup, "#sites", "You do not share this site")
	if got := popup.Eval("document.activeElement.type"); got != `"checkbox"` {
		t.Errorf("the switch has lost the focus to %s", got)
	}
	picture(t, popup, "popup-off")
}
