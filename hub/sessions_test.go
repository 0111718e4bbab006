package hub

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"tabhub/hub/agents"
	"tabhub/hub/call"
	"tabhub/hub/core"
	"tabhub/hub/state"
	"tabhub/hub/telemetry"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest"
)

// agentOf is a session of a client of that name.
func agentOf(name string) *consent.Caller {
	return &consent.Caller{Principal: &policy.Principal{ID: "c-" + name, Name: name}, Session: "s-" + name}
}

func (w *fixture) callAs(by *consent.Caller, name string) *pendingCall {
	c := &pendingCall{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.result, c.err = w.hub.Calls.Call(w.t.Context(), call.Request{Name: "website_tool_" + name, By: by})
	}()
	return c
}

// eTabs are tabs of one browser that have the tool x of e.com.
func (w *fixture) eTabs(n int64) (e tabtest.End, tabs []spec.TabAddr) {
	w.t.Helper()
	e = w.chrome("b1", "s1")
	for i := range n {
		w.register(e, i+1, tools("https://e.com/", "x"))
		tabs = append(tabs, spec.TabAddr{Peer: "browser:b1", Tab: i + 1})
	}
	return e, tabs
}

func (w *fixture) claim(by *consent.Caller, at spec.TabAddr, t agents.Terms) {
	w.t.Helper()
	if _, err := w.hub.Agents.Claim(w.t.Context(), by, at, t, nil); err != nil {
		w.t.Fatal(err)
	}
}

func wantFailure(t *testing.T, err error, code spec.FailureCode, text string) {
	t.Helper()
	f, ok := errors.AsType[*core.Failure](err)
	if !ok || f.Code != code || !strings.Contains(f.Message, text) {
		t.Errorf("%v, want %s with %q", err, code, text)
	}
}

// A tab that an agent has leased takes its calls and the owner's, and nobody else's.
func TestLeasedTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		e, tabs := w.eTabs(2)
		a, b := agentOf("a"), agentOf("b")
		left := w.hub.Owner.Connected(a)
		w.claim(a, tabs[0], agents.Terms{Name: "shopping", TTL: time.Minute})
		_, err := w.hub.Agents.Claim(t.Context(), b, tabs[0], agents.Terms{TTL: time.Minute}, nil)
		wantFailure(t, err, spec.FailTabLeased, "leased by a (shopping) until 00:01:00 UTC")

		for by, tab := range map[*consent.Caller]int64{a: 1, b: 2, tester: 2} {
			c := w.callAs(by, "e_com_x")
			r := e.Next()
			if r.Tab != tab {
				t.Errorf("%s's call went to tab %d", by.Label(), r.Tab)
			}
			answer(e, r, "done")
			c.want(t, "done")
		}
		w.callAs(b, "e_com_tab1_x").want(t, `TAB_LEASED`)
		c := w.callAs(tester, "e_com_tab1_x")
		answer(e, e.Next(), "the owner's")
		c.want(t, "the owner's")
		wantFailure(t, w.hub.Agents.Use(t.Context(), b, tabs[0], nil), spec.FailTabLeased, "shopping")

		for _, r := range w.record.Entries(record.Query{}) {
			if r.Client == "c-a" && r.Event == "call" && r.Reason != state.ReasonHeld {
				t.Errorf("the record says %q", r.Reason)
			}
		}
		// When its client goes the tab is anybody's.
		left(true)
		c = w.callAs(b, "e_com_tab1_x")
		answer(e, e.Next(), "b's")
		c.want(t, "b's")
	})
}

// Calls that go to a client's tabs in turn, by their own names or by those of their sites, do not wait
// for each other to change the state.
func TestCallsDoNotChangeTheState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		e := w.chrome("b1", "s1")
		w.register(e, 1, tools("https://e.com/1", "x"))
		w.register(e, 2, tools("https://e.com/2", "x"))
		w.register(e, 3, tools("https://f.com/", "x"))
		a := agentOf("a")
		w.hub.Owner.Connected(a)
		round := func() {
			for _, name := range []string{"e_com_tab1_x", "e_com_tab2_x", "f_com_x"} {
				c := w.callAs(a, name)
				answer(e, e.Next(), "done")
				c.want(t, "done")
			}
		}
		round() // in which the session takes f.com's tab
		updates := w.hub.Revision().Tabs
		round()
		if n := w.hub.Revision().Tabs - updates; n > 0 {
			t.Errorf("three calls have changed the state %d times", n)
		}
	})
}

