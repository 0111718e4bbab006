package outcome

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// client is a request of a test.
type client struct {
	args    string
	gone    bool
	stopped []bool
}

func (c *client) Key() Key       { return sha256.Sum256([]byte(c.args)) }
func (c *client) Gone() bool     { return c.gone }
func (c *client) Stop(gone bool) { c.stopped = append(c.stopped, gone) }

var agent = Session{"ann", "1"}

func ask(l *Ledger, of Session, by *client) (*Call, int, bool) {
	return l.Begin(Ask{Session: of, Tool: "pay", Began: time.Now(), By: by, Again: true})
}

// acting begins a call that has sent what must not be sent twice.
func acting(l *Ledger, by *client) *Call {
	c, _, _ := ask(l, agent, by)
	c.Sending(false)
	return c
}

var answer = json.RawMessage(`{"content":[]}`)

// TestAskedAgain is the table of situations in which the same is asked for again: a payment
// must be made once, whatever has happened to the connection, and twice if it is wanted twice.
func TestAskedAgain(t *testing.T) {
	type world struct {
		Ledger
		first *client
		call  *Call
	}
	for _, s := range []struct {
		name  string
		until func(w *world)
		again *client // nil: the same request anew
		of    Session
		want  bool
	}{
		{"under way, its client waits for it", func(w *world) {}, nil, agent, false},
		{"under way, its connection was lost", func(w *world) { w.call.Break(0) }, nil, agent, true},
		{"under way, its connection was found to be lost", func(w *world) { w.first.gone = true }, nil, agent, true},
		{"under way, of another session", func(w *world) { w.call.Break(0) }, nil, Session{"ann", "2"}, false},
		{"under way, of another client", func(w *world) { w.call.Break(0) }, nil, Session{"bob", "1"}, false},
		{"under way, other arguments", func(w *world) { w.call.Break(0) }, &client{args: "2"}, agent, false},
		{"being stopped", func(w *world) { w.call.Break(0); time.Sleep(DetachFor + 1) }, nil, agent, true},
		{"delivered", func(w *world) { w.call.End(answer, nil); w.call.Delivered(0) }, nil, agent, false},
		{"being written", func(w *world) { w.call.End(answer, nil) }, nil, agent, false},
		{"being written, its connection was found to be lost", func(w *world) { w.call.End(answer, nil); w.first.gone = true }, nil, agent, true},
		{"lost", func(w *world) { w.call.End(answer, nil); w.call.Lost(0, w.first) }, nil, agent, true},
		{"lost, other arguments", func(w *world) { w.call.End(answer, nil); w.call.Lost(0, w.first) }, &client{args: "2"}, agent, false},
		{"lost, of another session", func(w *world) { w.call.End(answer, nil); w.call.Lost(0, w.first) }, nil, Session{"ann", "2"}, false},
		{"lost, long ago", func(w *world) { w.call.End(answer, nil); w.call.Lost(0, w.first); time.Sleep(AskAgain) }, nil, agent, false},
		{"lost, and given to another request", func(w *world) {
			w.call.End(answer, nil)
			w.call.Lost(0, w.first)
			second := &client{args: "1"}
			_, turn, _ := ask(&w.Ledger, agent, second)
			w.call.Lost(0, w.first) // is of no account
			w.call.Delivered(turn)
		}, nil, agent, false},
		{"lost twice", func(w *world) {
			w.call.End(answer, nil)
			w.call.Lost(0, w.first)
			second := &client{args: "1"}
			_, turn, _ := ask(&w.Ledger, agent, second)
			w.call.Lost(turn, second)
		}, nil, agent, true},
		{"only reads, lost", func(w *world) {
			w.call.NotSent(false)
			w.call.Sending(true)
			w.call.End(answer, nil)
			w.call.Lost(0, w.first)
		}, nil, agent, false},
		{"has only read, and may go on to act", func(w *world) {
			w.call.NotSent(false)
			w.call.Sending(true)
			w.first.gone = true
		}, nil, agent, true},
		{"being sent when its connection was lost, and did not leave", func(w *world) {
			w.call.Break(0)
			w.call.NotSent(false)
			synctest.Wait()
		}, nil, agent, true},
		{"not sent, and waits", func(w *world) { w.call.NotSent(false); w.first.gone = true }, nil, agent, true},
		{"not sent, and stopped", func(w *world) { w.call.NotSent(false); w.call.Break(0); synctest.Wait() }, nil, agent, false},
		{"not sent, and has failed", func(w *world) { w.call.NotSent(false); w.call.End(answer, nil); w.call.Lost(0, w.first) }, nil, agent, false},
		{"sent by a part of it", func(w *world) {
			w.call.NotSent(false)
			w.call.Part().Sending(false)
			w.call.End(answer, nil)
			w.call.Lost(0, w.first)
		}, nil, agent, true},
		{"its session has an heir", func(w *world) {
			w.call.End(answer, nil)
			w.call.Lost(0, w.first)
			w.Leave(agent)
			w.Begin(Ask{Session: Session{"ann", "2"}, Heir: true, Tool: "look", Began: time.Now(), By: &client{}})
		}, nil, Session{"ann", "2"}, true},
		{"its session's heir is another client's", func(w *world) {
			w.call.End(answer, nil)
			w.call.Lost(0, w.first)
			w.Leave(agent)
			w.Begin(Ask{Session: Session{"bob", "2"}, Heir: true, Tool: "look", Began: time.Now(), By: &client{}})
		}, nil, Session{"bob", "2"}, false},
	} {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{first: &client{args: "1"}}
				defer w.Close()
				w.call = acting(&w.Ledger, w.first)
				s.until(w)
				by := s.again
				if by == nil {
					by = &client{args: "1"}
				}
				c, _, again := ask(&w.Ledger, s.of, by)
				if again != s.want || again != (c == w.call) {
					t.Errorf("asked again: %t", again)
				}
				w.check(t)
			})
		})
	}
}

