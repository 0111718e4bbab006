package extension_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// switchSite switches a site on or off, as the popup does.
func switchSite(b *chromium.Browser, origin string, on bool) {
	tell(b, fmt.Sprintf(`{ask: "site", origin: %q, on: %v}`, origin, on))
}

// tell sends the extension what its own pages send.
func tell(b *chromium.Browser, request string) {
	popup := b.Open("chrome-extension://" + b.ExtensionID + "/popup.html")
	popup.Eval(`chrome.runtime.sendMessage(` + request + `)`)
	popup.Close()
}

// front returns the id of the tab in front.
func front(b *chromium.Browser) int64 {
	w := b.Worker()
	defer w.Close()
	var tab int64
	w.Into(`chrome.tabs.query({active: true}).then(([tab]) => tab.id)`, &tab)
	return tab
}

// red and green are pages of nothing but a colour.
const (
	red   = `<!doctype html><title>Red</title><body style="background: #f00">Private`
	green = `<!doctype html><title>Green</title><body style="background: #0f0">Public`
)

// shows tells whether a screenshot has a pixel of a colour.
func shows(t *testing.T, answer string, want color.RGBA) bool {
	t.Helper()
	var shot spec.ScreenshotResult
	if err := json.Unmarshal([]byte(answer), &shot); err != nil {
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
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 4 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 4 {
			if color.RGBAModel.Convert(img.At(x, y)) == want {
				return true
			}
		}
	}
	return false
}

// hides checks that the hub is neither told nor shown anything of a tab.
func (h *hub) hides(what string, tab int64) {
	h.t.Helper()
	for _, req := range []spec.Request{&spec.Text{}, &spec.Screenshot{}} {
		if got, err := h.ask(tab, req); err == nil || !strings.Contains(err.Error(), "does not share this site") {
			h.t.Errorf("%s: %T: %.100s, %v", what, req, got, err)
		}
	}
	if got, err := h.ask(0, &spec.ListTabs{}); err != nil || strings.Contains(got, "Private") || !strings.Contains(got, fmt.Sprint(tab)) {
		h.t.Errorf("%s: the tabs: %s, %v", what, got, err)
	}
}

// The windows that a site makes are its own, whatever their address is.
func TestWindowsOfASwitchedOffSite(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	off := site(t, map[string]string{"/": red})
	b.Open(site(t, map[string]string{"/": green}))
	switchSite(b, off, false)
	for what, open := range map[string]string{
		"blob":         `open(URL.createObjectURL(new Blob(['<title>Private</title>Private'], {type: 'text/html'})))`,
		"about:blank":  `((w) => { w.document.title = 'Private'; w.document.body.append('Private'); })(open('about:blank'))`,
		"no address":   `((w) => w.document.write('<title>Private</title>Private'))(open(''))`,
		"blank, later": `((w) => setTimeout(() => w.document.write('<title>Private</title>Private')))(open('about:blank#later'))`,
	} {
		p := b.Open(off)
		shown := front(b)
		p.Eval("void " + open)
		tab := front(b)
		if tab == shown {
			t.Fatalf("%s: no window was opened", what)
		}
		h.hides(what, tab)
		if _, err := h.ask(tab, &spec.CloseTab{}); err != nil {
			t.Error(err)
		}
		p.Close()
	}
}

