package consent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// An owner away from the computer must find the question later, and the same call must
// go through then, once.
func TestLateYes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &window{away: true})
		by := client("c")
		ask := func(args string) error {
			_, err := r.Ask(t.Context(), by, pay(by, args))
			return err
		}
		denied(t, ask(`{"eur":5}`), "tabhub approve ")
		denied(t, ask(`{"eur":5}`), "tabhub approve ")
		open := r.Open()
		if len(open) != 1 || !open[0].Deferred || !strings.Contains(ask(`{"eur":5}`).Error(), open[0].ID[:idShown]) {
			t.Fatalf("open: %+v", open)
		}
		r.answered(t, open[0], spec.ReachOnce, ByCommand)
		denied(t, ask(`{"eur":500}`), "approve")
		if err := ask(`{"eur":5}`); err != nil {
			t.Errorf("the call that was allowed: %v", err)
		}
		denied(t, ask(`{"eur":5}`), "approve")

		open = r.Open()
		time.Sleep(deferredFor)
		if err := r.Answer(open[0].ID, open[0].Digest, spec.AskResult{Reach: spec.ReachOnce}, ByCommand); err != ErrNoQuestion {
			t.Errorf("an answer after its time: %v", err)
		}
		denied(t, ask(`{"eur":7}`), "approve")
		open = r.Open()
		r.answered(t, open[0], spec.ReachOnce, ByCommand)
		time.Sleep(PermitFor)
		denied(t, ask(`{"eur":7}`), "approve")
	})
}

// A host that gives up while its owner is asked must not take the question from the screen: what the owner
// answers is good for the identical call of any session of that client, once.
func TestClientGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan spec.Reach)
		r := newRig(t, answeredBy(answer))
		by := client("c")
		gone := errors.New("the client has gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(gone) })
		if _, err := r.Ask(ctx, by, pay(by, `{}`)); err != gone {
			t.Errorf("got %v", err)
		}
		if open := r.Open(); len(open) != 1 || !open[0].Deferred {
			t.Fatalf("open: %+v", open)
		}
		time.Sleep(30 * time.Second)
		answer <- spec.ReachOnce
		synctest.Wait()
		if q := r.Open(); len(q) != 1 || !q[0].Allowed || len(q[0].Reaches) > 0 {
			t.Errorf("open: %+v", q)
		}
		later := client("c")
		later.Session = "another"
		time.Sleep(time.Hour)
		if _, err := r.Ask(t.Context(), later, pay(later, `{"eur":1}`)); err == nil {
			t.Error("another call passes")
		}
		if _, err := r.Ask(t.Context(), later, pay(later, `{}`)); err != nil {
			t.Errorf("the same call again: %v", err)
		}
		if _, err := r.Ask(t.Context(), later, pay(later, `{}`)); err == nil {
			t.Error("the same call passes twice")
		}
	})
}

// A host that asks again, by a new request or in a new session, while the window is open must have its owner
// see one window and answer once, and its call made once.
func TestAskedAgainWhileShown(t *testing.T) {
	for name, session := range map[string]string{"the same session": "s-c", "another session": "s-2"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer := make(chan spec.Reach)
				w := answeredBy(answer)
				r := newRig(t, w)
				by, ended := client("c"), make(chan error, 2)
				gone, cancel := context.WithCancel(t.Context())
				go r.ask(gone, by, pay(by, `{}`), ended)
				time.Sleep(time.Minute)
				cancel()
				<-ended
				if n, shown, _ := r.Waiting(); n != 1 || !slices.Equal(shown, w.ids()) {
					t.Errorf("%d wait, %v are shown for nobody", n, shown)
				}
				again := client("c")
				again.Session = session
				go r.ask(t.Context(), again, pay(again, `{}`), ended)
				synctest.Wait()
				if open := r.Open(); len(open) != 1 || open[0].Deferred || w.count() != 1 {
					t.Fatalf("%d windows, open: %+v", w.count(), open)
				}
				if _, shown, _ := r.Waiting(); len(shown) != 0 {
					t.Errorf("%v are shown for nobody", shown)
				}
				answer <- spec.ReachOnce
				if err := <-ended; err != nil || len(r.Open()) != 0 {
					t.Errorf("%v; open: %+v", err, r.Open())
				}
			})
		})
	}
}