// check compares what a Ledger counts with what it holds.
func (l *Ledger) check(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	ended, bytes := 0, 0
	for c := l.oldest; c != nil; c = c.newer {
		ended++
		bytes += c.size()
		if c.ended.IsZero() || c.session == nil {
			t.Errorf("%s is among those that have ended", c.id)
		}
	}
	if ended != l.ended || bytes != l.bytes {
		t.Errorf("%d calls and %d bytes are kept, not %d and %d", ended, bytes, l.ended, l.bytes)
	}
	for id, s := range l.sessions {
		var open, asked, broken, lost int
		for _, c := range s.calls {
			if c.ended.IsZero() {
				open++
			}
			if c.asker != nil {
				asked++
			}
			if c.broken != nil {
				broken++
			}
			if !c.lost.IsZero() {
				lost++
			}
		}
		if got, want := fmt.Sprint(s.open, s.asked, s.broken, s.lost, s.id), fmt.Sprint(open, asked, broken, lost, id); got != want {
			t.Errorf("a session counts %s; it has %s", got, want)
		}
	}
}

// A client learns of its calls, and of nobody else's.
func TestReport(t *testing.T) {
	l := new(Ledger)
	defer l.Close()
	var waits, runs, fails, unsent, stopped *Call
	waits, _, _ = ask(l, agent, &client{args: "1"})
	runs = acting(l, &client{args: "2"})
	fails = acting(l, &client{args: "3"})
	fails.Failed()
	fails.End(answer, nil)
	unsent, _, _ = ask(l, agent, &client{args: "4"})
	unsent.Failed()
	unsent.End(answer, nil)
	stopped = acting(l, &client{args: "5"})
	stopped.End(nil, nil)
	done := acting(l, &client{args: "6"})
	done.End(answer, nil)
	looks, _, _ := ask(l, agent, &client{args: "7"})
	looks.Hide()
	for c, want := range map[*Call]State{waits: UnderWay, runs: UnderWay, fails: MayHave, unsent: NotSent, stopped: MayHave, done: Ended} {
		r := l.Report(Session{"ann", "of another day"}, c.ID(), nil)
		if r.State != want || r.ID != c.ID() || r.Tool != "pay" {
			t.Errorf("%+v, want %s", r, want)
		}
		if r.Sent != nil && *r.Sent != (c == runs) {
			t.Errorf("%+v: sent", r)
		}
		if r := l.Report(Session{"bob", "1"}, c.ID(), nil); r.State != NotKnown || r.Tool != "" {
			t.Errorf("another client is told %+v", r)
		}
	}
	if r := l.Report(agent, "", looks); r.ID != done.ID() || string(r.Result) != string(answer) {
		t.Errorf("the latest is %+v", r)
	}
	if r := l.Report(Session{"ann", "2"}, "", nil); r.State != NotKnown {
		t.Errorf("another session's latest is %+v", r)
	}
	l.check(t)
}