// What completes a prompt's arguments is asked of the page, so a leased tab's holder is asked nothing
// for others.
func TestCompletionInLeasedTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		e, tabs := w.eTabs(1)
		w.register(e, 1, &spec.Register{Kind: spec.KindPrompt, Items: []json.RawMessage{
			json.RawMessage(`{"name":"greet","arguments":[{"name":"who"}],"completes":true}`),
		}})
		a, b := agentOf("a"), agentOf("b")
		complete := func(by *consent.Caller) (asked bool) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = w.hub.Calls.Complete(t.Context(), by, spec.KindPrompt, "website_prompt_e_com_tab1_greet", json.RawMessage(`{"name":"who","value":"A"}`), nil)
			}()
			synctest.Wait()
			select {
			case <-done:
				return false
			default:
			}
			e.Answer(e.Next(), spec.Response{Result: json.RawMessage(`{"completion":{"values":["Ada"]}}`)}, nil)
			<-done
			return true
		}
		for _, reads := range []bool{false, true} {
			w.claim(a, tabs[0], agents.Terms{TTL: time.Minute, Reads: reads})
			if got := [2]bool{complete(a), complete(b)}; got != [2]bool{true, reads} {
				t.Errorf("others may read: %t; its holder and another ask: %v", reads, got)
			}
		}
		if _, keeps := w.hub.Agents.Preferred(b); keeps {
			t.Error("a completion has chosen a tab for the calls")
		}
	})
}

// A browser is not closed under who holds one of its tabs.
func TestFreeBrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		_, tabs := w.eTabs(2)
		a, b := agentOf("a"), agentOf("b")
		w.claim(a, tabs[1], agents.Terms{TTL: time.Minute, Reads: true})
		wantFailure(t, w.hub.Agents.FreeBrowser(b, "browser:b1"), spec.FailTabLeased, "leased by a until")
		for _, by := range []*consent.Caller{a, tester} {
			if err := w.hub.Agents.FreeBrowser(by, "browser:b1"); err != nil {
				t.Errorf("%s: %v", by.Label(), err)
			}
		}
		if err := w.hub.Agents.FreeBrowser(b, "browser:b2"); err != nil {
			t.Error(err)
		}
	})
}

// Requests for a leased tab other than calls are its holder's, too, but those that read where
// it lets others.
func TestControlOfLeasedTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		conn := chromeConn("b1", "s1", "")
		conn.Pairing, conn.Hello.Capabilities = "p1", []spec.Capability{spec.CapCloseTab, spec.CapNavigate, spec.CapScreenshot, spec.CapText, spec.CapActivateTab}
		e := w.dial(conn)
		at := spec.TabAddr{Peer: "browser:b1", Tab: 1}
		w.register(e, 1, tools("https://e.com/", "x"))
		a, b := agentOf("a"), agentOf("b")
		serve := func(by *consent.Caller, req spec.Request) error {
			done := make(chan error, 1)
			go func() {
				_, err := w.hub.Calls.Control(t.Context(), by, at, req)
				done <- err
			}()
			synctest.Wait()
			select {
			case err := <-done:
				return err
			default:
			}
			e.Answer(e.Next(), spec.Response{Result: json.RawMessage(`{}`)}, nil)
			return <-done
		}
		for _, reads := range []bool{false, true} {
			w.claim(a, at, agents.Terms{TTL: time.Minute, Reads: reads})
			for _, req := range []spec.Request{&spec.Navigate{URL: "https://e.com/2"}, &spec.Navigate{Reload: true}, &spec.ActivateTab{}, &spec.CloseTab{}} {
				wantFailure(t, serve(b, req), spec.FailTabLeased, "leased by a")
			}
			for _, req := range []spec.Request{&spec.Screenshot{}, &spec.Text{}} {
				if err := serve(b, req); !reads {
					wantFailure(t, err, spec.FailTabLeased, "leased by a")
				} else if err != nil {
					t.Error(err)
				}
			}
			time.Sleep(50 * time.Second) // what the holder does keeps its lease
			for _, by := range []*consent.Caller{a, tester} {
				if err := serve(by, &spec.Navigate{Reload: true}); err != nil {
					t.Errorf("%s: %v", by.Label(), err)
				}
			}
		}
		time.Sleep(50 * time.Second)
		if w.hub.Agents.Holder(at) == nil {
			t.Error("the lease was not renewed")
		}
		if was := w.hub.Agents.EndLease(at, consent.ByCommand); was == nil || was.Name != "a" || w.hub.Agents.EndLease(at, consent.ByCommand) != nil {
			t.Errorf("ended that of %v", was)
		}
		if err := serve(b, &spec.ActivateTab{}); err != nil {
			t.Error(err)
		}
		ended := slices.DeleteFunc(w.record.Entries(record.Query{}), func(e record.Entry) bool { return e.Event != record.Lease })
		if len(ended) != 1 || ended[0].By != consent.ByCommand || ended[0].Client != "c-a" {
			t.Errorf("the record says %+v", ended)
		}
	})
}

// between is an observer that does something once a call was decided about, and before it is sent.
type between struct {
	telemetry.Observer
	do atomic.Pointer[func()]
}

func (b *between) EndPhase(p telemetry.Phase, _ time.Duration, _ string) {
	if p == telemetry.Decide {
		if do := b.do.Swap(nil); do != nil {
			(*do)()
		}
	}
}

