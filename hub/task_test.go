package hub

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/call"
	"tabhub/hub/call/ledger"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest"
)

// task begins a task for a call of a page's tool, and returns what to end the call with.
func (w *fixture) task(name string) (id string, stop context.CancelCauseFunc, c *pendingCall) {
	w.t.Helper()
	return w.taskOf(tester, name)
}

func (w *fixture) taskOf(by *consent.Caller, name string) (id string, stop context.CancelCauseFunc, c *pendingCall) {
	w.t.Helper()
	ctx, stop := context.WithCancelCause(w.t.Context())
	as := *by
	as.Request = w.request(by, name, stop)
	task, err := as.Request.BecomeTask(w.t.Context(), ledger.TaskOf{Client: by.Principal.ID, Tool: name})
	if err != nil {
		w.t.Fatal(err)
	}
	c = &pendingCall{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.result, c.err = w.hub.Calls.Call(ctx, call.Request{Name: name, By: &as, Sending: as.Request.WillSend})
	}()
	return task.ID, stop, c
}

// request begins a request of a client.
func (w *fixture) request(by *consent.Caller, tool string, stop context.CancelCauseFunc) *ledger.Call {
	c, _ := w.hub.Calls.Ledger().Begin(ledger.Ask{Session: ledger.Session{Client: by.Principal.ID}, Tool: tool, Conn: w, Stop: stop})
	return c
}

// ended waits until a task has ended, and returns its result.
func (w *fixture) ended(id string) string {
	w.t.Helper()
	changed := make(chan struct{}, 100)
	defer w.hub.Calls.Ledger().WatchTasks(func(string) { changed <- struct{}{} })()
	for {
		task, ok := w.hub.Calls.Ledger().Task(tester.Principal.ID, id)
		if !ok {
			w.t.Fatal("the task is gone")
		}
		if task.Status != ledger.Working {
			return string(task.Status) + " " + string(task.Result)
		}
		<-changed
	}
}

// restart opens the Hub anew, as the next process does, when the one before has left its calls.
func (w *fixture) restart() {
	w.t.Helper()
	if err := w.hub.Close(context.Background()); err != nil {
		w.t.Error(err)
	}
	w.start(Options{})
}

func single(origin, key, session string) tabtransport.Conn {
	return tabtransport.Conn{Origin: origin, Dialect: spec.Subprotocol, Hello: &spec.Hello{ProtocolVersion: spec.ProtocolVersion, TabKey: key, Session: session}}
}

// A page that works on when the hub's process ends gives its answer to the next one; it is
// recorded once, as one call.
func TestTaskOutlivesTheHub(t *testing.T) {
	for name, tt := range map[string]struct {
		back func(w *fixture, r tabtest.Request) // what comes back after the restart
		want []string
	}{
		"the page comes back with the answer": {func(w *fixture, r tabtest.Request) {
			answer(w.dial(single("https://shop.example.com", "k", "1")), r, "paid")
		}, []string{`completed {"resultType":"complete","_meta":{"tabhub/call":"`, `"tabhub/source":{`, `"origin":"https://shop.example.com"`, `"text":"paid"`}},
		"the page was reloaded": {func(w *fixture, r tabtest.Request) {
			w.dial(single("https://shop.example.com", "k", "2"))
		}, []string{`completed`, `TAB_CLOSED`, "may have taken effect"}},
		"the page knows no answer": {func(w *fixture, r tabtest.Request) {
			w.dial(single("https://shop.example.com", "k", "1")).Answer(r, spec.Response{}, spec.Errorf(spec.CodeTabNotFound, "forgotten"))
		}, []string{`completed`, `TAB_CLOSED`, "may have taken effect"}},
		"the page has failed": {func(w *fixture, r tabtest.Request) {
			w.dial(single("https://shop.example.com", "k", "1")).Answer(r, spec.Response{Result: json.RawMessage(`"no money"`), Failed: true}, nil)
		}, []string{`completed`, "TOOL_ERROR", "no money"}},
		"the page asks back": {func(w *fixture, r tabtest.Request) {
			w.dial(single("https://shop.example.com", "k", "1")).Answer(r, spec.Response{Result: json.RawMessage(`{"resultType":"input_required","inputRequests":{}}`)}, nil)
		}, []string{`completed`, "TOOL_ERROR", "asks back", "may have taken effect"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, Options{})
			page := w.dial(single("https://shop.example.com", "k", "1"))
			w.register(page, 0, tools("https://shop.example.com/", "pay"))
			id, stop, c := w.task("website_tool_shop_example_com_pay")
			r := page.Next()
			stop(tabtransport.ErrLeft)
			c.want(t, tabtransport.ErrLeft.Error())
			w.restart()
			tt.back(w, r)
			got := w.ended(id)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("ended %s, want %s", got, want)
				}
			}
			w.hub.Close(context.Background())
			var calls []string
			for _, e := range w.record.Entries(record.Query{}) {
				if e.Event == "call" {
					calls = append(calls, e.Tool+" "+e.Call)
				}
			}
			if len(calls) != 1 {
				t.Errorf("recorded %q", calls)
			}
			if strings.Contains(strings.Join(tt.want, ""), "TAB_CLOSED") {
				return
			}
			// What has ended is there for the process after, too.
			w.start(Options{})
			if again := w.ended(id); again != got {
				t.Errorf("later %s", again)
			}
		})
	}
}

