package hub

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/lists"
	"tabhub/spec"
)

const departed = `:"departed":true`

// A call of a tool whose page has gone never reaches another page that does not have it, and
// the next page that has it once.
func TestCallWaitsForTheNextDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/", "x", "y"))
		time.Sleep(time.Second)
		var notices atomic.Int32
		defer w.hub.Lists.Watch(func(lists.Change) { notices.Add(1) })()

		w.register(b, 1, tools("https://e.com/", "x"+departed, "y"+departed))
		x, y := w.call(t.Context(), "e_com_x"), w.call(t.Context(), "e_com_tab1_y")
		time.Sleep(time.Second)
		if n := w.peers.InFlight(); n != 0 {
			t.Errorf("%d calls were sent to a page that has gone", n)
		}
		if e, err := w.hub.Explain(nil, nil, "website_tool_e_com_x"); err != nil || !strings.Contains(e.Reason, "wait for the next one") {
			t.Errorf("%+v, %v", e, err)
		}
		if d := w.hub.Tabs(nil)[0].Domains[0]; d.Tools != 2 || d.Departed != 2 {
			t.Errorf("%+v", d)
		}
		w.register(b, 1, tools("https://e.com/", "x", "y"+departed))
		answer(b, b.Next(), "the next page's")
		x.want(t, "the next page's")
		w.wantNames("e_com_x e_com_y")
		if n := notices.Load(); n != 0 {
			t.Errorf("%d notices of lists that are as they were", n)
		}

		w.register(b, 1, tools("https://e.com/", "x"))
		y.want(t, "does not offer it; the call was not sent")
		w.wantNames("e_com_x")

		// A page may go while the call is on its way.
		x = w.call(t.Context(), "e_com_x")
		b.Answer(b.Next(), spec.Response{}, &spec.Error{Code: spec.CodeTabNotFound, Message: "it is not there", Data: spec.NotDelivered})
		w.register(b, 1, tools("https://e.com/"))
		x.want(t, "does not offer it; the call was not sent")
	})
}

// A browser that never says what has become of a page holds up no call for good.
func TestCallWaitsForTheNextDocumentInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/", "x"+departed))
		start := time.Now()
		w.call(t.Context(), "e_com_x").want(t, "NOT_CONNECTED")
		if took := time.Since(start); took != spec.ReturnMaxWait {
			t.Errorf("the call took %v", took)
		}
	})
}

// A tab that its browser has put to sleep has its tools, whatever is restarted: the browser
// wakes it for a call. Tabs that are awake go first.
func TestDiscardedTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/", "x"))
		w.register(b, 1, tools("https://e.com/", "x"+departed))
		b.Notify(1, &spec.TabState{Discarded: ptr(true), Active: ptr(false)})
		wakes := func(what string) {
			t.Helper()
			w.wantNames("e_com_x")
			if d := w.description("e_com_x"); d != "[e.com • Asleep] does x" {
				t.Errorf("%s: description %q", what, d)
			}
			if e, err := w.hub.Explain(nil, nil, "website_tool_e_com_x"); err != nil || !strings.Contains(e.Reason, "asleep") || !e.Tab.Discarded {
				t.Errorf("%s: %+v, %v", what, e, err)
			}
			c := w.call(t.Context(), "e_com_x")
			answer(b, b.Next(), what)
			c.want(t, what)
		}
		synctest.Wait()
		wakes("asleep")

		// Some browsers give a tab that sleeps another number.
		b.Notify(3, &spec.TabState{Replaces: 1})
		wakes("under another number")
		if tab := w.hub.Tabs(nil)[0]; tab.Addr.Tab != 3 || tab.Domains[0].Number != 1 {
			t.Errorf("%+v", tab)
		}
		b.Notify(1, &spec.TabState{Replaces: 3})

		// The browser's extension is restarted, and knows only that the tab is there.
		b.Cut()
		b = w.chrome("b1", "s1")
		b.Notify(1, &spec.TabState{Discarded: ptr(true)})
		time.Sleep(2 * spec.OpenTabMaxWait)
		wakes("after the extension's restart")

		w.hub.Close(t.Context())
		w.start(Options{})
		b = w.chrome("b1", "s1")
		b.Notify(1, &spec.TabState{Discarded: ptr(true)})
		time.Sleep(2 * spec.OpenTabMaxWait)
		wakes("after the hub's restart")

		w.register(b, 2, tools("https://e.com/", "x"))
		c := w.call(t.Context(), "e_com_x")
		r := b.Next()
		answer(b, r, "awake")
		c.want(t, "awake")
		if r.Tab != 2 {
			t.Errorf("the call went to tab %d, which is asleep", r.Tab)
		}
		if d := w.description("e_com_tab1_x"); d != "[e.com • Tab 1 Asleep] does x" {
			t.Errorf("description %q", d)
		}
		b.Notify(2, &spec.TabState{Replaces: 1}) // which is another tab
		synctest.Wait()
		if tabs := w.hub.Tabs(nil); len(tabs) != 2 || !tabs[0].Discarded || tabs[1].Discarded {
			t.Errorf("%+v", tabs)
		}

		b.Notify(1, &spec.TabState{Discarded: ptr(false)})
		w.register(b, 1, tools("https://e.com/"))
		b.Notify(2, &spec.TabClosed{})
		synctest.Wait()
		w.wantNames("")
	})
}

// To press a key is no reason to load a page.
func TestCompletionWakesNoTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		b := w.chrome("b1", "s1")
		register := func(more string) {
			w.register(b, 1, &spec.Register{
				Kind: spec.KindPrompt, TabURL: "https://e.com/",
				Items: []json.RawMessage{json.RawMessage(`{"name":"greet","arguments":[{"name":"who"}]` + more + `}`)},
			})
		}
		wantNone := func(why string) {
			t.Helper()
			synctest.Wait()
			start := time.Now()
			got, err := w.hub.Calls.Complete(t.Context(), tester, spec.KindPrompt, "website_prompt_e_com_greet", json.RawMessage(`{"name":"who","value":"A"}`), nil)
			if err != nil || string(got) != `{"completion":{"values":[]}}` {
				t.Errorf("%s: %s, %v", why, got, err)
			}
			if waited := time.Since(start); waited != 0 {
				t.Errorf("%s: the tab was asked, for %v", why, waited)
			}
		}
		register("")
		wantNone("the page completes nothing")
		register(`,"completes":true,"departed":true`)
		wantNone("the page has gone")
		register(`,"completes":true`)
		b.Notify(1, &spec.TabState{Discarded: ptr(true)})
		wantNone("asleep")
	})
}