// A site that is framed by another one is as private as in a tab of its own.
func TestFramesOfASwitchedOffSite(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	off := site(t, map[string]string{"/": red})
	url := site(t, map[string]string{"/": green})
	p := b.Open(url)
	tab := front(b)
	switchSite(b, off, false)
	p.Front()
	for _, frame := range []string{
		`<iframe src="` + off + `">`,
		`<iframe src="` + off + `" sandbox="">`,
		`<object data="` + off + `" type="text/html">`,
		`<iframe src="data:text/html,<body style='background: red'>">`,
		`<iframe srcdoc="<iframe src='` + off + `'>">`,
	} {
		p.Eval(fmt.Sprintf(`new Promise(done => { const box = document.createElement('div'); box.innerHTML = %q; box.firstChild.onload = done; document.body.append(box) })`, frame))
		if got, err := h.ask(tab, &spec.Screenshot{}); err == nil || !strings.Contains(err.Error(), "does not share this site") {
			t.Errorf("a page with %s was pictured: %.100s", frame, got)
		}
		if got, err := h.ask(tab, &spec.Text{}); err != nil || strings.Contains(got, "Private") || !strings.Contains(got, "Public") {
			t.Errorf("the text of a page with %s: %s, %v", frame, got, err)
		}
		p.Eval(`document.querySelector('div').remove()`)
	}
	if got, err := h.ask(tab, &spec.Screenshot{}); err != nil || !shows(t, got, color.RGBA{G: 255, A: 255}) {
		t.Errorf("the page without frames: %v", err)
	}
	// Frames of other sites, and of no site, do not matter.
	p.Eval(`document.body.insertAdjacentHTML('beforeend', '<iframe srcdoc="x"></iframe><iframe sandbox srcdoc="x"></iframe><iframe></iframe><iframe src="http://127.0.0.1:1/"></iframe>')`)
	if _, err := h.ask(tab, &spec.Screenshot{}); err != nil {
		t.Errorf("the page with frames of its own: %v", err)
	}
}

// A frame that comes when the extension has looked at the page, and is gone when it looks again, is
// in no picture either.
func TestPictureOfAFrameBetweenLooks(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	off := site(t, map[string]string{"/": red})
	p := b.Open(site(t, map[string]string{"/": green}))
	tab := front(b)
	switchSite(b, off, false)
	p.Front()
	w := b.Worker()
	defer w.Close()
	w.Eval(fmt.Sprintf(`(() => {
		const { captureVisibleTab } = chrome.tabs;
		const inPage = (func) => chrome.scripting.executeScript({ target: { tabId: %d }, func, args: [%q] });
		chrome.tabs.captureVisibleTab = async (...args) => {
			await inPage((src) => new Promise((done) => {
				const onload = () => requestAnimationFrame(() => requestAnimationFrame(done));
				document.body.append(Object.assign(document.createElement("iframe"), { src, onload }));
			}));
			const taken = await captureVisibleTab.apply(chrome.tabs, args);
			await inPage(() => document.querySelector("iframe").remove());
			return taken;
		};
	})()`, tab, off))
	if got, err := h.ask(tab, &spec.Screenshot{}); err == nil || !strings.Contains(err.Error(), "does not come to rest") {
		t.Errorf("the page was pictured: %.100s, %v", got, err)
	}
}

// What the screen still shows of a frame that has gone is in no picture.
func TestPictureOfAFrameThatFadesOut(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	off := site(t, map[string]string{"/": red})
	p := b.Open(site(t, map[string]string{"/": green + `<style>
		@keyframes hidden { from, to { opacity: 0 } }
		::view-transition-old(root) { animation: none }
		::view-transition-new(root) { animation: hidden 2s }
	</style>`}))
	tab := front(b)
	switchSite(b, off, false)
	p.Front()
	p.Eval(fmt.Sprintf(`new Promise((done) => {
		const onload = () => requestAnimationFrame(() => requestAnimationFrame(() => done(document.startViewTransition(() => frame.remove()).ready.then(() => 0))));
		const frame = Object.assign(document.createElement("iframe"), { src: %q, onload });
		document.body.append(frame);
	})`, off))
	if got, err := h.ask(tab, &spec.Screenshot{}); err != nil || shows(t, got, color.RGBA{R: 255, A: 255}) {
		t.Errorf("the picture shows the frame: %v", err)
	}
}