// Nobody gets the tab of an agent while its call is under way there, whichever process has sent it.
func TestResumedCallKeepsItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{CallTimeoutMax: 5 * time.Hour})
		e, tabs := w.eTabs(1)
		alone := &consent.Caller{Principal: &policy.Principal{ID: "c"}, Agent: "=1"}
		w.claim(alone, tabs[0], agents.Terms{TTL: time.Minute})
		_, stop, c := w.taskOf(alone, "website_tool_e_com_x")
		r := e.Next()
		stop(tabtransport.ErrLeft)
		<-c.done
		if err := w.hub.Close(t.Context()); err != nil {
			t.Error(err)
		}
		w.start(Options{CallTimeoutMax: 5 * time.Hour})
		back := w.chrome("b1", "s1")
		w.register(back, 1, tools("https://e.com/", "x"))
		time.Sleep(3 * time.Minute)
		if w.hub.Agents.Holder(tabs[0]) == nil {
			t.Error("the lease ended under the call")
		}
		answer(back, r, "done")
		time.Sleep(2 * time.Minute)
		if w.hub.Agents.Holder(tabs[0]) != nil {
			t.Error("the lease has no end")
		}
	})
}

// After the restart, too, the owner sees the call, and the client can cancel it.
func TestResumedTaskIsCancelled(t *testing.T) {
	w := newFixture(t, Options{})
	page := w.dial(single("https://shop.example.com", "k", "1"))
	w.register(page, 0, tools("https://shop.example.com/", "pay"))
	id, stop, c := w.task("website_tool_shop_example_com_pay")
	r := page.Next()
	stop(tabtransport.ErrLeft)
	<-c.done
	w.restart()
	if shown, _ := w.hub.Owner.Running(); len(shown) != 1 || shown[0].Tool != "pay" || shown[0].Domain != "shop.example.com" {
		t.Errorf("the owner sees %+v", shown)
	}
	back := w.dial(single("https://shop.example.com", "k", "1"))
	w.hub.Calls.Ledger().CancelTask(tester.Principal.ID, id)
	answer(back, r, "late")
	if got := w.ended(id); got != "cancelled " {
		t.Error(got)
	}
	if err := w.hub.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if shown, _ := w.hub.Owner.Running(); len(shown) != 0 {
		t.Errorf("the owner still sees %+v", shown)
	}
}

// What was not sent is not waited for: the client is told that nothing has happened.
func TestTaskThatWasNotSent(t *testing.T) {
	w := newFixture(t, Options{})
	page, err := w.request(tester, "t", func(error) {}).BecomeTask(t.Context(), ledger.TaskOf{Client: tester.Principal.ID, Tool: "t"})
	if err != nil {
		t.Fatal(err)
	}
	own, err := w.request(tester, "browser_page", func(error) {}).BecomeTask(t.Context(), ledger.TaskOf{Client: tester.Principal.ID, Tool: "browser_page", Own: true})
	if err != nil {
		t.Fatal(err)
	}
	w.restart()
	if got := w.ended(page.ID); !strings.Contains(got, "NOT_CONNECTED") || !strings.Contains(got, "no effect") {
		t.Error(got)
	}
	if got := w.ended(own.ID); !strings.Contains(got, "NOT_CONNECTED") || !strings.Contains(got, "may have taken effect") {
		t.Error(got)
	}
}

// A call that another process would take for one that was not sent is not sent: that process
// says that it can be made again.
func TestCallThatCannotBeNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, tools("", "t"))
		full := errors.New("the disk is full")
		result, err := w.hub.Calls.Call(t.Context(), call.Request{Name: "website_tool_e_com_t", By: tester, Sending: func(func() json.RawMessage) error { return full }})
		if err != nil || !strings.Contains(string(result), "NOT_CONNECTED") || !strings.Contains(string(result), "was not sent") || !strings.Contains(string(result), full.Error()) {
			t.Errorf("%s, %v", result, err)
		}
		c := w.call(t.Context(), "e_com_t")
		answer(p, p.Next(), "the first that came")
		c.want(t, "the first that came")
	})
}

// A page may work for as long as call-timeout-max without a word, if nobody waits at a
// connection; a site's own limit holds.
func TestTaskTakesItsTime(t *testing.T) {
	for site, want := range map[time.Duration]string{0: "late", 20 * time.Millisecond: "TOOL_TIMEOUT"} {
		w := newFixture(t, Options{CallTimeout: 20 * time.Millisecond, CallTimeoutMax: time.Minute})
		page := w.dial(single("https://shop.example.com", "k", "1"))
		w.register(page, 0, tools("https://shop.example.com/", "pay"))
		if site > 0 {
			if err := w.hub.SetSite(storage.Site{Domain: "shop.example.com", CallTimeout: site}); err != nil {
				t.Fatal(err)
			}
		}
		_, _, c := w.task("website_tool_shop_example_com_pay")
		plain := w.call(t.Context(), "shop_example_com_pay")
		first, second := page.Next(), page.Next()
		plain.want(t, "TOOL_TIMEOUT")
		if site > 0 {
			<-c.done
		}
		answer(page, first, "late")
		answer(page, second, "late")
		c.want(t, want)
	}
}
