package extension_test

import (
	"encoding/json"
	"fmt"
	"strings"
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

// The owner reads in a word how things stand, then what to do; the button in the toolbar says the same.
func TestStates(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ parts, headline, detail, badge string }{
		"connected":  {`{}`, "Connected", "Your apps can use the pages that you share.", ""},
		"connecting": {`{"hub": {"state": "connecting"}}`, "Connecting…", "to 127.0.0.1:3300", ""},
		"working":    {`{"working": 1}`, "At work", "An app is using a page", "…"},
		"working 3":  {`{"working": 3}`, "At work", "An app is using a page", "3…"},
		"waiting":    {`{"waiting": 1}`, "Waiting for you", "An app waits for your answer.", "1"},
		"waiting 2":  {`{"waiting": 1, "owner": {"paused": true, "waiting": 2}}`, "Waiting for you", "2 questions", "2"},
		"elsewhere":  {`{"owner": {"paused": false, "waiting": 1}}`, "Waiting for you", "tabhub approve", "1"},
		"paused":     {`{"working": 1, "owner": {"paused": true, "waiting": 0}}`, "Paused", "until you resume", "II"},
		"absent":     {`{"hub": {"state": "absent"}}`, "Asleep: the hub is not running", "Start your AI app", "off"},
		"unpaired":   {`{"hub": {"state": "unpaired", "reason": ""}}`, "Not paired with the hub", "Run “tabhub pair”", "!"},
		"forgotten":  {`{"hub": {"state": "unpaired", "reason": "unknown"}}`, "Not paired with the hub", "does not know this browser", "!"},
		"unproved":   {`{"hub": {"state": "unproved"}}`, "Not your hub", "tabhub doctor", "!"},
		"outdated":   {`{"hub": {"state": "outdated"}}`, "The hub is older than the extension", "Update tabhub", "!"},
		"refused":    {`{"hub": {"state": "refused", "reason": "one too many"}}`, "The hub refused this browser", "one too many", "!"},
		"replaced":   {`{"hub": {"state": "replaced"}}`, "Another browser took this one’s place", "Become a new browser", "!"},
	}
	for shade, dark := range map[string]bool{"light": false, "dark": true} {
		t.Run(shade, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			b := h.browse(chromium.Options{Dark: dark})
			p := h.popup(b, 0)
			p.Eval(`import("/states.js").then(({button}) => void (window.button = button))`)
			for name, test := range tests {
				given := status(t, test.parts)
				p.Eval("void (chrome.runtime.sendMessage = async () => (" + given + "))")
				p.WaitFor(fmt.Sprintf("document.querySelector('#headline').textContent === %q && document.querySelector('#detail').textContent.includes(%q)", test.headline, test.detail))
				var badge string
				if p.Into("button("+given+").text", &badge); badge != test.badge {
					t.Errorf("%s: the badge is %q, want %q", name, badge, test.badge)
				}
				picture(t, p, "state-"+strings.ReplaceAll(name, " ", "")+"-"+shade)
				accessible(t, p, name)
			}
		})
	}
}

