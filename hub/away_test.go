package hub

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/lists"
	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest"
)

// document connects a single tab that shows a document: a reload is a new session.
func (w *fixture) document(origin, key, session string) tabtest.End {
	return w.dial(tabtransport.Conn{Origin: origin, Dialect: spec.Subprotocol, Hello: &spec.Hello{TabKey: key, Session: session}})
}

// A page that was reloaded knows its tools only once it has registered them: a call
// that reached it before would fail.
func TestCallWaitsForAReloadedPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.document("https://e.com", "a", "d1")
		w.register(p, 0, tools("https://e.com/", "x"))
		p.Cut()
		synctest.Wait()
		c := w.call(t.Context(), "e_com_x")
		p = w.document("https://e.com", "a", "d2")
		time.Sleep(time.Second)
		p.Notify(0, &spec.TabState{Visible: ptr(true)})
		time.Sleep(time.Second)
		if n := w.peers.InFlight(); n != 0 {
			t.Errorf("%d calls sent to a page that has no tools yet", n)
		}
		w.register(p, 0, tools("https://e.com/", "x"))
		answer(p, p.Next(), "loaded")
		c.want(t, "loaded")

		// The same document has its tools still.
		p.Cut()
		p = w.document("https://e.com", "a", "d2")
		c = w.call(t.Context(), "e_com_x")
		answer(p, p.Next(), "same document")
		c.want(t, "same document")
		w.register(p, 0, tools("https://e.com/", "x"))

		// The next one has none, and says so only by its silence.
		p.Cut()
		p = w.document("https://e.com", "a", "d3")
		p.Notify(0, &spec.TabState{Visible: ptr(true)})
		c = w.call(t.Context(), "e_com_x")
		time.Sleep(spec.OpenTabMaxWait + time.Second)
		c.want(t, "NOT_CONNECTED")
		w.wantNames("")
	})
}

// What a client is told of a call that was sent must not be that it was not.
func TestSentCallIsNotCalledUnsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		safe := `x:"annotations":{"readOnlyHint":true}`
		for _, name := range []string{"e_com_x", "e_com_tab1_x"} {
			p := w.document("https://e.com", "a", "d1")
			w.register(p, 0, tools("https://e.com/", safe))
			c := w.call(t.Context(), name)
			p.Next()
			p.Cut()
			p = w.document("https://e.com", "a", "d2")
			w.register(p, 0, tools("https://e.com/", safe))
			c.want(t, "TAB_CLOSED")
			p.Cut()
			synctest.Wait()
		}
	})
}

// A call that falls over to a tab that is to be opened waits for it, though another
// browser has the site open.
func TestFallOverOpensATab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		safe := `x:"annotations":{"readOnlyHint":true,"cache":true}`
		b, other := w.chrome("b1", "s1"), w.chrome("b2", "s1")
		w.register(other, 1, tools("https://e.com/", safe))
		time.Sleep(time.Second)
		w.register(b, 1, tools("https://e.com/", safe))
		c := w.call(t.Context(), "e_com_x")
		b.Next()
		b.Notify(1, &spec.TabClosed{})
		r := b.Next()
		if r.Method != spec.MethodOpenTab {
			t.Fatalf("asked for %s", r.Method)
		}
		b.Answer(r, spec.Response{Result: json.RawMessage(`{"tabId":9}`)}, nil)
		time.Sleep(3 * time.Second)
		w.register(b, 9, tools("https://e.com/", safe))
		answer(b, b.Next(), "fell over")
		c.want(t, "fell over")
	})
}

// A page that never settles must not have every client list all the time.
func TestRestlessPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		var n atomic.Int32
		defer w.hub.Lists.Watch(func(lists.Change) { n.Add(1) })()
		for i := range 200 {
			p.Notify(0, tools("https://e.com/", fmt.Sprint("x", i)))
			time.Sleep(51 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		if n.Load() > 16 {
			t.Errorf("%d notices in 10 s", n.Load())
		}
		was := n.Load()
		p.Notify(0, tools("https://e.com/", "calm"))
		time.Sleep(spec.NotifyCoalesced + time.Millisecond)
		if n.Load() != was+1 {
			t.Error("a change after a rest is told late")
		}
	})
}

// What a page answers in place of a result is the page's error, not the client's.
func TestResourceThatIsNoObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, register(spec.KindResource, "", `{"uri":"shop://cart"}`))
		for _, answer := range []string{"null", `{"isError":true}`, ""} {
			done := make(chan error)
			go func() {
				_, err := w.hub.Calls.ReadResource(t.Context(), tester, "tabhub://e.com/shop://cart")
				done <- err
			}()
			p.Answer(p.Next(), spec.Response{Result: json.RawMessage(answer)}, nil)
			if err := <-done; err == nil || !strings.Contains(err.Error(), "TOOL_ERROR") {
				t.Errorf("%q: %v", answer, err)
			}
		}
	})
}

// The browser that could open a cached tool's tab is often only asleep: the call waits
// for it as long as it would for one of its tabs.
func TestCachedToolWaitsForItsBrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		cached := `find:"annotations":{"cache":true}`
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/deep", cached))
		b.Notify(1, &spec.TabClosed{})
		b.Cut()
		synctest.Wait()
		if e, err := w.hub.Explain(nil, nil, "website_tool_e_com_find"); err != nil || !strings.Contains(e.Reason, "wait for the browser") {
			t.Errorf("%+v, %v", e, err)
		}
		c := w.call(t.Context(), "e_com_find")
		time.Sleep(spec.BrowserGrace - time.Second)
		b = w.chrome("b1", "s1")
		b.Answer(b.Next(), spec.Response{Result: json.RawMessage(`{"tabId":9}`)}, nil)
		w.register(b, 9, tools("https://e.com/deep", cached))
		answer(b, b.Next(), "opened")
		c.want(t, "opened")
		synctest.Wait() // the hub knows that it was opened

		b.Notify(9, &spec.TabClosed{})
		b.Cut()
		synctest.Wait()
		c = w.call(t.Context(), "e_com_find")
		time.Sleep(spec.BrowserGrace + time.Second)
		c.want(t, "NOT_CONNECTED")
		w.call(t.Context(), "e_com_find").want(t, "TAB_NOT_FOUND")
	})
}

// A tab that a call opens is seen by the user; one for arguments that do not fit would
// be opened for nothing.
func TestNoTabIsOpenedForWrongArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/", `find:"annotations":{"cache":true},"inputSchema":{"type":"object","required":["q"]}`))
		b.Notify(1, &spec.TabClosed{})
		synctest.Wait()
		c := w.call(t.Context(), "e_com_find")
		synctest.Wait()
		if n := w.peers.InFlight(); n != 0 {
			t.Error("the browser was asked for a tab")
			b.Answer(b.Next(), spec.Response{}, spec.Errorf(spec.CodeInternal, "no"))
		}
		c.want(t, "INVALID_ARGUMENTS")
	})
}
