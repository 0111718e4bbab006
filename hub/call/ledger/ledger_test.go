package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

var (
	agent  = Session{"ann", "1"}
	answer = json.RawMessage(`{"content":[]}`)
	tab    = spec.TabAddr{Peer: "p", Tab: 1}
)

// begin begins a request of a session, with an id.
func begin(l *Ledger, of Session, id string) *Call {
	c, _ := l.Begin(Ask{Session: of, Tool: "pay", Request: id, Body: []byte("1"), Conn: "conn", Stop: func(error) {}})
	return c
}

// acting begins one that has sent what must not be sent twice.
func acting(l *Ledger, of Session, id string) *Call {
	c := begin(l, of, id)
	c.Sending(false, tab, "")
	return c
}

// TestStates is the table of the package's documentation.
func TestStates(t *testing.T) {
	for _, tt := range []struct {
		do   func(c *Call)
		want State
	}{
		{func(c *Call) {}, begun},
		{func(c *Call) { c.Waits(tab) }, begun},
		{func(c *Call) { c.Asks() }, asked},
		{func(c *Call) { c.Asks(); c.GoesOn() }, begun},
		{func(c *Call) { c.Decided(0) }, decided},
		{func(c *Call) { c.Decided(0); c.Sending(false, tab, "") }, sent},
		{func(c *Call) { c.Decided(0); c.Sending(false, tab, ""); c.NotSent(false) }, decided},
		{func(c *Call) { c.Sending(true, tab, ""); c.Sending(true, tab, ""); c.NotSent(true) }, sent},
		{func(c *Call) { c.Part().Sending(false, tab, "") }, sent},
		{func(c *Call) { c.Sending(false, tab, ""); c.Asks() }, asked},
		{func(c *Call) { c.End(answer, nil) }, answered},
		{func(c *Call) { c.End(nil, nil) }, answered},
		{func(c *Call) { c.Taken(); c.Lost() }, begun},
		{func(c *Call) { c.End(answer, nil); c.Sending(false, tab, ""); c.Asks() }, answered},
		{func(c *Call) { c.End(answer, nil); c.Taken() }, taken},
		{func(c *Call) { c.End(answer, nil); c.Taken(); c.Lost() }, taken},
		{func(c *Call) { c.End(answer, nil); c.Lost() }, lost},
		{func(c *Call) { c.End(answer, nil); c.Lost(); c.Taken() }, taken},
	} {
		l := New()
		c := begin(l, agent, "1")
		if tt.do(c); c.state != tt.want {
			t.Errorf("state %d, want %d", c.state, tt.want)
		}
		l.check(t)
		l.Close()
	}
}