// A host that asks again in the last second must not have its owner told that the time is over.
func TestAskedAgainAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &window{answer: nobody}
		r := newRig(t, w)
		by, ended := client("c"), make(chan error, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r.Ask(ctx, by, pay(by, `{}`))
		time.Sleep(59 * time.Second)
		go r.ask(t.Context(), by, pay(by, `{}`), ended)
		time.Sleep(100 * time.Second)
		open := r.Open()
		if len(open) != 1 || open[0].Deferred || w.count() != 1 {
			t.Fatalf("%d windows, open: %+v", w.count(), open)
		}
		if n, gone, _ := r.Waiting(); n != 1 || len(gone) != 0 {
			t.Errorf("%d wait, %v are shown for nobody", n, gone)
		}
		r.answered(t, open[0], spec.ReachOnce, ByDashboard)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		start := time.Now()
		r.Ask(t.Context(), by, pay(by, `{"n":2}`))
		if d := time.Since(start); d != askFor || w.count() != 2 { // nothing shows the first one
			t.Errorf("the next question took %v", d)
		}
	})
}

// The owner answers in the moment in which the client gives up: the yes must be there when it asks again.
func TestAnswerAsClientGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &window{answer: nobody})
		by, ended := client("c"), make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go r.ask(ctx, by, pay(by, `{}`), ended)
		synctest.Wait()
		q := r.find(r.Open()[0].ID)
		if err := r.begin(q, spec.AskResult{Reach: spec.ReachOnce}, ByCommand); err != nil {
			t.Fatal(err)
		}
		cancel()
		synctest.Wait() // the answer is being stored
		r.apply(q, policy.Rule{}, outcome{"ok", spec.ReachOnce, ByCommand, nil})
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the call has ended with %v", err)
		}
		if _, err := r.Ask(t.Context(), by, pay(by, `{}`)); err != nil {
			t.Errorf("the same call again: %v", err)
		}
	})
}

// A hub that ends with its last client has asked: the next one must know the question, the answer to it, and
// that the call was made.
func TestLateAnswerOutlivesTheHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &window{answer: nobody}
		r := newRig(t, w)
		by, ended := client("c"), make(chan error, 1)
		restart := func() {
			r.Close(errors.New("the hub ends"))
			r.open(t, w)
		}
		ask := func() error {
			_, err := r.Ask(t.Context(), by, pay(by, `{"to":"Ann","secret":"`+strings.Repeat("s", maxValue*2)+`"}`))
			return err
		}
		go func() { ended <- ask() }()
		synctest.Wait()
		before := r.Open()[0]
		restart()
		<-ended
		w.away = true
		open := r.Open()
		if len(open) != 1 || !open[0].Deferred || open[0].Digest != before.Digest || !slices.Equal(open[0].Reaches, before.Reaches) || open[0].Args[0].Value != "Ann" {
			t.Fatalf("open: %+v", open)
		}
		for id, b := range r.late {
			if strings.Contains(string(b), strings.Repeat("s", maxValue+1)) || id != before.ID {
				t.Errorf("of %s more is stored than was shown: %s", id, b)
			}
		}
		r.answered(t, open[0], spec.ReachOnce, ByCommand)
		time.Sleep(time.Hour)
		restart()
		if open := r.Open(); len(open) != 1 || !open[0].Allowed || r.Answer(before.ID, before.Digest, spec.AskResult{Reach: spec.ReachApp}, ByCommand) != ErrReach {
			t.Fatalf("open: %+v", open)
		}
		r.full = errors.New("disk full")
		denied(t, ask(), "disk full")
		r.full = nil
		if err := ask(); err != nil {
			t.Errorf("the call that was allowed: %v", err)
		}
		restart()
		denied(t, ask(), "approve")
		r.answered(t, r.Open()[0], spec.ReachOnce, ByCommand)
		restart()
		back := r.Open()[0]
		r.full = errors.New("disk full")
		if err := r.Answer(back.ID, back.Digest, spec.AskResult{Reach: spec.ReachNo}, ByCommand); err != r.full {
			t.Errorf("what is taken back and not stored: %v", err)
		}
		r.full = nil
		restart()
		r.answered(t, r.Open()[0], spec.ReachNo, ByCommand) // takes it back
		restart()
		if open := r.Open(); len(open) != 0 || len(r.late) != 0 {
			t.Errorf("open: %+v", open)
		}
		denied(t, ask(), "approve")
		r.answered(t, r.Open()[0], spec.ReachApp, ByCommand)
		if got := r.rules[0]; got.Client != "c" || got.Pin != item("v1").Pin() || got.Tool != "pay" || len(r.late) != 0 {
			t.Errorf("the rule is %+v; stored: %v", got, r.late)
		}
	})
}

