package extension_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// shot takes a screenshot of a tab, which a person may look at.
func (h *hub) shot(tab int64, name string, req *spec.Screenshot) (image.Image, spec.ScreenshotResult) {
	h.t.Helper()
	answer, err := h.ask(tab, req)
	var shot spec.ScreenshotResult
	if err := errors.Join(err, json.Unmarshal([]byte(answer), &shot)); err != nil {
		h.t.Fatalf("%s: %v", name, err)
	}
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		h.t.Fatal(err)
	}
	if dir := os.Getenv("TABHUB_PICTURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+"."+strings.TrimPrefix(shot.MimeType, "image/")), data, 0o600); err != nil {
			h.t.Error(err)
		}
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		h.t.Fatal(err)
	}
	return img, shot
}

// bands returns where a colour is in the column x of a picture: how often it begins, from
// where to where the first time.
func bands(img image.Image, x int, c color.RGBA) (times, from, to int) {
	in := false
	for y := range img.Bounds().Dy() {
		is := color.RGBAModel.Convert(img.At(x, y)) == color.Color(c)
		if is && !in {
			times++
			if times == 1 {
				from = y
			}
		}
		if is && times == 1 {
			to = y + 1
		}
		in = is
	}
	return times, from, to
}

// long is a page of sections of 500 pixels with what stays on the screen.
func long(sections int) string {
	var b strings.Builder
	b.WriteString(`<!doctype html><title>Long</title><style>
		html { scroll-behavior: smooth; scroll-snap-type: y mandatory } body { margin: 0; font: 20px sans-serif }
		section { box-sizing: border-box; height: 500px; padding: 120px 60px; border-top: 10px solid #00f; scroll-snap-align: start }
		header { position: fixed; z-index: 1; inset: 0 0 auto 0; height: 40px; background: #f00; transition: opacity 1s }
		footer { position: fixed; inset: auto 0 0 0; height: 50px; background: #0a0; }
		h2 { position: sticky; top: 40px; margin: 0; background: #ff0; height: 30px; width: 300px }
	</style><header>Shop</header>`)
	for i := range sections {
		fmt.Fprintf(&b, "<section><h2>Section %d</h2></section>", i+1)
	}
	b.WriteString(`<footer>Cookies?</footer><script>
		changes = 0;
		new MutationObserver((all) => changes += all.length).observe(document, { subtree: true, childList: true, attributes: true });
	</script>`)
	return b.String()
}

// A client sees a whole page, with what stays on the screen once, and finds and leaves it as it was.
func TestPictureOfAWholePage(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	p := b.Open(site(t, map[string]string{"/": long(6)}))
	tab := front(b)
	p.Front()
	p.Eval("scrollTo({ top: 1000, behavior: 'instant' })")
	img, shot := h.shot(tab, "screenshot-full", &spec.Screenshot{Full: true})
	if shot.Cut || shot.MimeType != "image/png" || img.Bounds().Dy() != 3000 {
		t.Errorf("the picture is %v, %s, cut: %v; the page is 3000 pixels high", img.Bounds(), shot.MimeType, shot.Cut)
	}
	for _, c := range []struct {
		what             string
		x                int
		color            color.RGBA
		times, from, end int
	}{
		{"the sections", 20, color.RGBA{B: 255, A: 255}, 5, 500, 510},
		{"the header", 600, color.RGBA{R: 255, A: 255}, 1, 0, 40},
		{"the footer", 600, color.RGBA{G: 170, A: 255}, 1, 2950, 3000},
		{"the headings", 340, color.RGBA{R: 255, G: 255, A: 255}, 6, 130, 160},
	} {
		if times, from, end := bands(img, c.x, c.color); times != c.times || from != c.from || end != c.end {
			t.Errorf("%s are there %d times, first from %d to %d; want %d, %d to %d", c.what, times, from, end, c.times, c.from, c.end)
		}
	}
	if got := p.Eval("[scrollY, changes, getComputedStyle(document.querySelector('header')).opacity, document.getAnimations().length]"); got != `[1000,0,"1",0]` {
		t.Errorf("the page was left with %s", got)
	}
}

