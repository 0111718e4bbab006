package tabtransport_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// wire is a link whose peer is the test.
type wire struct {
	tabtransport.Attachment
	sent   []tabtransport.Outgoing
	resent []time.Duration
	did    []string      // "sent again", "cancelled"
	said   string        // what the latest message was answered with
	hold   chan struct{} // Send and Cancel wait for it, if not nil

	// Called, if not nil, at the beginning of Resend, Respond and Close.
	resending, responding, closing func()
}

func (w *wire) Send(p tabtransport.Outgoing) error {
	if w.hold != nil {
		<-w.hold
	}
	if !p.Sending() {
		return tabtransport.ErrNotConnected
	}
	w.sent = append(w.sent, p)
	return nil
}

func (w *wire) Resend(p tabtransport.Outgoing, ago time.Duration) {
	if w.resending != nil {
		w.resending()
	}
	w.sent, w.resent, w.did = append(w.sent, p), append(w.resent, ago), append(w.did, "sent again")
}

func (w *wire) Cancel(int64, string, string) {
	w.did = append(w.did, "cancelled")
	if w.hold != nil {
		<-w.hold
	}
}

func (w *wire) Close(spec.CloseCode, string) {
	if w.closing != nil {
		w.closing()
	}
}

func (w *wire) Respond(_ int64, _ json.RawMessage, result any, err *spec.Error) {
	if w.responding != nil {
		w.responding()
	}
	if err != nil {
		w.said = err.Error()
		return
	}
	raw, _ := json.Marshal(result)
	w.said = string(raw)
}

func (w *wire) answer(p tabtransport.Outgoing, result string) (ok bool) {
	return w.Answer(p.Tab, p.ID, func(spec.Request) (spec.Response, error) {
		return spec.Response{Result: json.RawMessage(result)}, nil
	})
}

// attach connects the browser "b" to p.
func attach(t *testing.T, p *tabtransport.Peers, session string, caps ...spec.Capability) *wire {
	t.Helper()
	return (&wire{}).attach(t, p, session, caps...)
}

func (w *wire) attach(t *testing.T, p *tabtransport.Peers, session string, caps ...spec.Capability) *wire {
	t.Helper()
	conn := hello("b", session)
	conn.Hello.Capabilities = caps
	return w.connect(t, p, conn)
}

func (w *wire) connect(t *testing.T, p *tabtransport.Peers, conn tabtransport.Conn) *wire {
	t.Helper()
	a, err := p.Attach(t.Context(), conn, func(tabtransport.Accepted) tabtransport.Link { return w })
	if err != nil {
		t.Fatal(err)
	}
	w.Attachment = a
	return w
}

type got struct {
	result string
	err    error
}

func ask(t *testing.T, p *tabtransport.Peers, req spec.Request) <-chan got {
	return askUntil(t.Context(), p, req)
}

func askUntil(ctx context.Context, p *tabtransport.Peers, req spec.Request) <-chan got {
	done := make(chan got, 1)
	go func() {
		resp, err := p.SendRequest(ctx, spec.TabAddr{Peer: "b", Tab: 3}, req, tabtransport.Wait{Timeout: time.Hour})
		done <- got{string(resp.Result), err}
	}()
	synctest.Wait()
	return done
}

