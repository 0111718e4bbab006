package extension_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"strconv"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// claude is how long a call of Claude Code's waits.
var claude = tabtransport.Wait{Timeout: chromium.Timeout, For: "Claude Code"}

// askFor sends a request that is not a call for Claude Code.
func (h *hub) askFor(tab int64, req spec.Request) string {
	h.t.Helper()
	resp, err := h.wire.SendRequest(h.t.Context(), spec.TabAddr{Peer: browserPeer, Tab: tab}, req, claude)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(resp.Result)
}

// popup opens the popup for a tab, as large as browsers have it.
func (h *hub) popup(b *chromium.Browser, tab int64) *chromium.Page {
	h.t.Helper()
	p := b.Open("chrome-extension://" + b.ExtensionID + "/popup.html?tab=" + strconv.FormatInt(tab, 10))
	p.Resize(380, 600)
	return p
}

// has waits until a part of a page has all of the texts.
func has(t *testing.T, p *chromium.Page, selector string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		p.WaitFor(fmt.Sprintf("document.querySelector(%q)?.innerText.includes(%q)", selector, text))
	}
}

// marked is whether a page has the mark, as far as the page itself can tell.
const marked = `[...document.documentElement.children].some((e) => e.ariaHidden === "true" && e.shadowRoot === null)`

