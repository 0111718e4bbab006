package extension_test

import (
	"slices"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// outcome is what became of a request.
type outcome struct {
	resp spec.Response
	err  error
}

// is checks an answer.
func (o outcome) is(t *testing.T, want string) {
	t.Helper()
	if o.err != nil || string(o.resp.Result) != want {
		t.Errorf("answered %s, %v; want %s", o.resp.Result, o.err, want)
	}
}

// payment is a question as the hub asks it.
func payment(id string) *spec.Ask {
	return &spec.Ask{
		ID: id, Kind: spec.AskCall,
		Client:  spec.AskClient{Name: "Claude Code"},
		Site:    &spec.AskSite{Origin: "https://shop.example.com", Verified: true},
		Tool:    &spec.AskTool{Kind: spec.KindTool, Name: "pay", Title: "Pay the cart", Class: "destructive"},
		Why:     []string{"It may not be possible to undo it."},
		Args:    []spec.AskValue{{Name: "amount", Value: "4200"}, {Name: "note", Value: "<img src=x>"}},
		Reaches: []spec.Reach{spec.ReachOnce, spec.ReachSession, spec.ReachApp, spec.ReachAlways, spec.ReachNever}, ExpiresMs: 120_000,
	}
}

// asks sends a question.
func (h *hub) asks(q *spec.Ask) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		resp, err := h.wire.SendRequest(h.t.Context(), spec.TabAddr{Peer: browserPeer}, q, tabtransport.Wait{Timeout: 2 * chromium.Timeout})
		done <- outcome{resp, err}
	}()
	return done
}

// window attaches to the window of a question, once it shows it.
func window(b *chromium.Browser, id string) *chromium.Page {
	w := b.Window("ask.html?" + id)
	w.WaitFor("!document.querySelector('#answers').hidden")
	return w
}

// The owner sees what is asked, and how far a yes reaches. Closing the window is a no.
func TestAsk(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	h.mu.Lock()
	can := h.hello.Capabilities
	h.mu.Unlock()
	if slices.Contains(can, spec.CapAsk) || !slices.Contains(can, spec.CapText) {
		t.Errorf("a browser without a window can %v", can)
	}
	answer := h.asks(payment("q1"))
	w := window(b, "q1")
	shown := w.Eval("document.body.innerText")
	for _, want := range []string{"Claude Code", "https://shop.example.com", "pay", "Pay the cart", "undo", "amount", "4200", "<img src=x>"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the window does not say %q: %s", want, shown)
		}
	}
	picture(t, w, "ask")
	w.ClickLast("#yes")
	(<-answer).is(t, `{"reach":"once"}`)

	answer = h.asks(payment("q2"))
	w = window(b, "q2")
	w.WaitFor("!document.querySelector('#yes').disabled")
	w.Click("#reaches label:nth-of-type(3)")
	w.WaitFor("document.querySelector('#yes').textContent === 'Always allow'")
	w.ClickLast("#yes")
	(<-answer).is(t, `{"reach":"app"}`)

	answer = h.asks(payment("q3"))
	window(b, "q3").ClickLast("#never")
	(<-answer).is(t, `{"reach":"never"}`)

	answer = h.asks(payment("q4"))
	window(b, "q4").Eval("void setTimeout(() => window.close())")
	(<-answer).is(t, `{"reach":"no"}`)
}