// TestSame is the table of situations in which a request comes with an id that there was: a payment must
// be made once, whatever has happened to the connection, and twice if it is wanted twice.
func TestSame(t *testing.T) {
	for _, tt := range []struct {
		name  string
		until func(l *Ledger, c *Call)
		ask   Ask
		want  bool
	}{
		{"under way", func(*Ledger, *Call) {}, Ask{Request: "1"}, true},
		{"under way, another id", func(*Ledger, *Call) {}, Ask{Request: "2"}, false},
		{"under way, other arguments", func(*Ledger, *Call) {}, Ask{Request: "1", Body: []byte("2")}, false},
		{"under way, another tool", func(*Ledger, *Call) {}, Ask{Request: "1", Tool: "look"}, false},
		{"under way, another method", func(*Ledger, *Call) {}, Ask{Request: "1", Method: "prompts/get"}, false},
		{"under way, of another session", func(*Ledger, *Call) {}, Ask{Request: "1", Session: Session{"ann", "2"}}, false},
		{"under way, of another client", func(*Ledger, *Call) {}, Ask{Request: "1", Session: Session{"bob", "1"}}, false},
		{"answered", func(_ *Ledger, c *Call) { c.End(answer, nil) }, Ask{Request: "1"}, true},
		{"taken", func(_ *Ledger, c *Call) { c.End(answer, nil); c.Taken() }, Ask{Request: "1"}, true},
		{"lost", func(_ *Ledger, c *Call) { c.End(answer, nil); c.Lost() }, Ask{Request: "1"}, true},
		{"lost, long ago", func(_ *Ledger, c *Call) { c.End(answer, nil); c.Lost(); time.Sleep(2 * Keep) }, Ask{Request: "1"}, false},
		{"only reads, lost", func(_ *Ledger, c *Call) { c.NotSent(false); c.End(answer, nil); c.Lost() }, Ask{Request: "1"}, true},
		{"only reads, ended without an answer", func(_ *Ledger, c *Call) { c.NotSent(false); c.End(nil, nil); c.Lost() }, Ask{Request: "1"}, false},
		{"acts, ended without an answer", func(_ *Ledger, c *Call) { c.End(nil, nil); c.Lost() }, Ask{Request: "1"}, true},
		{"only reads, taken", func(_ *Ledger, c *Call) { c.NotSent(false); c.End(answer, nil); c.Taken() }, Ask{Request: "1"}, false},
		{"sent by a part of it, taken", func(_ *Ledger, c *Call) {
			c.NotSent(false)
			c.Part().Sending(false, tab, "")
			c.End(answer, nil)
			c.Taken()
		}, Ask{Request: "1"}, true},
		{"its session is over", func(l *Ledger, c *Call) { c.End(answer, nil); l.Drop(agent) }, Ask{Request: "1"}, false},
		{"its client is forgotten", func(l *Ledger, c *Call) {
			c.End(answer, nil)
			l.Forget(func(client string) bool { return client == "ann" })
		}, Ask{Request: "1"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := New()
				defer l.Close()
				c := acting(l, agent, "1")
				tt.until(l, c)
				a := tt.ask
				if a.Session == (Session{}) {
					a.Session = agent
				}
				if a.Tool == "" {
					a.Tool = "pay"
				}
				if a.Body == nil {
					a.Body = []byte("1")
				}
				got, joined := l.Begin(a)
				if joined != tt.want || joined != (got == c) {
					t.Errorf("the same: %t", joined)
				}
				l.check(t)
			})
		})
	}
}

// TestStream: on one stream nothing sends a line again, so a request with an id that there was is another.
func TestStream(t *testing.T) {
	l := New()
	defer l.Close()
	ask := func(stream uint64) *Call {
		c, _ := l.Begin(Ask{Session: agent, Tool: "pay", Request: "1", Stream: stream})
		return c
	}
	first := ask(1)
	first.Sending(false, tab, "")
	if ask(2) != first {
		t.Error("the same over the next stream is another call")
	}
	if ask(1) == first {
		t.Error("the same line twice is one call")
	}
}

// check compares what a Ledger counts with what it holds.
func (l *Ledger) check(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	open, tasks := map[*session]int{}, map[*session]int{}
	for c := l.oldest; c != nil; c = c.newer {
		if c.session != nil && c.task == nil {
			open[c.session]++
		} else if c.session != nil {
			tasks[c.session]++
		}
		if c.state >= answered || c.newer == nil && l.newest != c {
			t.Errorf("%s is among those under way", c.id)
		}
	}
	ended, bytes := 0, 0
	for id, s := range l.sessions {
		mine, had := 0, 0
		for _, c := range append(s.ended[:len(s.ended):len(s.ended)], s.lost...) {
			mine += c.size()
			if c.state == taken {
				had += c.size()
			}
			if c.session != s {
				t.Errorf("%s is not of its session", c.id)
			}
		}
		if got, want := fmt.Sprint(s.open, s.tasks, s.bytes, s.taken), fmt.Sprint(open[s], tasks[s], mine, had); got != want {
			t.Errorf("session %v counts %s; it has %s", id, got, want)
		}
		if s.open+s.tasks+len(s.ended)+len(s.lost) == 0 {
			t.Errorf("session %v is empty", id)
		}
		ended += len(s.ended) + len(s.lost)
		bytes += mine
	}
	if ended != l.ended || bytes != l.bytes {
		t.Errorf("%d calls and %d bytes are kept, not %d and %d", ended, bytes, l.ended, l.bytes)
	}
}

// A request that waits for the answer to a call may be told that it has it when the call is forgotten.
func TestTakenLate(t *testing.T) {
	l := New()
	defer l.Close()
	c := acting(l, agent, "1")
	c.End(answer, nil)
	c.Lost()
	l.Drop(agent)
	c.Taken()
	l.check(t)
}

