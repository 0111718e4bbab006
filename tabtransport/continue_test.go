package tabtransport_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
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

// resumes asks for a call, and returns the answer.
func (w *wire) resumes(id string) string {
	w.said = ""
	w.Message(0, json.RawMessage("1"), &spec.ResumeCall{RequestID: id})
	synctest.Wait()
	return w.said
}

// A call goes on in the next document of its tab, which asks for it: no document is sent it twice.
func TestCallContinues(t *testing.T) {
	const (
		granted = `{"toolName":"pay","args":{"n":1}}`
		over    = "nobody waits for this call any more (-32001)"
		taken   = "another document has resumed this call (-32001)"
		notLeft = "the document that has this call has not left it to another, or too long ago (-32001)"
	)
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
	resumes := func(t *testing.T, w *wire, l *left, want string) {
		t.Helper()
		if got := w.resumes(l.call.ID); got != want {
			t.Errorf("it was answered %s, want %s", got, want)
		}
	}
	progress := func(w *wire, l *left) bool {
		defer synctest.Wait()
		return w.Progress(0, spec.Progress{RequestID: l.call.ID})
	}
	told := func(t *testing.T, w *wire, want ...string) {
		t.Helper()
		if !slices.Equal(w.did, want) {
			t.Errorf("the document got %q, want %q", w.did, want)
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
			resumes(t, next, l, granted)
			// It has its time anew, and a connection that is lost does no harm.
			time.Sleep(29 * time.Second)
			next.Leave(lost)
			next = document(t, l.Peers, "k", "2")
			next.answer(l.call, `"done"`)
			ends(t, l, got{`"done"`, nil})
			told(t, next)
			resumes(t, next, l, over)
		},
		"which alone has it then": func(t *testing.T, l *left) {
			next := document(t, l.Peers, "k", "2")
			resumes(t, next, l, granted)
			resumes(t, next, l, taken)
			if progress(l.first, l) || l.first.answer(l.call, `"late"`) {
				t.Error("what the first document said late was taken")
			}
			resumes(t, l.first, l, over)
			l.first.Leave(lost)
			next.answer(l.call, `"done"`)
			ends(t, l, got{`"done"`, nil})
		},
		"also when the first one said more of it": func(t *testing.T, l *left) {
			time.Sleep(time.Second)
			progress(l.first, l)
			next := document(t, l.Peers, "k", "2")
			progress(l.first, l) // which was under way
			l.first.Leave(lost)
			time.Sleep(58 * time.Second)
			resumes(t, next, l, granted)
			next.answer(l.call, `"done"`)
			ends(t, l, got{`"done"`, nil})
		},
		"unless the first one's answer was under way": func(t *testing.T, l *left) {
			next := document(t, l.Peers, "k", "2")
			l.first.answer(l.call, `"done"`)
			ends(t, l, got{`"done"`, nil})
			resumes(t, next, l, over)
		},
		"also after a lost connection of the first": func(t *testing.T, l *left) {
			l.first.Leave(lost)
			told(t, document(t, l.Peers, "k", "1"), "sent again")
			next := document(t, l.Peers, "k", "2")
			resumes(t, next, l, granted)
			next.answer(l.call, `"done"`)
			ends(t, l, got{`"done"`, nil})
			told(t, next)
		},
		"also when the tab was given up meanwhile": func(t *testing.T, l *left) {
			l.first.Leave(lost)
			l.Disconnect(spec.TabAddr{Peer: "k"}, 0, "its grace is over")
			next := document(t, l.Peers, "k", "2")
			resumes(t, next, l, granted)
			next.answer(l.call, `"done"`)
			ends(t, l, got{`"done"`, nil})
			told(t, next)
		},
		"also when that is the same one": func(t *testing.T, l *left) {
			resumes(t, l.first, l, granted)
			resumes(t, l.first, l, taken)
			l.first.answer(l.call, `"done"`)
			ends(t, l, got{`"done"`, nil})
		},
		"which may have been away": func(t *testing.T, l *left) {
			l.first.Leave(lost)
			l.Disconnect(spec.TabAddr{Peer: "k"}, 0, "its grace is over")
			first := document(t, l.Peers, "k", "1")
			told(t, first)
			first.answer(l.call, `"done"`)
			ends(t, l, got{`"done"`, nil})
		},
		"and in the one after that, if that one says so": func(t *testing.T, l *left) {
			second := document(t, l.Peers, "k", "2")
			resumes(t, second, l, granted)
			time.Sleep(20 * time.Second)
			second.continues(l.call.ID)
			time.Sleep(59 * time.Second)
			third := document(t, l.Peers, "k", "3")
			resumes(t, third, l, granted)
			if second.answer(l.call, `"late"`) {
				t.Error("what the second document said late was taken")
			}
			third.answer(l.call, `"done"`)
			ends(t, l, got{`"done"`, nil})
		},
		"but is lost if that one does not": func(t *testing.T, l *left) {
			resumes(t, document(t, l.Peers, "k", "2"), l, granted)
			third := document(t, l.Peers, "k", "3")
			ends(t, l, got{"", tabtransport.ErrLost})
			resumes(t, third, l, over)
		},
		"and does not by what that one says of it otherwise": func(t *testing.T, l *left) {
			start := time.Now()
			time.Sleep(30 * time.Second)
			next := document(t, l.Peers, "k", "2")
			next.continues(l.call.ID)
			if progress(next, l) || next.answer(l.call, `"unasked"`) {
				t.Error("a document that has not resumed the call spoke for it")
			}
			ends(t, l, got{"", tabtransport.ErrNotContinued})
			if took := time.Since(start); took != spec.ContinueWait {
				t.Errorf("it took %v", took)
			}
			resumes(t, next, l, over)
		},
		"but has no more than its time if the document stays": func(t *testing.T, l *left) {
			start := time.Now()
			ends(t, l, got{"", tabtransport.ErrTimeout})
			if took := time.Since(start); took != spec.ContinueWait {
				t.Errorf("it took %v", took)
			}
		},
		"within its time alone": func(t *testing.T, l *left) {
			time.Sleep(59 * time.Second)
			progress(l.first, l)
			time.Sleep(2 * time.Second)
			resumes(t, l.first, l, notLeft)
			document(t, l.Peers, "k", "2")
			ends(t, l, got{"", tabtransport.ErrLost})
		},
		"in no other tab": func(t *testing.T, l *left) {
			l.first.Leave(lost)
			l.Disconnect(spec.TabAddr{Peer: "k"}, 0, "its grace is over")
			other := document(t, l.Peers, "other", "2")
			resumes(t, other, l, over)
			if other.answer(l.call, `"forged"`) {
				t.Error("another tab has answered")
			}
			ends(t, l, got{"", tabtransport.ErrNotContinued})
		},
		"and is cancelled there": func(t *testing.T, l *left) {
			next := document(t, l.Peers, "k", "2")
			resumes(t, next, l, granted)
			l.stop()
			ends(t, l, got{"", context.Canceled})
			told(t, next, "cancelled")
		},
		"also if it was cancelled while that was told": func(t *testing.T, l *left) {
			next := document(t, l.Peers, "k", "2")
			next.responding = func() {
				l.stop()
				ends(t, l, got{"", context.Canceled})
				told(t, next) // a cancellation of what it does not know yet would be lost
			}
			resumes(t, next, l, granted)
			told(t, next, "cancelled")
		},
		"unless it was cancelled before that was there": func(t *testing.T, l *left) {
			l.first.Leave(lost)
			l.stop()
			ends(t, l, got{"", context.Canceled})
			next := document(t, l.Peers, "k", "2")
			resumes(t, next, l, over)
			told(t, next)
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
					resp, err := l.SendRequest(ctx, spec.TabAddr{Peer: "k"}, &spec.ExecuteTool{ToolName: "pay", Args: json.RawMessage(`{"n":1}`)}, wait)
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

// Without a session two documents of a tab look like one: the later one has the call all the same once
// it has asked for it, over each connection from then on, and is not sent it.
func TestCallContinuesWithoutSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := tabtransport.NewPeers()
		p.Handle(&recorder{})
		first := document(t, p, "k", "")
		done := make(chan got, 1)
		go func() {
			resp, err := p.SendRequest(t.Context(), spec.TabAddr{Peer: "k"}, &spec.ExecuteTool{ToolName: "pay"}, tabtransport.Wait{})
			done <- got{string(resp.Result), err}
		}()
		synctest.Wait()
		call := first.sent[0]
		first.continues(call.ID)
		second := document(t, p, "k", "")
		if got := second.resumes(call.ID); got != `{"toolName":"pay","args":{}}` {
			t.Errorf("it was answered %s", got)
		}
		third := document(t, p, "k", "")
		if first.answer(call, `"late"`) {
			t.Error("what the first document said late was taken")
		}
		if got := third.resumes(call.ID); !strings.Contains(got, "another document") || len(third.did) > 0 {
			t.Errorf("it was answered %s, and got %q", got, third.did)
		}
		third.answer(call, `"done"`)
		if g := <-done; g != (got{`"done"`, nil}) {
			t.Error(g)
		}
	})
}

// What cannot be resumed is lost at once.
func TestOnlyCallsOfToolsContinue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := tabtransport.NewPeers()
		p.Handle(&recorder{})
		first := document(t, p, "k", "1")
		done := make(chan error, 1)
		go func() {
			_, err := p.SendRequest(t.Context(), spec.TabAddr{Peer: "k"}, &spec.ReadResource{URI: "a://b"}, tabtransport.Wait{})
			done <- err
		}()
		synctest.Wait()
		first.continues(first.sent[0].ID)
		document(t, p, "k", "2")
		if err := <-done; err != tabtransport.ErrLost {
			t.Error(err)
		}
	})
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
