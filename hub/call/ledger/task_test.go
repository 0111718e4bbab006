package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/storage"
)

// shelf is where the documents of a Book are kept.
type shelf struct {
	mu   sync.Mutex
	docs map[string]storage.Document
	err  error // of the next writes
}

func (s *shelf) options() Options {
	return Options{
		Keep: func(doc storage.Document, synced func(error)) {
			s.mu.Lock()
			if s.err == nil {
				s.docs[doc.ID] = doc
			}
			err := s.err
			s.mu.Unlock()
			synced(err)
		},
		Forget: func(id string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.docs, id)
		},
	}
}

// kept returns how many documents there are.
func (s *shelf) kept() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.docs)
}

// open opens a Book over what is kept, as a new process does.
func (s *shelf) open(t *testing.T) *Ledger {
	var docs []storage.Document
	for _, doc := range s.docs {
		docs = append(docs, doc)
	}
	b := Open(s.options())
	b.Restore(docs)
	t.Cleanup(b.Close)
	return b
}

func openLedger(t *testing.T) (*Ledger, *shelf) {
	s := &shelf{docs: map[string]storage.Document{}}
	return s.open(t), s
}

// task is the call of a task, with its id.
type taskCall struct {
	*Call
	id string
}

func (c *taskCall) ID() string { return c.id }

// become makes a call of the client "ann" a task; the context ends with what stops the call.
func become(t *testing.T, b *Ledger) (*taskCall, context.Context) {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	run, err := becomeOf(t, b, "ann", stop)
	if err != nil {
		t.Fatal(err)
	}
	return run, ctx
}

func becomeOf(t *testing.T, b *Ledger, client string, stop context.CancelCauseFunc) (*taskCall, error) {
	c, _ := b.Begin(Ask{Session: agent, Tool: "pay", Conn: t, Stop: stop})
	task, err := c.BecomeTask(t.Context(), TaskOf{Client: client, Tool: "pay"})
	if err != nil {
		c.End(nil, nil)
	}
	return &taskCall{c, task.ID}, err
}

// shown returns how ann is told of a task: its status and what is with it.
func shown(b *Ledger, id string) string {
	task, ok := b.Task("ann", id)
	if !ok {
		return "gone"
	}
	out := strings.TrimSpace(fmt.Sprintf("%s %s%s%s", task.Status, task.Inputs, task.Result, task.Error))
	return metaOfCall.ReplaceAllString(out, "")
}

// metaOfCall says in a result which call it answers: another one each time.
var metaOfCall = regexp.MustCompile(`,"_meta":\{"tabhub/call":"[A-Z2-7]{10}"\}`)

func answers(pairs ...string) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return m
}

