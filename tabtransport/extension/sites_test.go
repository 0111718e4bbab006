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

// tell sends the extension a message as its pages do.
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