// A tab's button says what is most urgent there.
func TestButton(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	p := h.popup(h.browse(chromium.Options{}), 0)
	p.Eval(`import("/states.js").then(({button}) => void (window.button = button))`)
	const quiet, waits = `{"tools": 7, "waiting": false, "users": [], "holder": ""}`, `{"tools": 7, "waiting": true, "users": ["Claude Code"], "holder": ""}`
	const used = `{"tools": 7, "waiting": false, "users": ["Claude Code"], "holder": ""}`
	for name, test := range map[string]struct{ parts, tab, want string }{
		"no tools":       {`{}`, `{"tools": 0, "waiting": false, "users": [], "holder": ""}`, " tabhub: Connected"},
		"tools":          {`{}`, quiet, "7 tabhub: Connected"},
		"used":           {`{}`, used, "… tabhub: Claude Code is using this tab"},
		"waits for you":  {`{"working": 5}`, `{"tools": 7, "waiting": false, "users": ["A"], "holder": "A"}`, "you tabhub: A waits for you to finish"},
		"used by two":    {`{"working": 5}`, `{"tools": 7, "waiting": false, "users": ["A", "B"], "holder": ""}`, "… tabhub: A and B are using this tab"},
		"used by more":   {`{}`, `{"tools": 7, "waiting": false, "users": ["A", "B", "C"], "holder": ""}`, "… tabhub: A and 2 others are using this tab"},
		"another used":   {`{"working": 2}`, quiet, "2… tabhub: At work"},
		"a form waits":   {`{"waiting": 1}`, waits, "you tabhub: a form in this tab waits for you to submit it"},
		"a question":     {`{"waiting": 1}`, used, "1 tabhub: Waiting for you"},
		"paused":         {`{"owner": {"paused": true, "waiting": 0}}`, used, "II tabhub: Paused"},
		"asleep":         {`{"hub": {"state": "absent"}}`, quiet, "off tabhub: Asleep: the hub is not running"},
		"while it joins": {`{"hub": {"state": "connecting"}}`, quiet, "7 tabhub: Connecting…"},
	} {
		var got struct{ Text, Title string }
		p.Into("button("+status(t, test.parts)+", "+test.tab+")", &got)
		if is := got.Text + " " + got.Title; is != test.want {
			t.Errorf("%s: %q, want %q", name, is, test.want)
		}
	}
}

// The owner reads why a page has no tools, and what can be done.
func TestWhyNoTools(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	p := h.popup(h.browse(chromium.Options{}), 0)
	p.Eval(`import("/states.js").then(({whyNone}) => void (window.whyNone = whyNone))`)
	for name, test := range map[string]struct{ page, site, want string }{
		"none offered":      {`{}`, `{}`, "Sites decide whether they do"},
		"no WebMCP":         {`{native: false}`, `{}`, "the extension gives pages its own"},
		"and none given":    {`{native: false}`, `{webmcp: false}`, "you have switched off what the extension gives"},
		"over http":         {`{native: false, secure: false}`, `{}`, "loaded over http"},
		"switched off":      {`{}`, `{on: false}`, "You do not share this site"},
		"not yet allowed":   {`{allowed: false, reached: false}`, `{}`, "not allowed the extension in this site yet"},
		"loading":           {`{loading: true, reached: false}`, `{}`, "still loading"},
		"loading, reached":  {`{loading: true}`, `{}`, "no tools so far"},
		"asleep":            {`{asleep: true, reached: false}`, `{}`, "put this tab to sleep"},
		"protected":         {`{reached: false}`, `{}`, "lets no extension into this page"},
		"refused":           {`{}`, `{rejected: [{name: "a", reason: "b"}]}`, "none that can be used"},
		"the browser's own": {`{web: false}`, `undefined`, "Only websites can offer tools"},
	} {
		got := p.Eval(fmt.Sprintf(`(({native = true, ...page}, site) => whyNone(
			{web: true, secure: true, allowed: true, reached: true, loading: false, asleep: false, ...page},
			site && {on: true, webmcp: true, rejected: [], ...site}, native))(%s, %s)`, test.page, test.site))
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %q", name, got, test.want)
		}
	}
}

// Of many tools the owner finds one by its words.
func TestFindTool(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	b.Open(site(t, map[string]string{"/": `<!doctype html><title>Many</title><script>
		for (let i = 0; i < 1000; i++) document.modelContext.registerTool({name: "tool_" + i, description: "Says the number " + i, execute: () => i});
	</script>`}))
	h.wait("a tab with many tools", func() bool { return len(h.tabs) == 1 })
	popup := h.popup(b, h.ids()[0])
	popup.WaitFor("document.querySelectorAll('.tool').length === 1000")
	popup.Click("input[type=search]")
	popup.Type("777 says")
	popup.WaitFor("document.querySelectorAll('.tool:not([hidden])').length === 1")
	has(t, popup, "#sites", "tool_777")
	picture(t, popup, "popup-many")
	accessible(t, popup, "many tools")
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