// What a hub keeps for clients that do not come back must not fill its memory.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(Ledger)
		defer l.Close()
		large := json.RawMessage(strings.Repeat(" ", 4*MaxAnswer))
		held := acting(l, &client{args: "held"})
		for i := range 3 * MaxCalls {
			c := acting(l, &client{args: fmt.Sprint(i)})
			c.End(large, nil)
			if i%2 == 0 {
				c.Delivered(0)
			} else {
				c.Lost(0, &client{args: fmt.Sprint(i)})
			}
			l.check(t)
		}
		if l.bytes > MaxAnswers || l.ended != 3*MaxCalls/2 {
			t.Errorf("%d bytes of %d calls: those that were lost are", l.bytes, l.ended)
		}
		// The latest that was lost is given, as large as it is; an old one is not, but it does
		// not run again either.
		c, _, again := ask(l, agent, &client{args: fmt.Sprint(3*MaxCalls - 1)})
		if result, _ := c.Answer(); !again || len(result) != len(large) {
			t.Errorf("%t, %d bytes", again, len(result))
		}
		c, _, again = ask(l, agent, &client{args: fmt.Sprint(2*MaxCalls + 1)})
		if result, _ := c.Answer(); !again || result != nil {
			t.Errorf("%t, %d bytes", again, len(result))
		}
		// What another client does pushes out its own.
		const others = 3 * MaxAnswers / MaxAnswer
		for i := range others {
			c, _, _ := l.Begin(Ask{Session: Session{"eve", fmt.Sprint(i)}, By: &client{}})
			c.End(large, nil)
			c.Lost(0, &client{})
		}
		if left := l.shares["ann"].bytes; left < MaxAnswers/2-len(large) {
			t.Errorf("another client has left %d bytes", left)
		}
		for i := range MaxLost {
			c := acting(l, &client{args: fmt.Sprint("lost ", i)})
			c.End(answer, nil)
			c.Lost(0, &client{args: fmt.Sprint("lost ", i)})
		}
		if l.ended != MaxLost+others {
			t.Errorf("%d calls, none of them delivered", l.ended)
		}
		time.Sleep(AskAgain)
		c = acting(l, &client{})
		c.End(answer, nil)
		if c.Delivered(0); l.ended != MaxCalls+others {
			t.Errorf("%d calls that nobody asks for again", l.ended)
		}
		for i := range MaxEnded {
			c, _, _ := l.Begin(Ask{Session: Session{fmt.Sprint("bob", i%4), fmt.Sprint(i / 4 % MaxIdle)}, By: &client{}})
			c.End(answer, nil)
			c.Delivered(0)
		}
		l.check(t)
		l.mu.Lock()
		if l.ended != MaxEnded || l.sessions[agent] == nil || l.shares["ann"].ended != MaxCalls {
			t.Errorf("%d calls, %+v", l.ended, l.shares["ann"])
		}
		l.mu.Unlock()
		time.Sleep(Keep + Keep/10)
		synctest.Wait()
		l.check(t)
		l.mu.Lock()
		if l.ended != 0 || len(l.sessions) != 1 || held.session == nil {
			t.Errorf("%d calls of %d sessions are kept for ever", l.ended, len(l.sessions))
		}
		l.mu.Unlock()
		held.End(answer, nil)
	})
}

// Of a client whose credential was taken back nothing is kept, and of others all.
// A client that comes each time as another session leaves the calls of few: the latest, and those
// of which it may ask for the answer.
func TestManySessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(Ledger)
		defer l.Close()
		lost := acting(l, &client{})
		lost.End(answer, nil)
		lost.Lost(0, &client{})
		var last *Call
		for i := range 3 * MaxIdle {
			last, _, _ = l.Begin(Ask{Session: Session{agent.Client, fmt.Sprint("run ", i)}, Began: time.Now(), By: &client{}})
			last.End(answer, nil)
			last.Delivered(0)
			l.check(t)
			time.Sleep(time.Millisecond)
		}
		if n := len(l.sessions); n != MaxIdle+1 {
			t.Errorf("%d sessions are kept", n)
		}
		if r := l.Report(agent, last.ID(), nil); r.State != MayHave && r.State != Ended {
			t.Errorf("the latest call is %s", r.State)
		}
		if c, _, again := ask(l, agent, &client{}); !again || c != lost {
			t.Error("the lost answer is not given")
		}
	})
}