func TestResume(t *testing.T) {
	call := &spec.ExecuteTool{ToolName: "pay"}
	resume := []spec.Capability{spec.CapOpenTab, spec.CapResume}
	lost := errors.New("lost")
	tests := map[string]func(t *testing.T, p *tabtransport.Peers){
		"a call is sent again, and only the new answer counts": func(t *testing.T, p *tabtransport.Peers) {
			first := attach(t, p, "1", resume...)
			done := ask(t, p, call)
			first.Leave(lost)
			time.Sleep(2 * time.Second)
			second := attach(t, p, "1", resume...)
			if !slices.Equal(second.resent, []time.Duration{2 * time.Second}) || second.sent[0].ID != first.sent[0].ID {
				t.Fatalf("sent again: %v", second.resent)
			}
			if first.answer(first.sent[0], `"old"`) {
				t.Error("an answer that came over the lost connection was taken")
			}
			second.answer(second.sent[0], `"new"`)
			if g := <-done; g != (got{`"new"`, nil}) {
				t.Errorf("%v", g)
			}
		},
		"also when the connection is replaced, and once": func(t *testing.T, p *tabtransport.Peers) {
			first := attach(t, p, "1", resume...)
			done := ask(t, p, call)
			second := attach(t, p, "1", resume...)
			first.Leave(lost)
			if len(second.resent) != 1 {
				t.Fatalf("sent again: %v", second.resent)
			}
			third := attach(t, p, "1", resume...)
			third.answer(third.sent[0], `"new"`)
			if g := <-done; g.err != nil {
				t.Error(g.err)
			}
		},
		// The page is still running it, and nothing else could stop it.
		"a call that was given up while the browser was away is cancelled when it is back": func(t *testing.T, p *tabtransport.Peers) {
			for session, want := range map[string][]string{"1": {"cancelled"}, "a browser that was restarted knows of none": nil} {
				first := attach(t, p, "1", resume...)
				ctx, cancel := context.WithCancel(t.Context())
				done := askUntil(ctx, p, call)
				first.Leave(lost)
				cancel()
				<-done
				if back := attach(t, p, session, resume...); !slices.Equal(back.did, want) {
					t.Errorf("session %q: got %q, want %q", session, back.did, want)
				}
			}
		},
		// It has not left the first connection, so it is not sent again but anew.
		"what could not leave a connection that was replaced is sent over the new one": func(t *testing.T, p *tabtransport.Peers) {
			first := attach(t, p, "1", resume...)
			first.hold = make(chan struct{})
			done := ask(t, p, call)
			second := attach(t, p, "1", resume...)
			close(first.hold)
			synctest.Wait()
			if len(first.sent) != 0 || len(second.sent) != 1 || len(second.resent) != 0 {
				t.Fatalf("sent %v over the first, %v over the second, %v again", first.sent, second.sent, second.resent)
			}
			second.answer(second.sent[0], `"new"`)
			if g := <-done; g.err != nil {
				t.Error(g.err)
			}
		},
		"an answer that was quicker counts": func(t *testing.T, p *tabtransport.Peers) {
			first := attach(t, p, "1", resume...)
			done := ask(t, p, call)
			first.answer(first.sent[0], `"old"`)
			if second := attach(t, p, "1", resume...); len(second.sent) != 0 {
				t.Errorf("sent again: %v", second.sent)
			}
			if g := <-done; g.result != `"old"` {
				t.Errorf("%v", g)
			}
		},
		// A page would run a call that it gets again after the cancellation.
		"no call that was given up": func(t *testing.T, p *tabtransport.Peers) {
			first := attach(t, p, "1", resume...)
			ctx, giveUp := context.WithCancel(t.Context())
			done := askUntil(ctx, p, call)
			first.closing = func() {
				giveUp()
				synctest.Wait()
			}
			second := &wire{hold: make(chan struct{})}
			second.attach(t, p, "1", resume...)
			close(second.hold)
			if g := <-done; !errors.Is(g.err, context.Canceled) || !slices.Equal(second.did, []string{"cancelled"}) {
				t.Errorf("%v: %q", g.err, second.did)
			}
		},
		"a call that is given up meanwhile is cancelled after it": func(t *testing.T, p *tabtransport.Peers) {
			attach(t, p, "1", resume...)
			ctx, giveUp := context.WithCancel(t.Context())
			done := askUntil(ctx, p, call)
			second := &wire{resending: func() {
				giveUp()
				for range 1000 {
					runtime.Gosched()
				}
			}}
			second.attach(t, p, "1", resume...)
			if g := <-done; !errors.Is(g.err, context.Canceled) || !slices.Equal(second.did, []string{"sent again", "cancelled"}) {
				t.Errorf("%v: %q", g.err, second.did)
			}
		},
		"over the latest connection, if there are two at once": func(t *testing.T, p *tabtransport.Peers) {
			first := attach(t, p, "1", resume...)
			done := ask(t, p, call)
			var third *wire
			first.closing = func() { third = attach(t, p, "1", resume...) }
			if second := attach(t, p, "1", resume...); len(second.sent) != 0 || len(third.resent) != 1 {
				t.Fatalf("sent again %d times over the second, %d over the third", len(second.sent), len(third.resent))
			}
			third.answer(third.sent[0], `"new"`)
			if g := <-done; g.err != nil {
				t.Error(g.err)
			}
		},
		"not to a peer that has forgotten": func(t *testing.T, p *tabtransport.Peers) {
			attach(t, p, "1", resume...)
			done := ask(t, p, call)
			if second := attach(t, p, "2", resume...); len(second.sent) != 0 {
				t.Errorf("sent again: %v", second.sent)
			}
			if g := <-done; !errors.Is(g.err, tabtransport.ErrLost) {
				t.Errorf("%v", g)
			}
		},
		"not to a peer that cannot tell, whose late answer counts": func(t *testing.T, p *tabtransport.Peers) {
			first := attach(t, p, "1")
			done := ask(t, p, call)
			if second := attach(t, p, "1"); len(second.sent) != 0 {
				t.Errorf("sent again: %v", second.sent)
			}
			first.answer(first.sent[0], `"old"`)
			if g := <-done; g.result != `"old"` {
				t.Errorf("%v", g)
			}
		},
		// What the tab does not know it must not begin: it is asked for no tool.
		"a call of another process is asked for by its id alone": func(t *testing.T, p *tabtransport.Peers) {
			var by tabtransport.Sent
			other := tabtransport.NewPeers()
			other.Handle(&recorder{})
			attach(t, other, "1", resume...)
			ctx, leave := context.WithCancelCause(t.Context())
			wait := tabtransport.Wait{Timeout: time.Hour, Sending: func(s tabtransport.Sent) error { by = s; return nil }}
			left := make(chan error, 1)
			go func() {
				_, err := other.SendRequest(ctx, spec.TabAddr{Peer: "b", Tab: 3}, call, wait)
				left <- err
			}()
			synctest.Wait()
			leave(tabtransport.ErrLeft)
			if err := <-left; !errors.Is(err, tabtransport.ErrLeft) {
				t.Errorf("left with %v", err)
			}
			time.Sleep(3 * time.Second)
			answer := p.Resume(spec.TabAddr{Peer: "b", Tab: 3}, by, tabtransport.Wait{Timeout: time.Hour})
			back := attach(t, p, "1", resume...)
			asked, ok := back.sent[0].Request.(*spec.ExecuteTool)
			if !ok || asked.ToolName != "" || back.sent[0].ID != by.ID || !slices.Equal(back.resent, []time.Duration{3 * time.Second}) {
				t.Fatalf("asked %+v after %v", back.sent, back.resent)
			}
			back.answer(back.sent[0], `"held"`)
			if resp, err := answer(t.Context()); string(resp.Result) != `"held"` {
				t.Errorf("%s, %v", resp.Result, err)
			}
		},
		"a call that is left is not cancelled, whether its browser is there or away": func(t *testing.T, p *tabtransport.Peers) {
			for _, away := range []bool{false, true} {
				first := attach(t, p, "1", resume...)
				ctx, leave := context.WithCancelCause(t.Context())
				done := askUntil(ctx, p, call)
				if away {
					first.Leave(lost)
				}
				leave(tabtransport.ErrLeft)
				<-done
				if back := attach(t, p, "1", resume...); first.did != nil || back.did != nil {
					t.Errorf("away %v: got %q, then %q", away, first.did, back.did)
				}
			}
		},
		"no request to the browser itself": func(t *testing.T, p *tabtransport.Peers) {
			first := attach(t, p, "1", resume...)
			done := ask(t, p, &spec.OpenTab{URL: "https://x.example"})
			second := attach(t, p, "1", resume...)
			if len(second.sent) != 0 {
				t.Errorf("sent again: %v", second.sent)
			}
			second.answer(first.sent[0], `{}`)
			if g := <-done; g.err != nil {
				t.Error(g.err)
			}
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := tabtransport.NewPeers()
				p.Handle(&recorder{})
				test(t, p)
			})
		})
	}
}

