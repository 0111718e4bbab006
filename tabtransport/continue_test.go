package tabtransport_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// document connects a document of the tab "key", which resumes lost connections.
func document(t *testing.T, p *tabtransport.Peers, key, session string) *wire {
	t.Helper()
	return (&wire{}).connect(t, p, tabtransport.Conn{Dialect: "memory", Hello: &spec.Hello{
		ProtocolVersion: spec.ProtocolVersion, TabKey: key, Session: session, Capabilities: []spec.Capability{spec.CapResume},
	}})
}

func (w *wire) continues(id string) {
	w.Progress(0, spec.Progress{RequestID: id, Continues: true})
	synctest.Wait()
}

// A call goes on in the next document of its tab, which is never sent it.
func TestCallContinues(t *testing.T) {
	lost := errors.New("lost")
	wait := tabtransport.Wait{Timeout: 30 * time.Second, Max: 10 * time.Minute}
	// left is a call of the tab that the document first has left to the next one.
	type left struct {
		*tabtransport.Peers
		first *wire
		call  tabtransport.Outgoing
		done  chan got
		stop  context.CancelFunc
	}
	takesUp := func(w *wire, l *left) {
		w.Progress(0, spec.Progress{RequestID: l.call.ID})
		synctest.Wait()
	}
	told := func(t *testing.T, w *wire, want ...string) {
		t.Helper()
		if !slices.Equal(w.did, want) {
			t.Errorf("the document was told %q, want %q", w.did, want)
		}
	}
	ends := func(t *testing.T, l *left, want got) {
		t.Helper()
		if g := <-l.done; g.result != want.result || !errors.Is(g.err, want.err) {
			t.Errorf("ended with %v, want %v", g, want)
		}
	}
	for name, test := range map[string]func(t *testing.T, l *left){
		"and is answered there": func(t *testing.T, l *left) {
			l.first.Leave(lost)
			time.Sleep(59 * time.Second)
			next := document(t, l.Peers, "k", "2")
			takesUp(next, l)
			// It has its time anew, and a connection that is lost does no harm.
			time.Sleep(29 * time.Second)
			next.Leave(lost)
			next = document(t, l.Peers, "k", "2")
			next.answer(l.call, `"done"`)
			ends(t, l, got{`"done"`, nil})
			told(t, next)
		},
		"also when the next one is there before it is known that the first has gone": func(t *testing.T, l *left) {
			document(t, l.Peers, "k", "2")
			l.first.Progress(0, spec.Progress{RequestID: l.call.ID}) // which was under way
			l.first.Leave(lost)
			next := document(t, l.Peers, "k", "3")
			next.answer(l.call, `"done"`)
			ends(t, l, got{`"done"`, nil})
			told(t, next)
		},
		"also after a lost connection of the first": func(t *testing.T, l *left) {
			l.first.Leave(lost)
			told(t, document(t, l.Peers, "k", "1"), "sent again")
			next := document(t, l.Peers, "k", "2")
			takesUp(next, l)
			next.answer(l.call, `"done"`)
			ends(t, l, got{`"done"`, nil})
			told(t, next)
		},
		"also when the tab was given up meanwhile": func(t *testing.T, l *left) {
			l.first.Leave(lost)
			l.Disconnect(spec.TabAddr{Peer: "k"}, 0, "its grace is over")
			next := document(t, l.Peers, "k", "2")
			takesUp(next, l)
			next.answer(l.call, `"done"`)
			ends(t, l, got{`"done"`, nil})
			told(t, next)
		},
		"and in the one after that, if that one says so": func(t *testing.T, l *left) {
			second := document(t, l.Peers, "k", "2")
			takesUp(second, l)
			time.Sleep(20 * time.Second)
			second.continues(l.call.ID)
			time.Sleep(59 * time.Second)
			third := document(t, l.Peers, "k", "3")
			takesUp(third, l)
			third.answer(l.call, `"done"`)
			ends(t, l, got{`"done"`, nil})
		},
		"but is lost if that one does not": func(t *testing.T, l *left) {
			takesUp(document(t, l.Peers, "k", "2"), l)
			document(t, l.Peers, "k", "3")
			ends(t, l, got{"", tabtransport.ErrLost})
		},
		"or if the first one goes on with it": func(t *testing.T, l *left) {
			takesUp(l.first, l)
			document(t, l.Peers, "k", "2")
			ends(t, l, got{"", tabtransport.ErrLost})
		},
		"but not without end": func(t *testing.T, l *left) {
			start := time.Now()
			time.Sleep(30 * time.Second)
			next := document(t, l.Peers, "k", "2")
			ends(t, l, got{"", tabtransport.ErrNotContinued})
			if took := time.Since(start); took != spec.ContinueWait {
				t.Errorf("it took %v", took)
			}
			takesUp(next, l)
			if !slices.Contains(next.did, "cancelled") {
				t.Error("a document that came too late was not told")
			}
		},
		"but has no more than its time if the document stays": func(t *testing.T, l *left) {
			start := time.Now()
			ends(t, l, got{"", tabtransport.ErrTimeout})
			if took := time.Since(start); took != spec.ContinueWait {
				t.Errorf("it took %v", took)
			}
		},
		"in no other tab": func(t *testing.T, l *left) {
			l.first.Leave(lost)
			l.Disconnect(spec.TabAddr{Peer: "k"}, 0, "its grace is over")
			other := document(t, l.Peers, "other", "2")
			takesUp(other, l)
			if other.answer(l.call, `"forged"`) {
				t.Error("another tab has answered")
			}
			ends(t, l, got{"", tabtransport.ErrNotContinued})
		},
		"and is cancelled there": func(t *testing.T, l *left) {
			next := document(t, l.Peers, "k", "2")
			takesUp(next, l)
			l.stop()
			ends(t, l, got{"", context.Canceled})
			told(t, next, "cancelled")
		},
		"also if it was cancelled before that was there": func(t *testing.T, l *left) {
			l.first.Leave(lost)
			l.stop()
			ends(t, l, got{"", context.Canceled})
			told(t, document(t, l.Peers, "k", "2"), "cancelled")
		},
		"even if the tab was given up then": func(t *testing.T, l *left) {
			l.first.Leave(lost)
			l.Disconnect(spec.TabAddr{Peer: "k"}, 0, "its grace is over")
			l.stop()
			ends(t, l, got{"", context.Canceled})
			next := document(t, l.Peers, "k", "2")
			takesUp(next, l)
			told(t, next, "cancelled")
		},
		"but not if its tab is refused": func(t *testing.T, l *left) {
			l.Disconnect(spec.TabAddr{Peer: "k"}, spec.CloseRefused, "no")
			ends(t, l, got{"", tabtransport.ErrLost})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &left{Peers: tabtransport.NewPeers(), done: make(chan got, 1)}
				l.Handle(&recorder{})
				l.first = document(t, l.Peers, "k", "1")
				var ctx context.Context
				ctx, l.stop = context.WithCancel(t.Context())
				go func() {
					resp, err := l.SendRequest(ctx, spec.TabAddr{Peer: "k"}, &spec.ExecuteTool{ToolName: "pay"}, wait)
					l.done <- got{string(resp.Result), err}
				}()
				synctest.Wait()
				l.call = l.first.sent[0]
				l.first.continues(l.call.ID)
				test(t, l)
				if n := l.InFlight(); n != 0 {
					t.Errorf("%d calls are left", n)
				}
			})
		})
	}
}

// A browser's session outlives the documents of its tabs: another one is another browser.
func TestBrowserDoesNotContinue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := tabtransport.NewPeers()
		p.Handle(&recorder{})
		first := attach(t, p, "1", spec.CapResume)
		done := make(chan error, 1)
		go func() {
			wait := tabtransport.Wait{Timeout: 30 * time.Second, Max: time.Hour}
			_, err := p.SendRequest(t.Context(), spec.TabAddr{Peer: "b", Tab: 3}, &spec.ExecuteTool{ToolName: "pay"}, wait)
			done <- err
		}()
		synctest.Wait()
		first.Progress(3, spec.Progress{RequestID: first.sent[0].ID, Continues: true})
		attach(t, p, "2", spec.CapResume)
		if err := <-done; err != tabtransport.ErrLost {
			t.Error(err)
		}
	})
}
