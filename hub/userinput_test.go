package hub

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/call"
	"tabhub/hub/call/group"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest"
)

// desk is a browser that looks for the owner's hand and keeps rooms, with a tab that an agent holds.
func (w *fixture) desk() tabtest.End {
	w.t.Helper()
	conn := chromeConn("b1", "s1", "")
	conn.Pairing = "p1"
	conn.Hello.Capabilities = append(conn.Hello.Capabilities, spec.CapHold, spec.CapRoom, spec.CapNavigate, spec.CapText)
	b := w.dial(conn)
	w.register(b, 7, tools("https://shop.example/", "buy", `look:"annotations":{"readOnlyHint":true}`))
	return b
}

var held = spec.TabAddr{Peer: "browser:b1", Tab: 7}

// hand says whether the owner uses the tab by hand.
func hand(b tabtest.End, inUse bool) { b.Notify(held.Tab, &spec.TabState{InUse: &inUse}) }

// While the owner uses a tab that a client holds, its calls there wait, and the owner sees that;
// what only reads goes on.
func TestCallsWaitForTheOwnersHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		told := watchOwnerIn(t, w.hub, held.Peer)
		b := w.desk()
		said := make(chan string, 1) // what the client was told first
		claude := agentOf("Claude")
		claude.Progress = func(p spec.Progress) {
			select {
			case said <- p.Message:
			default:
			}
		}
		w.claim(claude, held, agents.Terms{TTL: agents.MinLease})
		if got := told().Held; len(got) != 1 || got[0].TabID != 7 || got[0].By != "Claude" || got[0].UntilMs < 9_000 || got[0].Waiting {
			t.Errorf("held are %+v", got)
		}
		hand(b, true)
		synctest.Wait()

		buy := w.callAs(claude, "shop_example__buy")
		look := w.callAs(claude, "shop_example__look")
		answer(b, b.Next(), "seen")
		look.want(t, "seen")
		if got := told().Held; len(got) != 1 || !got[0].Waiting {
			t.Errorf("while a call waits, held are %+v", got)
		}
		if running, _ := w.hub.Owner.Running(); len(running) != 1 || running[0].Phase != call.PhaseWaiting || !strings.Contains(running[0].Progress.Message, "the owner is using this tab") {
			t.Errorf("under way are %+v", running)
		}
		moved := make(chan error, 1)
		go func() {
			_, err := w.hub.Calls.Control(t.Context(), claude, held, &spec.Navigate{Reload: true})
			moved <- err
		}()
		time.Sleep(spec.CallTimeout - time.Second) // longer than the lease lasts without a call
		hand(b, false)
		done := map[string]bool{}
		for range 2 {
			r := b.Next()
			done[r.Method] = true
			if r.Method == spec.MethodExecuteTool {
				answer(b, r, "bought")
			} else {
				b.Answer(r, spec.Response{Result: []byte("{}")}, nil)
			}
		}
		buy.want(t, "bought")
		if err := <-moved; err != nil || !done[spec.MethodNavigate] {
			t.Errorf("%v, %v", err, done)
		}
		if got := <-said; !strings.Contains(got, "the owner is using this tab") {
			t.Errorf("the client was told %q", got)
		}

		hand(b, true)
		synctest.Wait()
		buy = w.callAs(claude, "shop_example__buy")
		began := time.Now()
		buy.want(t, "TAB_IN_USE")
		if took := time.Since(began); took != spec.CallTimeout {
			t.Errorf("it failed after %s", took)
		}
		// The owner takes the tab back while a call waits.
		buy = w.callAs(claude, "shop_example__buy")
		synctest.Wait()
		w.hub.Agents.EndLease(held, consent.ByWindow)
		answer(b, b.Next(), "bought")
		buy.want(t, "bought")
		if got := told().Held; len(got) != 0 {
			t.Errorf("held are %+v", got)
		}
	})
}

// A hub can be told not to wait, or not to mind.
func TestHandover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, handover := range []call.Handover{call.HandoverFail, call.HandoverIgnore} {
			w := newFixture(t, Options{Handover: handover})
			b := w.desk()
			claude := agentOf("Claude")
			w.claim(claude, held, agents.Terms{TTL: agents.DefaultLease})
			hand(b, true)
			synctest.Wait()
			buy := w.callAs(claude, "shop_example__buy")
			if handover == call.HandoverFail {
				buy.want(t, "TAB_IN_USE")
				continue
			}
			answer(b, b.Next(), "bought")
			buy.want(t, "bought")
		}
	})
}

// What a browser has said of the owner's hand ends with its connection: it says it again.
func TestOwnersHandIsSaidAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		b := w.desk()
		claude := agentOf("Claude")
		w.claim(claude, held, agents.Terms{TTL: agents.DefaultLease})
		hand(b, true)
		synctest.Wait()
		b.Cut()
		b = w.desk()
		buy := w.callAs(claude, "shop_example__buy")
		answer(b, b.Next(), "bought")
		buy.want(t, "bought")
	})
}

// What a client opens goes to its room, which ends with it.
func TestRoomOfAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, opts := range []Options{{}, {GroupEnd: group.Close}, {Group: group.None}} {
			w := newFixture(t, opts)
			b := w.desk()
			var last spec.Request
			w.sent = func(req spec.Request, _ tabtransport.Wait) { last = req }
			claude := agentOf("Claude")
			gone := w.hub.Owner.Connected(claude)
			open := func(by *consent.Caller) *spec.Room {
				go w.hub.Calls.Control(t.Context(), by, spec.TabAddr{Peer: held.Peer}, &spec.OpenTab{URL: "https://shop.example/"})
				r := b.Next()
				b.Answer(r, spec.Response{Result: []byte(`{"tabId":9}`)}, nil)
				synctest.Wait()
				return last.(*spec.OpenTab).Room
			}
			if room := open(tester); room != nil {
				t.Errorf("the owner's own tabs go to %+v", room)
			}
			room := open(claude)
			if opts.Group == group.None {
				if room != nil {
					t.Errorf("a tab goes to %+v", room)
				}
				continue
			}
			if room == nil || room.Title != "Claude" || room.ID == "" {
				t.Fatalf("a tab goes to %+v", room)
			}
			if other := open(agentOf("Codex")); other == nil || other.ID == room.ID {
				t.Errorf("another's tab goes to %+v", other)
			}
			gone(true)
			r := b.Next()
			if end, ok := last.(*spec.EndRoom); !ok || end.Room != room.ID || end.Close != (opts.GroupEnd == group.Close) {
				t.Errorf("at its end the browser is asked for %+v", last)
			}
			b.Answer(r, spec.Response{Result: []byte(`{"closed":1,"kept":0}`)}, nil)
		}
	})
}