// What runs when the user switches the site off ends there, and nothing runs afterwards.
func TestSwitchedOffUnderCall(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, map[string]string{"/": strings.NewReplacer("ANNOUNCED", "0", "{name: 'old'", "{name: 'slow'").Replace(oldServer)})
	p := b.Open(url)
	tab := h.tabWith("slow")
	started := make(chan struct{})
	wait := tabtransport.Wait{Timeout: chromium.Timeout, Progress: func(spec.Progress) { close(started) }}
	done := h.beginWith(t.Context(), tab, 0, "slow", "{}", wait)
	<-started
	switchSite(b, url, false)
	if got := <-done; !strings.Contains(got, "switched this site off") {
		t.Errorf("the call under way: %s", got)
	}
	p.WaitFor("document.title.startsWith('cancelled: ')")
	var rpc *spec.Error
	if _, err := h.wireCall(tab, 0, "slow"); !errors.As(err, &rpc) || rpc.Code != spec.CodeTabNotFound {
		t.Errorf("a call afterwards: %v", err)
	}
}

// The hub sends no tab to a site that is switched off, but may put one away.
func TestMovesToASwitchedOffSite(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	off := site(t, map[string]string{"/": red})
	on := site(t, map[string]string{"/": green})
	b.Open(on)
	tab := front(b)
	switchSite(b, off, false)
	for _, req := range []spec.Request{&spec.OpenTab{URL: off + "/x"}, &spec.Navigate{URL: off}} {
		if _, err := h.ask(tab, req); err == nil || !strings.Contains(err.Error(), "does not share this site") {
			t.Errorf("%T: %v", req, err)
		}
	}
	b.Open(off)
	private := front(b)
	for _, req := range []spec.Request{&spec.Navigate{Reload: true}, &spec.ActivateTab{}, &spec.Navigate{URL: on}, &spec.CloseTab{}} {
		if got, err := h.ask(private, req); err != nil || got != "{}" {
			t.Errorf("%T: %s, %v", req, got, err)
		}
	}
}

// Whatever way an origin is written, it is the same site.
func TestSpellingsOfASite(t *testing.T) {
	t.Parallel()
	b := chromium.Shared(t, chromium.Options{Extension: newHub(t).write()})
	options := b.Open("chrome-extension://" + b.ExtensionID + "/options.html")
	got := options.Eval(`(async () => {
		const { permits, permitsPage, permitsDocument, withSite, pattern, loadSettings } = await import("/worker/settings.js");
		await chrome.storage.local.set({ settings: { off: ["https://example.com:443", "HTTP://Shop.Example.:8080/path", "https://bücher.example", "http://[::1]:80"] } });
		const settings = await loadSettings();
		const hidden = ["https://example.com", "https://EXAMPLE.com:443", "https://example.com.", "http://shop.example:8080", "https://xn--bcher-kva.example", "http://[::1]"];
		const shown = ["http://example.com", "https://example.com:8443", "https://www.example.com", "https://example.com.evil.example", "http://shop.example"];
		const wrong = [
			...hidden.filter((origin) => permits(settings, origin) || permitsPage(settings, origin + "/path") || permitsPage(settings, "blob:" + origin + "/1")),
			...shown.filter((origin) => !permits(settings, origin) || !permitsPage(settings, origin + "/path")),
			...hidden.filter((origin) => !permits({ ...settings, ...withSite(settings, origin, true) }, origin)),
			...[{ origin: "https://example.com", url: "about:blank" }, { origin: "null", url: "https://example.com/" }, { origin: "null", url: "blob:https://example.com/1" },
				{ origin: "null", url: "blob:null/1" }, { origin: "null", url: "data:,x", frameId: 1 }, { origin: "null", url: "about:blank", frameId: 0 }, {}].filter((document) => permitsDocument(settings, document)),
			...[{ origin: "https://other.example", url: "https://other.example/" }, { origin: "null", url: "about:srcdoc", frameId: 1 }, { origin: "null", url: "file:///x" }].filter((document) => !permitsDocument(settings, document)),
		];
		return [...wrong, ...["https://example.com", "http://[::1]:8080"].map(pattern)];
	})()`)
	if got != `["https://example.com:443/*","http://[::1]:8080/*"]` {
		t.Errorf("wrongly shown or hidden: %s", got)
	}
}