// A call that is asked for again over the next connection does not end with the one before, and only so
// many requests wait for it.
func TestJoin(t *testing.T) {
	l := New()
	defer l.Close()
	stopped := false
	ask := func(conn string) *Call {
		c, _ := l.Begin(Ask{Session: agent, Tool: "pay", Request: "1", Conn: conn, Stop: func(error) { stopped = true }, Max: 3})
		return c
	}
	c := ask("before")
	if ask("now") != c {
		t.Fatal("it is another call")
	}
	if l.StopAll("before", context.Canceled); stopped {
		t.Error("it has ended with the connection before")
	}
	if l.StopAll("now", context.Canceled); !stopped {
		t.Error("it goes on without anybody who waits for it")
	}
	ask("now")
	if ask("now") == nil || ask("now") != nil {
		t.Error("too many wait, or too few")
	}
}

// Answers that are being written all the same are not forgotten, until it is known whether they were.
func TestUnwritten(t *testing.T) {
	l := New()
	defer l.Close()
	var all []*Call
	for i := range 2 * MaxCalls {
		c := acting(l, agent, fmt.Sprint(i))
		c.End(answer, nil)
		all = append(all, c)
	}
	for _, c := range all[MaxCalls:] {
		c.Taken()
	}
	for i, c := range all[:MaxCalls] {
		c.Lost()
		if got, joined := l.Begin(Ask{Session: agent, Tool: "pay", Request: fmt.Sprint(i), Body: []byte("1")}); !joined || got != c {
			t.Fatalf("call %d is made twice", i)
		}
	}
	l.check(t)
}

// What was shown of a round of a call is not shown of the next one.
func TestRounds(t *testing.T) {
	l := New()
	defer l.Close()
	c := begin(l, agent, "1")
	c.Enter(Subject{Tool: "x"})
	c.Decided(policy.Allow)
	c.Sending(false, tab, "chrome")
	c.Leave()
	c.Enter(Subject{Tool: "x"})
	if got := l.UnderWay()[0]; got.Tab != (spec.TabAddr{}) || got.Browser != "" || got.Decision != policy.Unset {
		t.Errorf("%+v", got)
	}
}

// A client learns how long its call took, also if its owner was asked when it ended.
func TestReportedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New()
		defer l.Close()
		for id, goesOn := range map[string]bool{"1": true, "2": false} {
			c := acting(l, agent, id)
			time.Sleep(time.Second)
			c.Asks()
			time.Sleep(114 * time.Second)
			if goesOn {
				c.GoesOn()
			}
			c.End(nil, nil)
			if r := l.Report(agent, c.ID(), nil); r.Took != 1000 {
				t.Errorf("it took %v ms", r.Took)
			}
		}
	})
}

// A client learns of its calls, and of nobody else's.
func TestReport(t *testing.T) {
	l := New()
	defer l.Close()
	none := begin(l, agent, "1")
	none.End(nil, nil)
	first := acting(l, agent, "2")
	report := func(of Session, id string, but *Call) string {
		r := l.Report(of, id, but)
		return fmt.Sprintf("%s %s", r.State, r.Result)
	}
	for _, tt := range []struct{ got, want string }{
		{report(agent, none.ID(), nil), "not_sent "},
		{report(agent, "", nil), "under_way "},
		{report(Session{"ann", "2"}, "", nil), "unknown "},
		{report(Session{"ann", "2"}, first.ID(), nil), "under_way "},
		{report(Session{"bob", "1"}, first.ID(), nil), "unknown "},
	} {
		if tt.got != tt.want {
			t.Errorf("%s, want %s", tt.got, tt.want)
		}
	}
	first.End(answer, nil)
	asks := begin(l, agent, "3")
	asks.Hide()
	if got := report(agent, "", asks); got != "ended "+string(answer) {
		t.Error(got)
	}
	asks.End(answer, nil)
	failed := acting(l, agent, "4")
	failed.Failed()
	failed.End(answer, nil)
	if got := report(agent, "", nil); got != "may_have_taken_effect "+string(answer) {
		t.Error(got)
	}
	l.check(t)
}