// Of a session that its client has ended nothing is kept, what ends later included.
func TestDrop(t *testing.T) {
	l := new(Ledger)
	defer l.Close()
	other, _, _ := l.Begin(Ask{Session: Session{"ann", "2"}, By: &client{}})
	other.End(answer, nil)
	ended, under := acting(l, &client{}), acting(l, &client{})
	ended.End(answer, nil)
	ended.Lost(0, &client{})
	l.Drop(agent)
	l.check(t)
	under.End(answer, nil)
	under.Delivered(0)
	l.check(t)
	if l.ended != 1 || len(l.sessions) != 1 {
		t.Errorf("%d calls of %d sessions are kept", l.ended, len(l.sessions))
	}
}

func TestForget(t *testing.T) {
	l := new(Ledger)
	defer l.Close()
	for _, of := range []string{"ann", "eve", "eve\x00work"} {
		for i := range 3 {
			c, _, _ := l.Begin(Ask{Session: Session{of, fmt.Sprint(i)}, By: &client{}})
			c.Sending(false)
			c.End(answer, nil)
			c.Lost(0, &client{})
			l.Leave(Session{of, fmt.Sprint(i)})
		}
	}
	under := acting(l, &client{})
	l.Forget(func(client string) bool { return client != "ann" })
	l.check(t)
	if l.ended != 3 || len(l.sessions) != 4-1 || len(l.left) != 3 || len(l.shares) != 1 {
		t.Errorf("%d calls of %d sessions are kept, %d have left", l.ended, len(l.sessions), len(l.left))
	}
	under.End(answer, nil)
}

// What was not sent when its client had gone is not sent any more, or the one that asks again
// has it done twice: the call is told to stop only after that.
func TestBrokenSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(Ledger)
		defer l.Close()
		c, _, _ := ask(l, agent, &client{args: "1"})
		c.Break(0)
		for _, twice := range []bool{false, true} {
			if c.Sending(twice) || c.Part().Sending(twice) {
				t.Errorf("sent (twice %t)", twice)
			}
		}
		if _, _, again := ask(l, agent, &client{args: "1"}); again {
			t.Error("who asks again waits for what is not done")
		}
		if r := l.Report(agent, c.ID(), nil); *r.Sent {
			t.Errorf("%+v", r)
		}
		c.End(nil, nil)
		l.check(t)
	})
}

// As many answers as a session may have under way can be lost with one connection.
func TestManyLost(t *testing.T) {
	l := new(Ledger)
	defer l.Close()
	var all []*Call
	by := make([]*client, 4*MaxCalls)
	for i := range by {
		by[i] = &client{args: fmt.Sprint(i)}
		all = append(all, acting(l, by[i]))
	}
	for i, c := range all {
		c.End(answer, nil)
		c.Lost(0, by[i])
	}
	for i := range by {
		if _, _, again := ask(l, agent, by[i]); !again {
			t.Fatalf("call %d of %d is made twice", i, len(by))
		}
	}
	l.check(t)
}

// A call without its client goes on for a while; one that can be made again does not.
func TestBreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(Ledger)
		defer l.Close()
		acts, reads := &client{args: "1"}, &client{args: "2"}
		c := acting(l, acts)
		r, _, _ := ask(l, agent, reads)
		r.Sending(true)
		c.Break(0)
		r.Break(0)
		synctest.Wait()
		if len(reads.stopped) != 1 || len(acts.stopped) != 0 {
			t.Errorf("stopped: %v, %v", reads.stopped, acts.stopped)
		}
		time.Sleep(DetachFor - 1)
		again := &client{args: "1"}
		_, turn, _ := ask(l, agent, again)
		c.Break(0) // by the first one, late
		time.Sleep(2 * DetachFor)
		synctest.Wait()
		if len(acts.stopped) != 0 {
			t.Error("stopped while a client waits for it")
		}
		c.Break(turn)
		time.Sleep(DetachFor + 1)
		synctest.Wait()
		if fmt.Sprint(acts.stopped) != "[true]" || len(again.stopped) != 0 {
			t.Errorf("stopped: %v", acts.stopped)
		}
		c.Cancel(0)
		c.Cancel(turn)
		if fmt.Sprint(acts.stopped) != "[true false]" {
			t.Errorf("cancelled: %v", acts.stopped)
		}
		c.End(answer, nil)
		<-c.Done()
		l.check(t)
	})
}