// What a question has shown must not stay in the store when its time is over, also if nobody looks.
func TestStoredQuestionsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &window{away: true})
		by := client("c")
		r.Ask(t.Context(), by, pay(by, `{}`))
		time.Sleep(deferredFor + keepEvery)
		synctest.Wait()
		if len(r.late) != 0 {
			t.Error("it is stored still")
		}
		r.Ask(t.Context(), by, pay(by, `{}`))
		r.Close(errors.New("the hub ends"))
		time.Sleep(deferredFor)
		r.open(t, &window{away: true})
		r.Sweep()
		if len(r.late) != 0 {
			t.Error("the next hub has it")
		}
	})
}

// A yes is good where it was given for: not in another browser with other logins, nor within another page.
func TestLateYesElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &window{away: true})
		ask := func(top string, bound ...string) error {
			by := client("c")
			by.Bound = bound
			c := pay(by, `{}`)
			c.Top = top
			_, err := r.Ask(t.Context(), by, c)
			return err
		}
		denied(t, ask("https://shop.example", "work"), "approve")
		r.answered(t, r.Open()[0], spec.ReachOnce, ByCommand)
		denied(t, ask("https://shop.example", "home"), "approve")
		denied(t, ask("https://shop.example"), "approve")
		denied(t, ask("https://evil.example", "work"), "approve")
		if err := ask("https://shop.example", "work"); err != nil {
			t.Error(err)
		}
	})
}

// A client that asks again and again must not have the store written each time.
func TestStoreIsSpared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &window{answer: nobody}
		r := newRig(t, w)
		by := client("c")
		for range 50 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			r.Ask(ctx, by, pay(by, `{}`))
			cancel()
		}
		w.away = true
		for range 50 {
			r.Ask(t.Context(), by, pay(by, `{"n":1}`))
		}
		if r.writes != 2 || w.count() != 1 {
			t.Errorf("%d writes, %d windows", r.writes, w.count())
		}
	})
}

// Whatever happens at once, no call may pass that the owner has not allowed, and none twice.
func TestNoCallPassesTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &window{answer: nobody})
		var asking, answering sync.WaitGroup
		var passed, allowed atomic.Int32
		stop := make(chan struct{})
		for i := range 8 {
			answering.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					for _, q := range r.Open() {
						if i%2 == 0 && !q.Allowed && r.Answer(q.ID, q.Digest, spec.AskResult{Reach: spec.ReachOnce}, ByCommand) == nil {
							allowed.Add(1)
						}
					}
					time.Sleep(time.Duration(i+1) * time.Millisecond)
				}
			})
		}
		for i := range 12 {
			by := client("c")
			by.Session = fmt.Sprint(i % 3)
			asking.Go(func() {
				for n := range 50 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n%7)*time.Millisecond)
					if a, err := r.Ask(ctx, by, pay(by, `{}`)); err == nil {
						if n%5 == 0 {
							r.Unsent(a, context.Canceled)
						} else {
							passed.Add(1)
						}
					}
					cancel()
					time.Sleep(20 * time.Second) // else it asks too often
				}
			})
		}
		asking.Wait()
		close(stop)
		answering.Wait()
		left := 0
		for _, q := range r.Open() {
			if q.Allowed {
				left++
			}
		}
		t.Logf("%d passed, %d may still, %d were allowed", passed.Load(), left, allowed.Load())
		if int(passed.Load())+left != int(allowed.Load()) || passed.Load() == 0 {
			t.Errorf("%d passed and %d may still, of %d that were allowed", passed.Load(), left, allowed.Load())
		}
	})
}

