package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/tasks"
	"tabhub/storage"
)

// shelf is where the documents of a Book are kept.
type shelf struct {
	mu   sync.Mutex
	docs map[string]storage.Document
	err  error // of the next writes
}

func (s *shelf) options() tasks.Options {
	return tasks.Options{
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
func (s *shelf) open(t *testing.T) *tasks.Book {
	var docs []storage.Document
	for _, doc := range s.docs {
		docs = append(docs, doc)
	}
	b := tasks.Open(docs, s.options())
	t.Cleanup(b.Close)
	return b
}

func open(t *testing.T) (*tasks.Book, *shelf) {
	s := &shelf{docs: map[string]storage.Document{}}
	return s.open(t), s
}

// begin begins a task of the client "ann"; the context ends with what stops its call.
func begin(t *testing.T, b *tasks.Book) (*tasks.Run, context.Context) {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	run, _, err := b.Begin(t.Context(), tasks.Call{Client: "ann", Tool: "pay"}, stop)
	if err != nil {
		t.Fatal(err)
	}
	return run, ctx
}

// shown returns how ann is told of a task: its status and what is with it.
func shown(b *tasks.Book, id string) string {
	task, ok := b.Get("ann", id)
	if !ok {
		return "gone"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s%s%s", task.Status, task.Inputs, task.Result, task.Error))
}

func answers(pairs ...string) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return m
}

// Each row is what happens to a task, and how its client sees it afterwards, also in the process
// after.
func TestStates(t *testing.T) {
	result, fault := json.RawMessage(`{"content":[]}`), json.RawMessage(`{"code":-32603,"message":"broken"}`)
	var ctx context.Context // of the call
	ask := func(run *tasks.Run, questions string) {
		go func() { _, _ = run.Ask(ctx, json.RawMessage(questions)) }()
		synctest.Wait()
	}
	for name, tt := range map[string]struct {
		do          func(b *tasks.Book, run *tasks.Run)
		want, after string
	}{
		"nothing":            {func(*tasks.Book, *tasks.Run) {}, `working`, `working`},
		"it has ended":       {func(_ *tasks.Book, run *tasks.Run) { run.End(result, nil) }, `completed {"resultType":"complete","content":[]}`, `completed {"resultType":"complete","content":[]}`},
		"it cannot be done":  {func(_ *tasks.Book, run *tasks.Run) { run.End(nil, fault) }, `failed ` + string(fault), `failed ` + string(fault)},
		"cancelled":          {func(b *tasks.Book, run *tasks.Run) { b.Cancel("ann", run.ID()) }, `cancelled`, `cancelled`},
		"another cancels it": {func(b *tasks.Book, run *tasks.Run) { b.Cancel("bob", run.ID()) }, `working`, `working`},
		"cancelled, and then it has an answer": {func(b *tasks.Book, run *tasks.Run) {
			b.Cancel("ann", run.ID())
			run.End(result, nil)
		}, `cancelled`, `cancelled`},
		"an answer, and then cancelled": {func(b *tasks.Book, run *tasks.Run) {
			run.End(result, nil)
			b.Cancel("ann", run.ID())
		}, `completed {"resultType":"complete","content":[]}`, `completed {"resultType":"complete","content":[]}`},
		"it asks":         {func(_ *tasks.Book, run *tasks.Run) { ask(run, `{"a":1,"b":2}`) }, `input_required {"a":1,"b":2}`, `working`},
		"it asks nothing": {func(_ *tasks.Book, run *tasks.Run) { ask(run, `{}`) }, `working`, `working`},
		"half an answer": {func(b *tasks.Book, run *tasks.Run) {
			ask(run, `{"a":1,"b":2}`)
			b.Answer("ann", run.ID(), answers("a", "true", "c", "0"))
		}, `input_required {"b":2}`, `working`},
		"another answers": {func(b *tasks.Book, run *tasks.Run) {
			ask(run, `{"a":1}`)
			b.Answer("bob", run.ID(), answers("a", "true"))
		}, `input_required {"a":1}`, `working`},
		"it asks again by the same key": {func(b *tasks.Book, run *tasks.Run) {
			ask(run, `{"a":1}`)
			b.Answer("ann", run.ID(), answers("a", "true"))
			ask(run, `{"a":1}`)
		}, `input_required {"a (2)":1}`, `working`},
		"cancelled while it asks": {func(b *tasks.Book, run *tasks.Run) {
			ask(run, `{"a":1}`)
			b.Cancel("ann", run.ID())
			b.Answer("ann", run.ID(), answers("a", "true"))
		}, `cancelled`, `cancelled`},
		"too large an answer": {func(_ *tasks.Book, run *tasks.Run) {
			run.End(make(json.RawMessage, tasks.MaxResult+1), nil)
		}, `completed {"resultType":"complete","content":[{"text":"{\"error\":{\"code\":\"TOOL_ERROR\",\"message\":\"the tool has run, and its answer of 1024 KiB is larger than the 1024 KiB that are kept of a task: ask for less at once\"}}","type":"text"}],"isError":true}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, s := open(t)
				var run *tasks.Run
				run, ctx = begin(t, b)
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
				b.Cancel("ann", run.ID())
			})
		})
	}
}

func TestAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := open(t)
		run, _ := begin(t, b)
		var told []string
		defer b.Watch(func(id string) { told = append(told, shown(b, id)) })()
		for _, key := range []string{"a", "a (2)"} {
			got := make(chan string)
			go func() {
				raw, err := run.Ask(t.Context(), json.RawMessage(`{"a":{"method":"roots/list"}}`))
				got <- fmt.Sprint(string(raw), err)
			}()
			synctest.Wait()
			b.Answer("ann", run.ID(), answers(key, `{"roots":[]}`))
			if r := <-got; r != `{"a":{"roots":[]}}<nil>` {
				t.Errorf("answered %s", r)
			}
		}
		// What is not waited for any more is not asked any more.
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if _, err := run.Ask(ctx, json.RawMessage(`{"a":1}`)); !errors.Is(err, context.DeadlineExceeded) {
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
		b, s := open(t)
		slow, ctx := begin(t, b)
		time.Sleep(time.Minute)
		quick, _ := begin(t, b)
		quick.End(json.RawMessage(`{}`), nil)
		task, _ := b.Get("ann", quick.ID())
		time.Sleep(time.Duration(task.TTL)*time.Millisecond - time.Second)
		if got := shown(b, quick.ID()); got != `completed {"resultType":"complete"}` {
			t.Errorf("before its time: %s", got)
		}
		time.Sleep(2 * time.Second)
		if got := shown(b, quick.ID()) + ", " + shown(b, slow.ID()); got != "gone, working" || s.kept() != 1 {
			t.Errorf("after an hour: %s, %d kept", got, s.kept())
		}
		time.Sleep(24 * time.Hour)
		if got := shown(b, slow.ID()); got != "gone" || !errors.Is(context.Cause(ctx), tasks.ErrCancelled) || s.kept() != 0 {
			t.Errorf("after a day: %s, its call %v, %d kept", got, context.Cause(ctx), s.kept())
		}
	})
}

func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := open(t)
		var runs []*tasks.Run
		for range tasks.MaxUnended {
			run, _ := begin(t, b)
			runs = append(runs, run)
		}
		stop := func(error) {}
		if _, _, err := b.Begin(t.Context(), tasks.Call{Client: "ann"}, stop); !errors.Is(err, tasks.ErrFull) {
			t.Errorf("one too many: %v", err)
		}
		// Nobody else is kept from a task, and whose have ended makes room with its own.
		for range tasks.MaxTasks {
			run, _, err := b.Begin(t.Context(), tasks.Call{Client: "eve"}, stop)
			if err != nil {
				t.Fatal(err)
			}
			run.End(json.RawMessage(`{}`), nil)
		}
		for range tasks.MaxUnended - 1 {
			if _, _, err := b.Begin(t.Context(), tasks.Call{Client: "eve"}, stop); err != nil {
				t.Fatal(err)
			}
		}
		// What ended first makes room, and no more of it.
		for _, run := range runs[:2] {
			run.End(json.RawMessage(`{}`), nil)
			time.Sleep(time.Second)
		}
		begin(t, b)
		if got := shown(b, runs[0].ID()) + ", " + shown(b, runs[1].ID()) + ", " + shown(b, runs[2].ID()); got != "gone, completed {\"resultType\":\"complete\"}, working" || s.kept() != tasks.MaxTasks {
			t.Errorf("%s, %d kept", got, s.kept())
		}
		large := json.RawMessage(`{"x":"` + strings.Repeat("x", tasks.MaxResult-100) + `"}`)
		for _, run := range runs[2:67] {
			run.End(large, nil)
			time.Sleep(time.Second)
		}
		if first, second := shown(b, runs[2].ID()), shown(b, runs[3].ID()); first != "gone" || len(second) < tasks.MaxResult-100 {
			t.Errorf("of 65 MiB of answers are left %.20s, %.20s", first, second)
		}
	})
}

// A client that is told of a task finds it, also in the next process: without that there is none.
func TestTaskThatCannotBeStored(t *testing.T) {
	b, s := open(t)
	s.err = errors.New("the disk is full")
	if _, _, err := b.Begin(t.Context(), tasks.Call{Client: "ann"}, func(error) {}); !errors.Is(err, s.err) {
		t.Error(err)
	}
	if all := b.Unended(); len(all) != 0 {
		t.Errorf("%d are left", len(all))
	}
}

// Who is about to send a call learns that the next process would not know of it.
func TestSendingThatCannotBeStored(t *testing.T) {
	b, s := open(t)
	run, _ := begin(t, b)
	s.err = errors.New("the disk is full")
	if err := run.Sending(json.RawMessage(`{}`)); !errors.Is(err, s.err) {
		t.Error(err)
	}
	s.err = nil
	b.Cancel("ann", run.ID())
	if err := run.Sending(json.RawMessage(`{}`)); !errors.Is(err, tasks.ErrCancelled) {
		t.Error(err)
	}
}

// The next process takes up what has not ended, and what it was told about it.
func TestUnended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := open(t)
		run, _ := begin(t, b)
		if err := run.Sending(json.RawMessage(`{"id":"5f0c"}`)); err != nil {
			t.Fatal(err)
		}
		ended, _ := begin(t, b)
		ended.End(json.RawMessage(`{}`), nil)
		s.docs["x"] = storage.Document{Kind: tasks.Kind, ID: "x", Body: json.RawMessage(`[]`)}
		b.Close()
		run.End(json.RawMessage(`{"late":true}`), nil)

		next := s.open(t)
		all := next.Unended()
		if len(all) != 1 || all[0].ID() != run.ID() || string(all[0].Sent) != `{"id":"5f0c"}` || all[0].Client != "ann" || all[0].Tool != "pay" {
			t.Fatalf("%+v", all)
		}
		ctx, stop := context.WithCancelCause(t.Context())
		all[0].Go(stop)
		next.Cancel("ann", run.ID())
		if got := shown(next, run.ID()); got != "cancelled" || !errors.Is(context.Cause(ctx), tasks.ErrCancelled) {
			t.Errorf("%s, its call %v", got, context.Cause(ctx))
		}
		if len(next.Unended()) != 0 {
			t.Error("it is taken up twice")
		}
	})
}

// The tasks of a client whose credential was taken back end, and nothing of them is kept.
func TestForget(t *testing.T) {
	b, s := open(t)
	_, ctx := begin(t, b)
	run, _ := begin(t, b)
	run.End(json.RawMessage(`{}`), nil)
	_, task, err := b.Begin(t.Context(), tasks.Call{Client: "bob"}, func(error) { t.Error("another's call was stopped") })
	if err != nil {
		t.Fatal(err)
	}
	b.Forget("ann")
	if _, ok := b.Get("bob", task.ID); !ok || s.kept() != 1 || shown(b, run.ID()) != "gone" || !errors.Is(context.Cause(ctx), tasks.ErrCancelled) {
		t.Errorf("%d are kept, the call goes on with %v", s.kept(), context.Cause(ctx))
	}
}
