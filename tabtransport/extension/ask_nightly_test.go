//go:build nightly

package extension_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// A question outlives the worker, and its answer a connection that is lost.
func TestQuestionsLast(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	h.asks(payment("q"))
	stopWorker := func(w *chromium.Page) {
		t.Helper()
		w.Close() // one that looks into a page of the extension holds its worker
		b.StopWorker()
	}
	back := h.awaitHello()
	stopWorker(window(b, "q"))
	window(b, "q").ClickLast("#yes")
	// A request that asks the same again has the answer at once, and no second window.
	back()
	(<-h.asks(payment("q"))).is(t, `{"reach":"once"}`)

	h.asks(payment("away"))
	w := window(b, "away")
	h.stop()
	w.ClickLast("#never")
	back = h.awaitHello()
	h.restart()
	back()
	(<-h.asks(payment("away"))).is(t, `{"reach":"never"}`)

	// A window that is closed while no worker runs is a no, too.
	h.asks(payment("closed"))
	back = h.awaitHello()
	stopWorker(window(b, "closed"))
	w = window(b, "closed")
	w.Eval("void setTimeout(() => window.close())")
	w.WaitGone()
	back()
	(<-h.asks(payment("closed"))).is(t, `{"reach":"no"}`)

	// The connection is lost and comes back under an open question, which is shown once.
	h.asks(payment("lost"))
	w = window(b, "lost")
	back = h.awaitHello()
	h.cut()
	back()
	again := h.asks(payment("lost"))
	w.WaitFor("chrome.runtime.getContexts({}).then((all) => all.filter(({documentUrl}) => documentUrl?.includes('ask.html')).length === 1)")
	w.ClickLast("#yes")
	(<-again).is(t, `{"reach":"once"}`)
}

// Questions come one after the other, and go when the hub no longer asks.
func TestQuestionsInTurn(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	first := h.asks(payment("first"))
	w := window(b, "first")
	second := h.asks(payment("second"))
	w.WaitFor("document.querySelector('#waiting').textContent === 'Waiting after this one: 1'")
	popup := b.Open("chrome-extension://" + b.ExtensionID + "/popup.html")
	popup.WaitFor("document.querySelector('#detail').textContent === '2 questions of apps wait for your answer.'")
	popup.WaitFor("chrome.action.getBadgeText({}).then((text) => text === '2')")
	picture(t, popup, "popup-waiting")
	if windows := popup.Eval("chrome.windows.getAll({windowTypes: ['popup']}).then((all) => all.length)"); windows != "1" {
		t.Errorf("two questions have %s windows", windows)
	}
	w.ClickLast("#no")
	(<-first).is(t, `{"reach":"no"}`)
	w = window(b, "second")
	w.ClickLast("#yes")
	(<-second).is(t, `{"reach":"once"}`)
	popup.WaitFor("chrome.action.getBadgeText({}).then((text) => text === '')")

	ctx, cancel := context.WithCancelCause(t.Context())
	withdrawn := make(chan error, 1)
	go func() {
		_, err := h.wire.SendRequest(ctx, spec.TabAddr{Peer: browserPeer}, payment("withdrawn"), tabtransport.Wait{Timeout: chromium.Timeout})
		withdrawn <- err
	}()
	w = window(b, "withdrawn")
	cancel(errors.New("the client has gone"))
	<-withdrawn
	w.WaitFor("document.querySelector('#headline').textContent === 'This is no longer asked'")
	w.WaitFor("document.querySelector('#answers').hidden")
	picture(t, w, "ask-withdrawn")

	late := payment("late")
	late.ExpiresMs = 4000
	h.asks(late)
	w = window(b, "late")
	w.WaitFor("document.querySelector('#headline')?.textContent.startsWith('Time is up')")
	next := h.asks(payment("next")) // the window with words has no delay
	window(b, "next").ClickLast("#yes")
	(<-next).is(t, `{"reach":"once"}`)
}

// However much is asked, the owner has one window, and the hub learns what is too much.
func TestTooManyQuestions(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	refused := make(chan error, 17)
	for i := range cap(refused) {
		answer := h.asks(payment("q" + strconv.Itoa(i)))
		go func() { refused <- (<-answer).err }()
	}
	if err := <-refused; err == nil || !strings.Contains(err.Error(), "too many questions wait") {
		t.Errorf("the one too many: %v", err)
	}
	w := b.Window("ask.html")
	w.WaitFor("document.querySelector('#waiting')?.textContent === 'Waiting after this one: 15'")
	if windows := w.Eval("chrome.windows.getAll({windowTypes: ['popup']}).then((all) => all.length)"); windows != "1" {
		t.Errorf("they have %s windows", windows)
	}
}

// awaitHello returns what waits until the extension has said hello after this call.
func (h *hub) awaitHello() (wait func()) {
	h.mu.Lock()
	before := h.hellos
	h.mu.Unlock()
	return func() {
		h.t.Helper()
		h.wait("the extension is back", func() bool { return h.hellos > before })
	}
}