// lossyBrowser is a browser that loses messages, except over a connection that stays. It
// answers a request over the connection of the request.
type lossyBrowser struct {
	peers     *tabtransport.Peers
	lossyLink *lossyLink // its connection now

	mu  sync.Mutex
	got int // calls, again or not

	answers sync.WaitGroup // that are on their way
}

// lossyLink is one connection of a lossyBrowser.
type lossyLink struct {
	*lossyBrowser
	stays      bool
	attached   chan struct{} // closed once attachment is set
	attachment tabtransport.Attachment
	writer     sync.WaitGroup
	lost       bool // guarded by mu
}

// Send writes at once, or leaves it to a writer. Either may be about to when the
// connection is replaced.
func (l *lossyLink) Send(p tabtransport.Outgoing) error {
	write := func() {
		time.Sleep(rand.N(5 * time.Millisecond))
		if p.Sending() {
			l.receive(p)
		}
	}
	l.mu.Lock()
	lost, leave := l.lost, rand.N(2) == 0
	if !lost && leave {
		l.writer.Go(write)
	}
	l.mu.Unlock()
	if lost {
		return tabtransport.ErrNotConnected
	}
	if !leave {
		write()
	}
	return nil
}

func (l *lossyLink) Resend(p tabtransport.Outgoing, _ time.Duration)  { l.receive(p) }
func (l *lossyLink) Cancel(int64, string, string)                     {}
func (l *lossyLink) Respond(int64, json.RawMessage, any, *spec.Error) {}