// Each row is what happens to a task, and how its client sees it afterwards, also in the process
// after.
func TestTaskStates(t *testing.T) {
	result, fault := json.RawMessage(`{"content":[]}`), json.RawMessage(`{"code":-32603,"message":"broken"}`)
	var ctx context.Context // of the call
	ask := func(run *taskCall, questions string) {
		go func() { _, _ = run.AskClient(ctx, json.RawMessage(questions)) }()
		synctest.Wait()
	}
	for name, tt := range map[string]struct {
		do          func(b *Ledger, run *taskCall)
		want, after string
	}{
		"nothing":            {func(*Ledger, *taskCall) {}, `working`, `working`},
		"it has ended":       {func(_ *Ledger, run *taskCall) { run.EndTask(result, nil) }, `completed {"resultType":"complete","content":[]}`, `completed {"resultType":"complete","content":[]}`},
		"it cannot be done":  {func(_ *Ledger, run *taskCall) { run.EndTask(nil, fault) }, `failed ` + string(fault), `failed ` + string(fault)},
		"cancelled":          {func(b *Ledger, run *taskCall) { b.CancelTask("ann", run.ID()) }, `cancelled`, `cancelled`},
		"another cancels it": {func(b *Ledger, run *taskCall) { b.CancelTask("bob", run.ID()) }, `working`, `working`},
		"cancelled, and then it has an answer": {func(b *Ledger, run *taskCall) {
			b.CancelTask("ann", run.ID())
			run.EndTask(result, nil)
		}, `cancelled`, `cancelled`},
		"an answer, and then cancelled": {func(b *Ledger, run *taskCall) {
			run.EndTask(result, nil)
			b.CancelTask("ann", run.ID())
		}, `completed {"resultType":"complete","content":[]}`, `completed {"resultType":"complete","content":[]}`},
		"it asks":         {func(_ *Ledger, run *taskCall) { ask(run, `{"a":1,"b":2}`) }, `input_required {"a":1,"b":2}`, `working`},
		"it asks nothing": {func(_ *Ledger, run *taskCall) { ask(run, `{}`) }, `working`, `working`},
		"half an answer": {func(b *Ledger, run *taskCall) {
			ask(run, `{"a":1,"b":2}`)
			b.AnswerTask("ann", run.ID(), answers("a", "true", "c", "0"))
		}, `input_required {"b":2}`, `working`},
		"another answers": {func(b *Ledger, run *taskCall) {
			ask(run, `{"a":1}`)
			b.AnswerTask("bob", run.ID(), answers("a", "true"))
		}, `input_required {"a":1}`, `working`},
		"it asks again by the same key": {func(b *Ledger, run *taskCall) {
			ask(run, `{"a":1}`)
			b.AnswerTask("ann", run.ID(), answers("a", "true"))
			ask(run, `{"a":1}`)
		}, `input_required {"a (2)":1}`, `working`},
		"cancelled while it asks": {func(b *Ledger, run *taskCall) {
			ask(run, `{"a":1}`)
			b.CancelTask("ann", run.ID())
			b.AnswerTask("ann", run.ID(), answers("a", "true"))
		}, `cancelled`, `cancelled`},
		"too large an answer": {func(_ *Ledger, run *taskCall) {
			run.EndTask(make(json.RawMessage, MaxResult+1), nil)
		}, `completed {"resultType":"complete","content":[{"text":"{\"error\":{\"code\":\"TOOL_ERROR\",\"message\":\"the tool has run, and its answer of 1024 KiB is larger than the 1024 KiB that are kept of a task: ask for less at once\"}}","type":"text"}],"isError":true}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, s := openLedger(t)
				var run *taskCall
				run, ctx = become(t, b)
				tt.do(b, run)
				got := shown(b, run.ID())
				if got != tt.want {
					t.Errorf("shown %s, want %s", got, tt.want)
				}
				if ended := strings.HasPrefix(got, "c") || strings.HasPrefix(got, "f"); ended != (ctx.Err() != nil) {
					t.Errorf("its call: %v", context.Cause(ctx))
				}
				if after := shown(s.open(t), run.ID()); tt.after != "" && after != tt.after {
					t.Errorf("after a restart %s, want %s", after, tt.after)
				}
				b.CancelTask("ann", run.ID())
			})
		})
	}
}

func TestAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := openLedger(t)
		run, _ := become(t, b)
		var told []string
		defer b.WatchTasks(func(id string) { told = append(told, shown(b, id)) })()
		for _, key := range []string{"a", "a (2)"} {
			got := make(chan string)
			go func() {
				raw, err := run.AskClient(t.Context(), json.RawMessage(`{"a":{"method":"roots/list"}}`))
				got <- fmt.Sprint(string(raw), err)
			}()
			synctest.Wait()
			b.AnswerTask("ann", run.ID(), answers(key, `{"roots":[]}`))
			if r := <-got; r != `{"a":{"roots":[]}}<nil>` {
				t.Errorf("answered %s", r)
			}
		}
		// What is not waited for any more is not asked any more.
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if _, err := run.AskClient(ctx, json.RawMessage(`{"a":1}`)); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		want := `input_required {"a":{"method":"roots/list"}}|working|input_required {"a (2)":{"method":"roots/list"}}|working|input_required {"a (3)":1}|working`
		if got := strings.Join(told, "|"); got != want {
			t.Errorf("told\n%s, want\n%s", got, want)
		}
	})
}

// An answer waits for an hour; what does not end is given up after a day. No task is gone before
// the time that its client was told.
func TestTimeToLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := openLedger(t)
		slow, ctx := become(t, b)
		time.Sleep(time.Minute)
		quick, _ := become(t, b)
		quick.EndTask(json.RawMessage(`{}`), nil)
		task, _ := b.Task("ann", quick.ID())
		time.Sleep(time.Duration(task.TTL)*time.Millisecond - time.Second)
		if got := shown(b, quick.ID()); got != `completed {"resultType":"complete"}` {
			t.Errorf("before its time: %s", got)
		}
		time.Sleep(2 * time.Second)
		if got := shown(b, quick.ID()) + ", " + shown(b, slow.ID()); got != "gone, working" || s.kept() != 1 {
			t.Errorf("after an hour: %s, %d kept", got, s.kept())
		}
		time.Sleep(24 * time.Hour)
		if got := shown(b, slow.ID()); got != "gone" || !errors.Is(context.Cause(ctx), ErrCancelled) || s.kept() != 0 {
			t.Errorf("after a day: %s, its call %v, %d kept", got, context.Cause(ctx), s.kept())
		}
	})
}

func TestTaskBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := openLedger(t)
		var runs []*taskCall
		for range MaxUnended {
			run, _ := become(t, b)
			runs = append(runs, run)
		}
		stop := func(error) {}
		if _, err := becomeOf(t, b, "ann", stop); !errors.Is(err, ErrFull) {
			t.Errorf("one too many: %v", err)
		}
		// Nobody else is kept from a task, and whose have ended makes room with its own.
		for range MaxTasks {
			run, err := becomeOf(t, b, "eve", stop)
			if err != nil {
				t.Fatal(err)
			}
			run.EndTask(json.RawMessage(`{}`), nil)
		}
		for range MaxUnended - 1 {
			if _, err := becomeOf(t, b, "eve", stop); err != nil {
				t.Fatal(err)
			}
		}
		// What ended first makes room, and no more of it.
		for _, run := range runs[:2] {
			run.EndTask(json.RawMessage(`{}`), nil)
			time.Sleep(time.Second)
		}
		become(t, b)
		if got := shown(b, runs[0].ID()) + ", " + shown(b, runs[1].ID()) + ", " + shown(b, runs[2].ID()); got != "gone, completed {\"resultType\":\"complete\"}, working" || s.kept() != MaxTasks {
			t.Errorf("%s, %d kept", got, s.kept())
		}
		large := json.RawMessage(`{"x":"` + strings.Repeat("x", MaxResult-100) + `"}`)
		for _, run := range runs[2:67] {
			run.EndTask(large, nil)
			time.Sleep(time.Second)
		}
		if first, second := shown(b, runs[2].ID()), shown(b, runs[3].ID()); first != "gone" || len(second) < MaxResult-100 {
			t.Errorf("of 65 MiB of answers are left %.20s, %.20s", first, second)
		}
		if task, _ := runs[2].Task(); task.Result != nil {
			t.Error("the call still has what is gone")
		}
	})
}

// A client that is told of a task finds it, also in the next process: without that there is none.
func TestTaskThatCannotBeStored(t *testing.T) {
	b, s := openLedger(t)
	s.err = errors.New("the disk is full")
	if _, err := becomeOf(t, b, "ann", func(error) {}); !errors.Is(err, s.err) {
		t.Error(err)
	}
	if all := b.Unended(); len(all) != 0 {
		t.Errorf("%d are left", len(all))
	}
}

// A call that was stopped while its task was stored is none.
func TestStoppedMeanwhile(t *testing.T) {
	b, s := openLedger(t)
	ctx, stop := context.WithCancelCause(t.Context())
	stop(ErrCancelled)
	for range 10 {
		c := begin(b, agent, "")
		if _, err := c.BecomeTask(ctx, TaskOf{Client: "ann"}); !errors.Is(err, ErrCancelled) {
			t.Errorf("%v, %d kept", err, s.kept())
		}
	}
}

// A call that is a task is asked for again by its request whatever becomes of others of its session.
func TestSameTask(t *testing.T) {
	b, _ := openLedger(t)
	c, other := begin(b, agent, "1"), begin(b, agent, "2")
	if _, err := c.BecomeTask(t.Context(), TaskOf{Client: "ann"}); err != nil {
		t.Fatal(err)
	}
	other.Hide()
	other.End(nil, nil)
	b.check(t)
	if begin(b, agent, "1") != c {
		t.Error("it is made twice")
	}
	c.EndTask(answer, nil)
	b.check(t)
}

// The sender of a task's call learns that the next process would not know of it.
func TestSendingThatCannotBeStored(t *testing.T) {
	b, s := openLedger(t)
	run, _ := become(t, b)
	s.err = errors.New("the disk is full")
	if err := run.WillSend(func() json.RawMessage { return json.RawMessage(`{}`) }); !errors.Is(err, s.err) {
		t.Error(err)
	}
	s.err = nil
	b.CancelTask("ann", run.ID())
	if err := run.WillSend(func() json.RawMessage { return json.RawMessage(`{}`) }); !errors.Is(err, ErrCancelled) {
		t.Error(err)
	}
}

// The next process takes up each task that has not ended, with what was stored of it.
func TestUnended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := openLedger(t)
		run, _ := become(t, b)
		if err := run.WillSend(func() json.RawMessage { return json.RawMessage(`{"id":"5f0c"}`) }); err != nil {
			t.Fatal(err)
		}
		ended, _ := become(t, b)
		ended.EndTask(json.RawMessage(`{}`), nil)
		s.docs["x"] = storage.Document{Kind: Kind, ID: "x", Body: json.RawMessage(`[]`)}
		b.Close()
		run.EndTask(json.RawMessage(`{"late":true}`), nil)

		next := s.open(t)
		all := next.Unended()
		if len(all) != 1 {
			t.Fatalf("%+v", all)
		}
		if of := all[0].TaskOf(); of.CallID != run.Call.ID() || string(of.Sent) != `{"id":"5f0c"}` || of.Client != "ann" || of.Tool != "pay" {
			t.Errorf("%+v", of)
		}
		ctx, stop := context.WithCancelCause(t.Context())
		all[0].EnterWith(Subject{}, stop)
		next.CancelTask("ann", run.ID())
		if got := shown(next, run.ID()); got != "cancelled" || !errors.Is(context.Cause(ctx), ErrCancelled) {
			t.Errorf("%s, its call %v", got, context.Cause(ctx))
		}
		if len(next.Unended()) != 0 {
			t.Error("it is taken up twice")
		}
		if all[0].Leave(); next.oldest != nil {
			t.Error("it is under way for ever")
		}
	})
}

// The tasks of a client whose credential was taken back end, and nothing of them is kept.
func TestTaskForget(t *testing.T) {
	b, s := openLedger(t)
	_, ctx := become(t, b)
	run, _ := become(t, b)
	run.EndTask(json.RawMessage(`{}`), nil)
	task, err := becomeOf(t, b, "bob", func(error) { t.Error("another's call was stopped") })
	if err != nil {
		t.Fatal(err)
	}
	b.Forget(func(client string) bool { return client == "ann" })
	if _, ok := b.Task("bob", task.id); !ok || s.kept() != 1 || shown(b, run.ID()) != "gone" || !errors.Is(context.Cause(ctx), ErrCancelled) {
		t.Errorf("%d are kept, the call goes on with %v", s.kept(), context.Cause(ctx))
	}
}