// What is kept is bounded, and a client that calls much pushes out its own.
func TestBounds(t *testing.T) {
	l := New()
	defer l.Close()
	bobs := acting(l, Session{"bob", "1"}, "1")
	bobs.End(answer, nil)
	bobs.Lost()
	for i := range MaxCalls + 10 {
		c := acting(l, agent, fmt.Sprint(i))
		c.End(answer, nil)
		c.Taken()
	}
	if s := l.sessions[agent]; len(s.ended) != MaxCalls || len(s.byRequest) != MaxCalls {
		t.Errorf("%d calls are kept", len(s.ended))
	}
	for i := range MaxLost + 10 {
		c := acting(l, agent, fmt.Sprint("lost", i))
		c.End(answer, nil)
		c.Lost()
	}
	if s := l.sessions[agent]; len(s.lost) != MaxLost {
		t.Errorf("%d lost answers are kept", len(s.lost))
	}
	large := json.RawMessage(strings.Repeat("x", MaxTaken/2+1))
	for i := range 3 {
		c := acting(l, agent, fmt.Sprint("large", i))
		c.End(large, nil)
		c.Taken()
	}
	if s := l.sessions[agent]; s.taken > MaxTaken {
		t.Errorf("answers of %d bytes are kept", s.taken)
	}
	l.check(t)
	for i := range 2 * MaxAnswers / len(large) {
		c := acting(l, Session{"ann", fmt.Sprint(i)}, "1")
		c.End(large, nil)
		c.Lost()
	}
	for i := range MaxEnded / 10 {
		for range 11 {
			acting(l, Session{"ann", fmt.Sprint("s", i)}, "").End(nil, nil)
		}
	}
	if l.bytes > MaxAnswers || l.ended > MaxEnded {
		t.Errorf("%d calls with %d bytes are kept", l.ended, l.bytes)
	}
	for i := range 100 { // small ones that go first are not enough
		acting(l, Session{"ann", fmt.Sprint("small", i)}, "1").End(answer, nil)
	}
	for i := range 4 {
		c := acting(l, Session{"ann", "huge"}, fmt.Sprint(i))
		if c.End(json.RawMessage(strings.Repeat("x", MaxAnswers/3)), nil); l.bytes > MaxAnswers {
			t.Errorf("%d bytes are kept", l.bytes)
		}
	}
	if l.sessions[Session{"bob", "1"}] == nil {
		t.Error("another client's answers gave way")
	}
	l.check(t)
	many, _ := l.Begin(Ask{Session: Session{"eve", "1"}, Max: 1})
	if c, _ := l.Begin(Ask{Session: Session{"eve", "1"}, Max: 1}); many == nil || c != nil {
		t.Error("a session has more calls than it may")
	}
}

// What is stopped is what was meant.
func TestStop(t *testing.T) {
	l := New()
	defer l.Close()
	var stopped []string
	ask := func(conn any, of Session, id string) {
		l.Begin(Ask{Session: of, Request: id, Conn: conn, Hidden: true, Stop: func(cause error) { stopped = append(stopped, fmt.Sprint(id, cause)) }})
	}
	other := Session{"bob", "1"}
	ask("a", agent, "1")
	ask("a", agent, "2")
	ask("b", other, "1")
	gone := errors.New("!")
	l.StopRequest(agent, "1", gone)
	l.StopRequest(agent, "3", gone)
	if got := fmt.Sprint(stopped); got != "[1!]" {
		t.Error(got)
	}
	l.StopAll("b", gone)
	if got := fmt.Sprint(stopped); got != "[1! 1!]" {
		t.Error(got)
	}
	part := begin(l, agent, "9").Part()
	ctx, stop := context.WithCancelCause(t.Context())
	part.EnterWith(Subject{Tool: "x"}, stop)
	if !l.StopWhere(gone, func(_ string, about *Subject) bool { return about.Tool == "x" }) || context.Cause(ctx) != gone {
		t.Error("a part goes on")
	}
	if got := l.UnderWay(); len(got) != 1 || got[0].ID != part.ID() {
		t.Errorf("%+v", got)
	}
	part.Leave()
	if got := l.UnderWay(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	l.check(t)
}
