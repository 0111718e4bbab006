package extension_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// What was filled in goes with its page. If somebody loads that anew, no button of the new one is clicked for it; a
// run that has only to read goes on.
func TestRunWhosePageIsLoadedAnew(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, cart)
	pack := cartPack(url)
	h.tellPacks(pack)
	waits := `{"wait": {"for": {"role": "button", "name": "Go on"}}, "timeout": 30}`
	readName := `{"read": {"fields": {"name": {"target": {"label": "Name"}, "give": "value"}}}}`
	for _, c := range []struct{ name, first, last, want, counts string }{
		{"to click", fillName, clickAdd, `1 STEP_LOST the page gave way to another one after step 1; nothing after it was done; a step that leads to another page after a while has to say so with navigates [fill yes, wait no]`, `"0,0,0"`},
		{"to click after a click", fillName + "," + clickAdd, clickConfirm, `2 STEP_LOST the page gave way to another one after step 2; nothing after it was done; a step that leads to another page after a while has to say so with navigates [fill yes, click yes, wait no]`, `"1,0,0"`},
		{"to read", fillName, readName, `{"name":""} [fill yes, wait yes, read yes] at ` + url + `/cart`, `"0,0,0"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := b.Open(url + "/cart")
			tab := h.tabAt(url+"/cart", "order")
			done := h.beginRun(t.Context(), tab, pack, c.first+","+waits+","+c.last, `{"name":"Ada"}`)
			b.Worker().WaitFor(fmt.Sprintf(`chrome.storage.session.get("runs").then(({runs}) => Object.values(runs.runs)[0]?.stayed === %d)`, strings.Count(c.first, "}},{")))
			p.Reload()
			p.Eval(`document.body.append(Object.assign(document.createElement("button"), {textContent: "Go on"}))`)
			if got := <-done; got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := counted(p); got != c.counts {
				t.Errorf("done: %s, want %s", got, c.counts)
			}
			h.closeTab(p)
		})
	}
}

// A page that only seemed to leave has the rest of the run, and the answer has all its steps.
func TestRunGoesOnWhereItStays(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/cart/saved":
			w.WriteHeader(http.StatusNoContent)
		case "/cart/file":
			w.Header().Set("Content-Disposition", "attachment")
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, cart["/cart"]+`<a href="/cart/saved">Save</a><a href="/cart/file">Download</a>`)
		}
	}))
	t.Cleanup(s.Close)
	pack := cartPack(s.URL)
	h.tellPacks(pack)
	for _, link := range []string{"Save", "Download"} {
		p := b.Open(s.URL + "/cart")
		tab := h.tabAt(s.URL+"/cart", "order")
		steps := clickAdd + `,{"click": {"target": {"role": "link", "name": "` + link + `"}}},` + clickAdd
		if got := h.run(t.Context(), tab, pack, steps, `{}`, tabtransport.Wait{Timeout: chromium.Timeout}); got != `null [click yes, click yes, click yes]` {
			t.Errorf("%s: %s", link, got)
		}
		if got := counted(p); got != `"2,0,0"` {
			t.Errorf("%s: done: %s", link, got)
		}
		h.closeTab(p)
	}
}