// A page without end is pictured as far as a client takes it, and a pane that scrolls in a page is
// seen whole, too.
func TestPictureOfMuch(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, map[string]string{"/": long(20), "/pane": `<!doctype html><style>
		html, body { margin: 0; height: 100% } body { display: grid; grid: 60px 1fr 30px / 200px 1fr }
		header, footer { grid-column: 1 / 3; background: #f00 } footer { background: #0a0 } nav { background: #ccc }
		main { overflow: auto } section { box-sizing: border-box; height: 500px; border-top: 10px solid #00f }
	</style><header>Mail</header><nav>Inbox</nav><main>` + strings.Repeat("<section>Letter</section>", 4) + `</main><footer>4 letters</footer>`})
	p := b.Open(url)
	tab := front(b)
	p.Front()
	if img, shot := h.shot(tab, "screenshot-cut", &spec.Screenshot{Full: true}); !shot.Cut || img.Bounds().Dy() != 8000 {
		t.Errorf("a page of 10,000 pixels: %v, cut: %v", img.Bounds(), shot.Cut)
	}
	p.Navigate(url + "/pane")
	img, shot := h.shot(tab, "screenshot-pane", &spec.Screenshot{Full: true})
	if shot.Cut || img.Bounds().Dy() != 60+2000+30 {
		t.Errorf("a pane of 2,000 pixels: %v, cut: %v", img.Bounds(), shot.Cut)
	}
	if times, from, _ := bands(img, 400, color.RGBA{B: 255, A: 255}); times != 4 || from != 60 {
		t.Errorf("%d letters, the first at %d", times, from)
	}
	if times, from, _ := bands(img, 400, color.RGBA{G: 170, A: 255}); times != 1 || from != 2060 {
		t.Errorf("%d footers, the first at %d", times, from)
	}
}