// A yes must go to the call that waits still, not to the one that has ended.
func TestIdenticalCallThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &window{answer: nobody})
		by := client("c")
		gone, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		for _, ctx := range []context.Context{t.Context(), gone} {
			go r.ask(ctx, by, pay(by, `{}`), ended)
			synctest.Wait()
		}
		cancel()
		<-ended
		open := r.Open()
		if len(open) != 1 || open[0].Deferred || open[0].Count != 1 {
			t.Fatalf("open: %+v", open)
		}
		r.answered(t, open[0], spec.ReachOnce, ByDashboard)
		if err := <-ended; err != nil || len(r.Open()) > 0 {
			t.Error(err, r.Open())
		}
	})
}

// A yes that is given back must be given back once: the call that was told of the cancellation may say so
// again after another one has used the yes up.
func TestGivenBackOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		by := client("c")
		_, err := r.Ask(t.Context(), by, pay(by, `{}`))
		denied(t, err, "approve")
		r.answered(t, r.Open()[0], spec.ReachOnce, ByCommand)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		a, err := r.Ask(ctx, by, pay(by, `{}`))
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if _, err := r.Ask(t.Context(), by, pay(by, `{}`)); err != nil {
			t.Fatalf("the call that asks again: %v", err)
		}
		r.Unsent(a, context.Canceled)
		_, err = r.Ask(t.Context(), by, pay(by, `{}`))
		denied(t, err, "approve")
	})
}

// The record names the session that waited, also where an earlier one of the client asked the same.
func TestRecordOfAJoinedQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &window{answer: nobody})
		first, second := client("c"), client("c")
		first.Said, second.Said, second.Session = "Claude", "a script in cron", "s-2"
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go r.ask(ctx, first, pay(first, `{}`), ended)
		synctest.Wait()
		cancel()
		<-ended
		go r.ask(t.Context(), second, pay(second, `{}`), ended)
		synctest.Wait()
		open := r.Open()
		if len(open) != 1 {
			t.Fatalf("open: %+v", open)
		}
		r.answered(t, open[0], spec.ReachOnce, ByDashboard)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		e := r.entries[len(r.entries)-1]
		if e.Said != "a script in cron" || e.Session != "s-2" || e.Outcome != "ok" {
			t.Errorf("%+v", e)
		}
	})
}

// A question that is shown, and whose client gives up when many others of it are open, stays, and is stored
// for as long as it is open.
func TestShownQuestionStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &window{answer: nobody}
		r := newRig(t, w)
		by := client("c")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go r.ask(ctx, by, pay(by, `{"n":0}`), ended)
		synctest.Wait()
		id := r.Open()[0].ID
		w.away = true
		for i := range maxOfClient {
			_, err := r.Ask(t.Context(), by, pay(by, fmt.Sprintf(`{"n":%d}`, i+1)))
			denied(t, err, "approve")
		}
		cancel()
		<-ended
		synctest.Wait()
		open := map[string]bool{}
		for _, q := range r.Open() {
			open[q.ID] = true
		}
		if !open[id] {
			t.Error("the question that is shown has ended")
		}
		for stored := range r.late {
			if !open[stored] {
				t.Errorf("%s is stored, and not open", stored)
			}
		}
	})
}
