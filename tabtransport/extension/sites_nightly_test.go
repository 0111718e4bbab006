//go:build nightly

package extension_test

import (
	"fmt"
	"image/color"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// Windows that a site opens belong to the site, whatever their address is.
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

// A frame that has gone but is still on the screen is in no picture.
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

// hides checks that the hub neither hears nor sees anything of a tab.
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