// look returns the lines of a look at a tab.
func (h *hub) look(tab int64) string {
	h.t.Helper()
	answer, err := h.ask(tab, &spec.Look{})
	var r spec.LookResult
	if err := errors.Join(err, json.Unmarshal([]byte(answer), &r)); err != nil {
		h.t.Fatal(err)
	}
	var b strings.Builder
	for _, l := range r.Lines {
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

// refIn returns the reference in the line of a look that has a text.
func refIn(t *testing.T, look, text string) string {
	t.Helper()
	for line := range strings.Lines(look) {
		if _, after, ok := strings.Cut(line, text); ok {
			return strings.Fields(after)[0]
		}
	}
	t.Fatalf("no line has %s:\n%s", text, look)
	return ""
}

// zoomTab zooms a tab alone: the browser remembers the zoom of a host otherwise, for the next test, too.
func zoomTab(w *chromium.Page, tab int64, zoom string) {
	w.Eval(fmt.Sprintf(`chrome.tabs.setZoomSettings(%d, {scope: "per-tab"}).then(() => chrome.tabs.setZoom(%[1]d, %s))`, tab, zoom))
}

// A client sees one element, wherever it is, and what its references stand for.
func TestPictureOfAnElement(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	pay := site(t, map[string]string{"/": `<!doctype html><body style="margin: 0; height: 900px"><button style="position: absolute; left: 20px; top: 700px; width: 100px; height: 40px; border: 0; background: #f0f">Pay</button>`})
	p := b.Open(site(t, map[string]string{"/": `<!doctype html><title>Shop</title><style>body { margin: 0; height: 4000px; font: 16px sans-serif } button { position: absolute } header { position: fixed; inset: 0 0 auto; height: 40px; background: #f00 }</style>
		<header><button style="left: 100px; top: 5px">Menu</button></header>
		<button style="left: 40px; top: 100px">Order</button><button style="left: 120px; top: 100px">Cancel</button>
		<button style="left: 40px; top: 2000px; width: 200px; height: 60px; border: 0; background: #0f0">Far away</button>
		<div role=button tabindex=0 aria-label=Long style="position: absolute; left: 300px; top: 500px; width: 100px; height: 1500px; background: linear-gradient(#00f 0 750px, #ff0 750px)"></div>
		<iframe src="` + pay + `" style="position: absolute; left: 500px; top: 1200px; width: 300px; height: 200px; border: 5px solid #000"></iframe>`}))
	tab := front(b)
	p.Front()
	look := h.look(tab)

	img, _ := h.shot(tab, "screenshot-ref", &spec.Screenshot{Ref: refIn(t, look, `button "Far away" `)})
	if times, from, to := bands(img, 10, color.RGBA{G: 255, A: 255}); times != 1 || from != 4 || to != 64 || img.Bounds().Dx() != 208 {
		t.Errorf("a button of 200 by 60: %v, from %d to %d", img.Bounds(), from, to)
	}
	img, shot := h.shot(tab, "screenshot-ref-tall", &spec.Screenshot{Ref: refIn(t, look, `button "Long" `)})
	if _, from, to := bands(img, 50, color.RGBA{B: 255, A: 255}); shot.Cut || img.Bounds().Dy() != 1508 || from != 4 || to != 754 {
		t.Errorf("an element of 1,500 pixels: %v, cut: %v, blue from %d to %d", img.Bounds(), shot.Cut, from, to)
	}
	if times, _, _ := bands(img, 50, color.RGBA{R: 255, A: 255}); times != 0 {
		t.Errorf("what stays on the screen is in the picture of an element, %d times", times)
	}
	img, _ = h.shot(tab, "screenshot-ref-frame", &spec.Screenshot{Ref: refIn(t, look, `button "Pay" `)})
	if _, from, to := bands(img, 10, color.RGBA{R: 255, B: 255, A: 255}); from != 4 || to != 44 || img.Bounds().Dx() != 108 {
		t.Errorf("a button of 100 by 40 in a frame: %v, from %d to %d", img.Bounds(), from, to)
	}
	if got := p.Eval("scrollY"); got != "0" {
		t.Errorf("the page was left scrolled by %s", got)
	}

	_, shot = h.shot(tab, "screenshot-numbered", &spec.Screenshot{Numbered: true})
	if got := strings.Join(shot.Lines, "\n"); strings.Count(got, "\n") != 3 || !strings.Contains(got, `button "Order" `+refIn(t, look, `button "Order" `)) || !strings.Contains(got, `button "Menu" `) || strings.Contains(got, "Far away") {
		t.Errorf("the lines of what is in view are\n%s", got)
	}
	if _, shot = h.shot(tab, "screenshot-numbered-full", &spec.Screenshot{Numbered: true, Full: true}); !strings.Contains(strings.Join(shot.Lines, "\n"), "Far away") || !strings.Contains(strings.Join(shot.Lines, "\n"), "Pay") {
		t.Errorf("the lines of all are %q", shot.Lines)
	}
	if got := p.Eval("document.documentElement.children.length"); got != "2" {
		t.Errorf("the page has %s children: the references are there still", got)
	}
	w := b.Worker()
	zoomTab(w, tab, "1.5")
	w.Close()
	p.WaitFor("devicePixelRatio === 1.5")
	img, _ = h.shot(tab, "screenshot-ref-zoomed", &spec.Screenshot{Ref: refIn(t, look, `button "Far away" `)})
	if _, from, to := bands(img, 20, color.RGBA{G: 255, A: 255}); from != 6 || to < 95 || to > 96 || img.Bounds().Dx() != 312 {
		t.Errorf("a button of 200 by 60 in a page of 150%%: %v, from %d to %d", img.Bounds(), from, to)
	}
	p.Eval(`document.querySelector("button").remove()`)
	if _, err := h.ask(tab, &spec.Screenshot{Ref: refIn(t, look, `button "Menu" `)}); err == nil || !strings.Contains(err.Error(), "STALE_REF") {
		t.Errorf("a picture of what is gone: %v", err)
	}
}

// A frame of a site that is switched off, which comes only as the page is scrolled, is in no picture, and the page
// is left as it was.
func TestWholePictureOfASiteThatIsOff(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	off := site(t, map[string]string{"/": red})
	p := b.Open(site(t, map[string]string{"/": long(20) + `<script>
		onscroll = () => scrollY > 3000 && !window.late && document.body.append(window.late = Object.assign(document.createElement("iframe"), { src: "` + off + `" }));
	</script>`}))
	tab := front(b)
	switchSite(b, off, false)
	p.Front()
	if got, err := h.ask(tab, &spec.Screenshot{Full: true}); err == nil || !strings.Contains(err.Error(), "does not share this site") {
		t.Errorf("the page was pictured: %.100s, %v", got, err)
	}
	if got := p.Eval("[scrollY, window.late !== undefined, document.getAnimations().length]"); got != "[0,true,0]" {
		t.Errorf("the page was left with %s", got)
	}
}