// The owner sees which tab an app uses, while it does: in the toolbar, in the popup, and in the page.
func TestUsedTab(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.owner = spec.OwnerState{Apps: []spec.OwnerApp{{Name: "Claude Code", Calls: 3, LastMs: 100}}}
	b := h.browse(chromium.Options{WebMCP: true})
	page := b.Open(site(t, map[string]string{"/": shop}))
	tab := h.tabWith(shopTools...)
	popup := h.popup(b, tab)
	title := fmt.Sprintf("chrome.action.getTitle({tabId: %d})", tab)
	badge := fmt.Sprintf("chrome.action.getBadgeText({tabId: %d})", tab)

	ctx, cancel := context.WithCancelCause(t.Context())
	done := h.beginWith(ctx, tab, h.tool(tab, "slow").FrameID, "slow", `{"ms":60000}`, claude)
	page.WaitFor(marked)
	popup.WaitFor(title + ".then((is) => is === 'tabhub: Claude Code is using this tab')")
	popup.WaitFor(badge + ".then((is) => is === '…')")
	popup.WaitFor("document.querySelector('#headline').textContent === 'At work'")
	popup.WaitFor("chrome.action.getBadgeText({}).then((text) => text === '…')")
	has(t, popup, "#used", "Shop", "Claude Code is using it")
	has(t, popup, "#recent", "Claude Code slow", "under way")
	picture(t, page, "mark")
	picture(t, popup, "popup-used")

	// What lasts as long as the call is not in what the app is shown.
	var shot spec.ScreenshotResult
	page.Front()
	if err := json.Unmarshal([]byte(h.askFor(tab, &spec.Screenshot{})), &shot); err != nil {
		t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if r, g, b, _ := img.At(1, img.Bounds().Dy()/2).RGBA(); r != 0xffff || g != 0xffff || b != 0xffff {
		t.Errorf("the edge of the picture has the colour %x %x %x", r, g, b)
	}
	page.WaitFor(marked) // it is back
	if got := h.askFor(tab, &spec.Text{}); strings.Contains(got, "Claude") {
		t.Errorf("the text of the page is %s", got)
	}

	cancel(errors.New("the client gave up"))
	<-done
	page.WaitFor("!" + marked)
	popup.WaitFor(badge + fmt.Sprintf(".then((is) => is === '%d')", len(shopTools)))
	popup.WaitFor(title + ".then((is) => is === 'tabhub: Connected')")
	popup.WaitFor("chrome.action.getBadgeText({}).then((text) => text === '')")
	popup.WaitFor("document.querySelector('#headline').textContent === 'Connected' && document.querySelector('#used').hidden")
	if _, err := h.callFrame(t.Context(), tab, 0, "throws", `{}`, claude); err != nil {
		t.Fatal(err)
	}
	has(t, popup, "#recent", "Claude Code slow", "cancelled", "Claude Code throws", "failed", "Claude Code read its text", "Claude Code took a picture", "done")
	popup.Eval("document.querySelector('#recent').scrollIntoView()")
	picture(t, popup, "popup-recent")
}

// A tab that is used for some time is marked, and one in which something was done, however quickly; for
// a single short call that only reads it is not. The mark can be switched off, and does not come where a
// site is not shared.
func TestOverlay(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	dir := h.write()
	addToWorker(t, dir, `
		self.labels = [];
		const execute = chrome.scripting.executeScript;
		chrome.scripting.executeScript = (injection) => {
			if (injection.func?.name === "draw") self.labels.push(injection.args[0]);
			return execute.call(chrome.scripting, injection);
		};`)
	b := h.browse(chromium.Options{WebMCP: true, Extension: dir})
	const counts = `<script>
		window.marks = 0;
		new MutationObserver((changes) => {
			for (const {addedNodes: [node]} of changes) if (node?.ariaHidden === "true") marks++;
		}).observe(document.documentElement, {childList: true});
	</script>`
	url := site(t, map[string]string{"/": shop + counts, "/other": shop})
	page := b.Open(url)
	tab := h.tabWith(shopTools...)
	call := func(args string) {
		t.Helper()
		if _, err := h.callFrame(t.Context(), tab, h.tool(tab, "slow").FrameID, "slow", args, claude); err != nil {
			t.Fatal(err)
		}
	}
	popup := h.popup(b, tab)
	if _, err := h.callFrame(t.Context(), tab, h.tool(tab, "echo").FrameID, "echo", `{"text":"hi"}`, claude); err != nil {
		t.Fatal(err)
	}
	has(t, popup, "#recent", "echo", "done")
	var took int
	popup.Into(fmt.Sprintf(`chrome.runtime.sendMessage({ask: "status", tabId: %d}).then(({recent: [{took}]}) => took)`, tab), &took)
	if got := page.Eval("marks"); got != "0" && took < 300 { // on a busy machine it may not have been short
		t.Errorf("%s marks after one call of %d ms", got, took)
	}
	call(`{"ms":0}`)
	page.WaitFor("marks > 0")
	picture(t, page, "mark-used")
	page.WaitFor("!" + marked)
	b.Worker().WaitFor(`self.labels.includes("Claude Code used slow")`)
	ctx, cancel := context.WithCancel(t.Context())
	long := h.beginWith(ctx, tab, h.tool(tab, "slow").FrameID, "slow", `{"ms":60000}`, claude)
	page.WaitFor("marks > 0")
	cancel()
	<-long
	h.askFor(tab, &spec.Navigate{URL: url + "/other"})
	page = b.AttachURL(url + "/other")

	h.tabShowing(shopTools...)
	done := h.beginWith(t.Context(), tab, h.tool(tab, "slow").FrameID, "slow", `{"ms":60000}`, claude)
	page.WaitFor(marked)
	settings := b.Open("chrome-extension://" + b.ExtensionID + "/options.html")
	settings.Click("#mark input")
	page.WaitFor("!" + marked)
	settings.Click("#mark input")
	page.WaitFor(marked)
	tell(b, fmt.Sprintf(`{ask: "site", origin: %q, on: false}`, url))
	page.WaitFor("!" + marked)
	<-done
}

// The name of the app stays between the hub and the extension.
func TestNoPageLearnsTheApp(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	dir := h.write()
	addToWorker(t, dir, `
		self.said = [];
		chrome.runtime.onConnect.addListener((port) => {
			const post = port.postMessage.bind(port);
			port.postMessage = (message) => { self.said.push(JSON.stringify(message)); post(message); };
		});
		const execute = chrome.scripting.executeScript;
		chrome.scripting.executeScript = (injection) => {
			if (injection.world === "MAIN") self.said.push(JSON.stringify(injection.args ?? []));
			return execute.call(chrome.scripting, injection);
		};`)
	b := h.browse(chromium.Options{WebMCP: true, Extension: dir})
	// Elements of a page can have the names of what the extension keeps in its own world there.
	const decoys = `<i id="tabhubGateway"></i><i id="tabhubFrame"></i><form id="tabhubOverlay"><output name="words"></output><output name="host"></output></form>`
	page := b.Open(site(t, map[string]string{"/": "<!doctype html>" + decoys + shop}))
	tab := h.tabWith(shopTools...)
	for range 3 {
		if got, err := h.callFrame(t.Context(), tab, h.tool(tab, "echo").FrameID, "echo", `{"text":"hi"}`, claude); err != nil || !strings.Contains(got, "hi") {
			t.Fatalf("%s, %v", got, err)
		}
	}
	page.WaitFor(marked)
	said := b.Worker().Eval("self.said.join()")
	if !strings.Contains(said, "echo") || strings.Contains(said, "Claude") {
		t.Errorf("pages learnt %s", said)
	}
	for _, look := range []string{`document.documentElement.outerHTML.includes("Claude")`, `window.find("Claude")`} {
		if got := page.Eval(look); got != "false" {
			t.Errorf("the page can read which app uses it: %s is %s", look, got)
		}
	}
}

// The owner tries a tool in the popup: with no hub, and for nothing else.
func TestManualCall(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	page := b.Open(site(t, map[string]string{"/": shop}))
	tab := h.tabWith(shopTools...)
	h.stop()
	popup := h.popup(b, tab)
	open := func(name string) string {
		t.Helper()
		item := fmt.Sprintf("[...document.querySelectorAll('.tool')].find((item) => item.querySelector('code').textContent === %q)", name)
		popup.WaitFor(item)
		popup.Eval("document.querySelector('#tried')?.removeAttribute('id'); (" + item + ").id = 'tried'")
		popup.Click("#tried summary")
		popup.WaitFor("document.querySelector('#tried .try button')")
		return "#tried"
	}
	echo := open("echo")
	has(t, popup, echo, "It says that it only reads.", "text string, required", "Said back")
	inBothShades(t, popup, "tool")
	popup.Click(echo + " .try button")
	popup.Click(echo + " form button.main")
	has(t, popup, echo, "It is required.")
	popup.Click(echo + " textarea")
	popup.Type("hello")
	popup.Keys("\r")
	has(t, popup, echo+" .result", "text", "hello")
	has(t, popup, echo, "It took")
	inBothShades(t, popup, "tried")
	has(t, popup, "#recent", "You echo", "done")
	if got := page.Eval("counts.echo"); got != "1" {
		t.Errorf("it was called %s times", got)
	}

	throws := open("throws")
	popup.Click(throws + " .try button")
	popup.Click(throws + " form button.main")
	has(t, popup, throws, "the cart is empty")

	slow := open("slow")
	popup.Click(slow + " .try button")
	popup.Click(slow + " input[type=number]")
	popup.Type("60000")
	popup.Click(slow + " form button.main")
	popup.Click(slow + " .row button:nth-of-type(2)")
	has(t, popup, slow, "You have cancelled it.")
	page.WaitFor("document.title.startsWith('aborted')")
	if got := page.Eval(marked) + popup.Eval("document.querySelector('#used').hidden"); got != "falsetrue" {
		t.Errorf("what the owner does is shown as an app's: %s", got)
	}
}
