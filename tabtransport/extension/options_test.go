package extension_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// In the settings the owner sees how the hub stands, and changes what the extension does; what
// cannot be is refused with how to write it.
func TestSettings(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	tell(b, `{ask: "site", origin: "https://kept.example.com", keep: true}`)
	p := b.Open("chrome-extension://" + b.ExtensionID + "/options.html")
	saved := func(member, want string) {
		t.Helper()
		p.WaitFor(fmt.Sprintf("chrome.storage.local.get('settings').then(({settings}) => JSON.stringify(settings.%s) === %q)", member, want))
	}
	write := func(field, text string) {
		t.Helper()
		p.Eval(fmt.Sprintf("void (document.querySelector('#%s').value = '')", field))
		p.Click("#" + field)
		p.Type(text)
		p.Click("form:has(#" + field + ") button")
	}
	has(t, p, "#state", "Connected", "tabhub test")

	write("site", "*.example.com")
	has(t, p, "#siteproblem", "matches no site here")
	write("left", "not a site!")
	has(t, p, "#leftproblem", "is no site")
	write("address", "not a hub")
	has(t, p, "#problem", "looks like ws://")
	for _, width := range []int64{1280, 390} {
		p.Resize(width, 1900)
		if got := p.Eval("document.documentElement.scrollWidth <= innerWidth"); got != "true" {
			t.Errorf("at %d the page is wider than the window", width)
		}
		inBothShades(t, p, "settings-"+strconv.FormatInt(width, 10))
	}

	write("site", "localhost:5173")
	saved("off", `["http://localhost:5173"]`)
	has(t, p, "#sites", "http://localhost:5173") // and what is below it stays where it is
	has(t, p, "#keep", "https://kept.example.com")
	p.Press("#keep button")
	p.Eval(`document.querySelector("#left").value = "Example.com/page", document.querySelector("#leave").requestSubmit()`)
	has(t, p, "#plain", "https://example.com")
	p.Release("#keep button") // the button is where it was, though the lists were shown anew
	saved("plain", `["https://example.com"]`)
	saved("keep", `[]`)
	has(t, p, "section:has(#keep)", "None so far.")
	p.Click("#mark input")
	saved("mark", "false")

	write("address", strings.Replace(strings.TrimSuffix(h.url(), "/tabs"), "ws:", "http:", 1))
	has(t, p, "#saved", "Saved.")
	saved("hub", strconv.Quote(h.url()))

	// What cannot be taken back is asked about once more.
	id := h.hello.BrowserID
	p.Click("#forget")
	has(t, p, "#forgotten", "There is no way back")
	inBothShades(t, p, "settings-forget")
	p.Click("#forget")
	has(t, p, "#forgotten", "Done")
	h.wait("the hub sees another browser", func() bool { return h.hello.BrowserID != id })

	write("address", "ws://127.0.0.1:9/tabs")
	has(t, p, "#state", "The hub is not running")
}
