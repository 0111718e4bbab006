//go:build nightly

package extension_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/tabtest/chromium"
	"tabhub/tabtransport/wsserver"
)

// What both sides prove delays each connection of the browser. Nobody should feel that.
func TestHandshakeIsFast(t *testing.T) {
	h := newHub(t)
	h.stop()
	var begun time.Time
	var took []time.Duration
	ws := wsserver.New(wsserver.Options{
		Pair: func(r *http.Request, m *spec.Pair) (*pairing.Exchange, error) {
			begun = time.Now()
			return h.pairings.Pair(r, m)
		},
		Authenticate: func(_ *http.Request, hello *spec.Hello, ex *pairing.Exchange) (tabtransport.Admission, error) {
			id, err := h.pairings.Check(hello, ex)
			took = append(took, time.Since(begun))
			return tabtransport.Admission{Attested: true, Pairing: id}, err
		},
	})
	h.wire = ws.Transport(spec.LocalUser)
	h.wire.Handle(h)
	server := &http.Server{Handler: ws.Tabs()}
	go server.Serve(h.port.Listen())
	h.browse(chromium.Options{})
	for n := 1; n < 8; n++ {
		h.cut()
		h.wait("the extension is back", func() bool { return h.hellos > n })
	}
	server.Close()
	if err := ws.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	slices.Sort(took)
	t.Logf("from browser/pair to browser/hello: %v to %v, half of them within %v", took[0], took[len(took)-1], took[len(took)/2])
	if took[0] > 5*time.Millisecond {
		t.Errorf("a handshake takes at least %v", took[0])
	}
}

// Any page can have the user asked. The answer must not bring a tab back to that page which
// the user has taken elsewhere.
func TestInvitationOfATabThatHasMovedOn(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	o := h.pairings.MustInvite(t)
	page := b.Open("http://" + h.addr + "/pair#" + o.Text())
	window := b.Window("invite.html")
	page.Navigate(site(t, map[string]string{"/": shop}))
	window.WaitFor("document.querySelector('#code').textContent !== ''")
	w := b.Worker()
	defer w.Close()
	window.ClickLast("#decline")
	w.WaitFor("chrome.windows.getAll().then((all) => all.every(({type}) => type !== 'popup'))")
	if led := w.Eval("chrome.tabs.query({}).then((all) => all.map(({url, pendingUrl}) => pendingUrl || url || '').filter((url) => url.includes('/pair')).join())"); led != `""` && led != "" {
		t.Errorf("the tab was led to %s", led)
	}
}

// A page may have the user asked first. Who pastes another address must not take that
// question for the answer to it.
func TestPasteWhileAPageAsks(t *testing.T) {
	t.Parallel()
	h, other := newHub(t), newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	theirs, mine := h.pairings.MustInvite(t), other.pairings.MustInvite(t)
	b.Open("http://" + h.addr + "/pair#" + theirs.Text())
	window := b.Window("invite.html")
	window.WaitFor(fmt.Sprintf("document.querySelector('#code').textContent === %q", theirs.Code()))
	settings := b.Open("chrome-extension://" + b.ExtensionID + "/options.html")
	settings.Click("#link")
	settings.Type("http://" + other.addr + "/pair#" + mine.Text())
	settings.Click("#pairing button")
	settings.WaitFor("document.querySelector('#linkproblem').textContent.includes('another address')")
}