func (l *lossyLink) Close(spec.CloseCode, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = true
}

func (l *lossyLink) receive(p tabtransport.Outgoing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost || !l.stays && rand.N(2) == 0 {
		return
	}
	l.got++
	l.answers.Go(func() {
		time.Sleep(rand.N(5 * time.Millisecond))
		<-l.attached
		l.attachment.Answer(p.Tab, p.ID, func(spec.Request) (spec.Response, error) { return spec.Response{}, nil })
	})
}

// attach connects it anew, after its connection is lost or, as the hub sees it, before.
func (f *lossyBrowser) attach(t *testing.T, stays bool) {
	old, l := f.lossyLink, &lossyLink{lossyBrowser: f, stays: stays, attached: make(chan struct{})}
	leave := func() {
		if old != nil {
			time.Sleep(rand.N(5 * time.Millisecond))
			old.Close(0, "")
			old.writer.Wait()
			old.attachment.Leave(nil)
		}
	}
	if rand.N(2) == 0 {
		leave()
		time.Sleep(rand.N(3 * time.Millisecond))
	} else {
		defer leave()
	}
	conn := hello("b", "1")
	conn.Hello.Capabilities = []spec.Capability{spec.CapResume}
	a, err := f.peers.Attach(t.Context(), conn, func(tabtransport.Accepted) tabtransport.Link { return l })
	if err != nil {
		t.Error(err)
		return
	}
	l.attachment, f.lossyLink = a, l
	close(l.attached)
}

// However a browser loses its connections, and whatever with them: each call that was
// sent is answered once a connection stays.
func TestResumeOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &lossyBrowser{peers: tabtransport.NewPeers()}
		f.peers.Handle(&recorder{})
		f.attach(t, true)
		for range 300 {
			var calls sync.WaitGroup
			for range 10 {
				calls.Go(func() {
					time.Sleep(rand.N(20 * time.Millisecond))
					_, err := f.peers.SendRequest(t.Context(), spec.TabAddr{Peer: "b", Tab: 3}, &spec.ExecuteTool{}, tabtransport.Wait{Timeout: time.Hour})
					if err != nil && !errors.Is(err, tabtransport.ErrNotConnected) {
						t.Error(err)
					}
				})
			}
			for range 3 {
				f.attach(t, false)
			}
			f.attach(t, true)
			calls.Wait()
		}
		f.answers.Wait() // some calls are answered twice
		if f.got == 0 || f.peers.InFlight() != 0 {
			t.Errorf("%d calls have come, %d are left", f.got, f.peers.InFlight())
		}
	})
}