// Once a session has its lease confirmed, no call of another session is sent to the tab.
func TestClaimedBeforeACallIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		decided := &between{Observer: telemetry.Nobody}
		w := newFixture(t, Options{Telemetry: decided})
		e, tabs := w.eTabs(2)
		a, b := agentOf("a"), agentOf("b")
		claims := func() {
			do := func() { w.claim(a, tabs[0], agents.Terms{TTL: time.Minute}) }
			decided.do.Store(&do)
		}
		if err := w.hub.Agents.Use(t.Context(), b, tabs[0], nil); err != nil {
			t.Fatal(err)
		}
		claims()
		c := w.callAs(b, "e_com_x")
		r := e.Next()
		if r.Tab != 2 {
			t.Errorf("the call went to tab %d", r.Tab)
		}
		answer(e, r, "done")
		c.want(t, "done")

		w.hub.Agents.Release(a, tabs[0])
		claims()
		w.callAs(b, "e_com_tab1_x").want(t, "TAB_LEASED")
	})
}

// The browser may be asked what a tab shows before something is done to it: long enough for a
// claim.
func TestClaimedBeforeControl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		conn := chromeConn("b1", "s1", "")
		conn.Pairing, conn.Hello.Capabilities = "p1", []spec.Capability{spec.CapCloseTab, spec.CapListTabs}
		e := w.dial(conn)
		at := spec.TabAddr{Peer: "browser:b1", Tab: 7}
		closed, claimed := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := w.hub.Calls.Control(t.Context(), agentOf("b"), at, &spec.CloseTab{})
			closed <- err
		}()
		look := e.Next()
		go func() {
			_, err := w.hub.Agents.Claim(t.Context(), agentOf("a"), at, agents.Terms{TTL: time.Minute}, nil)
			claimed <- err
		}()
		listed := spec.Response{Result: json.RawMessage(`{"tabs":[{"tabId":7,"url":"https://e.com/"}]}`)}
		e.Answer(e.Next(), listed, nil)
		if err := <-claimed; err != nil {
			t.Fatal(err)
		}
		e.Answer(look, listed, nil)
		wantFailure(t, <-closed, spec.FailTabLeased, "leased by a")
	})
}

// A client whose site's tabs are all leased gets a new tab, if a browser opens one.
func TestAllTabsLeased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		e, tabs := w.eTabs(1)
		a, b := agentOf("a"), agentOf("b")
		w.claim(a, tabs[0], agents.Terms{TTL: time.Hour})
		c := w.callAs(b, "e_com_x")
		r := e.Next()
		if r.Method != spec.MethodOpenTab {
			t.Fatalf("the browser was asked for %+v", r)
		}
		e.Answer(r, spec.Response{Result: json.RawMessage(`{"tabId":7}`)}, nil)
		w.register(e, 7, tools("https://e.com/", "x"))
		answer(e, e.Next(), "in the new tab")
		c.want(t, "in the new tab")
		synctest.Wait() // the call may go on before the one who has opened the tab is told
		if s := w.hub.Agents.Standing(b, spec.TabAddr{Peer: "browser:b1", Tab: 7}); s.OpenedBy != "b" || s.HeldBy != nil {
			t.Errorf("of the new tab there is %+v", s)
		}
		w.claim(a, spec.TabAddr{Peer: "browser:b1", Tab: 7}, agents.Terms{Name: "greedy", TTL: time.Hour})
		c = w.callAs(b, "e_com_x")
		e.Answer(e.Next(), spec.Response{}, spec.Errorf(spec.CodeRefused, "no"))
		c.want(t, "TAB_LEASED")
		if !strings.Contains(string(c.result), "opening https://e.com/ failed: no") {
			t.Errorf("%s", c.result)
		}
	})
}

// Nobody's own requests, such as those of the owner's commands, have no tabs of their own.
func TestNobodysTabs(t *testing.T) {
	w := newFixture(t, Options{})
	_, tabs := w.eTabs(1)
	_, err := w.hub.Agents.Claim(context.Background(), tester, tabs[0], agents.Terms{TTL: time.Hour}, nil)
	wantFailure(t, err, spec.FailToolError, "only a client's session")
	wantFailure(t, w.hub.Agents.Use(context.Background(), tester, tabs[0], nil), spec.FailToolError, "only a client's session")
}

// One process serves many users, whose hubs come and go: what a hub had in memory does not stay
// there for the hours that a lease of it may have had yet.
func TestClosedHubIsFreed(t *testing.T) {
	closed := func() weak.Pointer[Hub] {
		h, err := Open(t.Context(), Options{User: spec.LocalUser, Transport: tabtransport.NewPeers(), Store: &storagetest.Memory{}})
		if err != nil {
			t.Fatal(err)
		}
		a := agentOf("a")
		h.Owner.Connected(a)
		if _, err := h.Agents.Claim(t.Context(), a, spec.TabAddr{Peer: "browser:b1", Tab: 1}, agents.Terms{TTL: 24 * time.Hour}, nil); err != nil {
			t.Fatal(err)
		}
		if err := h.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		return weak.Make(h)
	}()
	for range 100 {
		if runtime.GC(); closed.Value() == nil {
			return
		}
		runtime.Gosched()
	}
	t.Error("something still holds a hub that was closed")
}
