package hub

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/call"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
	"tabhub/tabtransport/tabtest"
)

// rounds is a browser with two tabs of one site, of which the first has asked back in a call.
type rounds struct {
	*fixture
	browser tabtest.End
	by      *consent.Caller // of the call
}

const asksBack = `{"resultType":"input_required","requestState":"s"}`

func testRounds(t *testing.T, f func(t *testing.T, w *rounds)) {
	synctest.Test(t, func(t *testing.T) {
		by := *tester
		by.AskedBy = &consent.Frame{}
		w := &rounds{fixture: newFixture(t, Options{}), by: &by}
		w.browser = w.chrome("b1", "s1")
		w.offer(1, `"frameId":0`)
		c := w.round()
		r := w.browser.Next()
		w.browser.Answer(r, spec.Response{Result: json.RawMessage(asksBack)}, nil)
		c.want(t, `"resultType":"input_required"`)
		if r.Tab != 1 || by.AskedBy.Tab == "" {
			t.Fatalf("tab %d was called; %+v has asked back", r.Tab, *by.AskedBy)
		}
		// The other tab has all that makes a call prefer it.
		w.offer(2, `"frameId":0,"inputSchema":{"type":"object","required":[]}`)
		w.browser.Notify(2, &spec.TabState{WindowID: ptr(int64(7)), Active: ptr(true), WindowFocused: ptr(true)})
		time.Sleep(time.Second)
		f(t, w)
	})
}

// offer has a tab offer x, which may be run twice and has a tab opened, with further members.
func (w *rounds) offer(tab int64, more string) {
	w.t.Helper()
	if r := w.register(w.browser, tab, tools("https://e.com/", `x:"annotations":{"readOnlyHint":true,"cache":true},`+more)); r.Accepted != 1 {
		w.t.Fatalf("registered %+v", r)
	}
}

// round begins the next round of the call.
func (w *rounds) round() *pendingCall { return w.callX(w.by, "{}") }

func (w *rounds) callX(by *consent.Caller, args string) *pendingCall {
	c := &pendingCall{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.result, c.err = w.hub.Calls.Call(w.t.Context(), call.Request{Name: "website_tool_e_com_x", By: by, Args: json.RawMessage(args)})
	}()
	return c
}

// begunAnew checks that nothing has gone to the browser before another call does.
func (w *rounds) begunAnew() {
	w.t.Helper()
	c := w.callX(tester, `{"new":1}`)
	r := w.browser.Next()
	if r.Method != spec.MethodExecuteTool || string(r.Call.Args) != `{"new":1}` {
		w.t.Fatalf("the browser was sent %s", r.Method)
	}
	answer(w.browser, r, "new")
	c.want(w.t, "new")
}

func TestNextRoundGoesToWhoHasAsked(t *testing.T) {
	testRounds(t, func(t *testing.T, w *rounds) {
		c := w.round()
		r := w.browser.Next()
		answer(w.browser, r, "thanks")
		c.want(t, "thanks")
		if r.Tab != 1 {
			t.Errorf("the next round went to tab %d", r.Tab)
		}
		w.begunAnew()
	})
}

// What was asked is known to the one document alone: the call goes to no other, opens none, and
// does not wait for one.
func TestNextRoundWhenWhoHasAskedIsGone(t *testing.T) {
	for name, leave := range map[string]func(w *rounds){
		"closed":              func(w *rounds) { w.browser.Notify(1, &spec.TabClosed{}) },
		"offers it no longer": func(w *rounds) { w.register(w.browser, 1, tools("https://e.com/", "y")) },
		"in another frame":    func(w *rounds) { w.offer(1, `"frameId":5`) },
		"at another site":     func(w *rounds) { w.register(w.browser, 1, tools("https://other.com/", "x")) },
	} {
		t.Run(name, func(t *testing.T) {
			testRounds(t, func(t *testing.T, w *rounds) {
				leave(w)
				time.Sleep(time.Second)
				start := time.Now()
				w.round().want(t, "call again to begin anew")
				if time.Since(start) > 0 {
					t.Error("it has waited")
				}
				w.begunAnew()
			})
		})
	}
	t.Run("all closed", func(t *testing.T) {
		testRounds(t, func(t *testing.T, w *rounds) {
			w.browser.Notify(1, &spec.TabClosed{})
			w.browser.Notify(2, &spec.TabClosed{})
			time.Sleep(time.Second)
			w.round().want(t, "call again to begin anew")
			c := w.callX(tester, "{}") // has the browser open a tab, as the first that it is sent
			w.browser.Answer(w.browser.Next(), spec.Response{Result: json.RawMessage(`{"tabId":9}`)}, nil)
			w.offer(9, `"frameId":0`)
			answer(w.browser, w.browser.Next(), "new")
			c.want(t, "new")
		})
	})
	t.Run("while it answers", func(t *testing.T) {
		testRounds(t, func(t *testing.T, w *rounds) {
			c := w.round()
			w.browser.Next()
			w.browser.Notify(1, &spec.TabClosed{})
			c.want(t, "TAB_CLOSED")
			w.begunAnew()
		})
	})
}

// A tab that is away for a moment is waited for, and gets the round.
func TestNextRoundWaitsForWhoHasAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		resource := register(spec.KindResource, "https://e.com/", `{"uri":"e://x","name":"x"}`)
		a := w.page("https://e.com", "a")
		w.register(a, 0, resource)
		by := *tester
		by.AskedBy = &consent.Frame{}
		read := func() *pendingCall {
			c := &pendingCall{done: make(chan struct{})}
			go func() {
				defer close(c.done)
				c.result, c.err = w.hub.Calls.ReadResource(t.Context(), &by, "tabhub://e.com/e://x")
			}()
			return c
		}
		c := read()
		<-answering(a, asksBack)
		c.want(t, "input_required")
		b := w.page("https://e.com", "b")
		w.register(b, 0, resource)
		a.Cut()
		time.Sleep(time.Second)
		c = read()
		time.Sleep(time.Second)
		a = w.page("https://e.com", "a")
		w.register(a, 0, resource)
		<-answering(a, `{"contents":[{"uri":"e://x","text":"thanks"}]}`)
		c.want(t, "thanks")

		a.Cut()
		time.Sleep(time.Hour)
		by.AskedBy = &consent.Frame{Tab: strings.Repeat("0", 8) + ":0"}
		read().want(t, "call again to begin anew")
	})
}
