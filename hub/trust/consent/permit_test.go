package consent

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// late has the owner be asked about a call that nobody waits for, and returns the question.
func late(t *testing.T, r *rig, by *Caller, args string) Question {
	t.Helper()
	_, err := r.Ask(t.Context(), by, pay(by, args))
	denied(t, err, "approve")
	open := r.Open()
	return open[len(open)-1]
}

// An answer for a session must not become one for 24 hours, in any session, for another call that the owner
// has not looked at.
func TestSessionYesPermitsNoOtherCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		by, other := client("c"), client("c")
		other.Session = "another"
		late(t, r, by, `{"eur":5000}`)
		r.answered(t, late(t, r, by, `{"eur":5}`), spec.ReachSession, ByCommand)
		if _, err := r.Ask(t.Context(), other, pay(other, `{"eur":5000}`)); err == nil {
			t.Error("a call of another session passes, by an answer to another question")
		}
		if _, err := r.Ask(t.Context(), other, pay(other, `{"eur":5}`)); err != nil {
			t.Errorf("the call that was allowed: %v", err)
		}
	})
}

// A client must not be able to keep a yes alive by using it and giving up, over and over.
func TestGivenBackIsNotLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		by := client("c")
		r.answered(t, late(t, r, by, `{}`), spec.ReachOnce, ByCommand)
		for _, good := range []bool{true, true, false} {
			time.Sleep(PermitFor/2 - time.Hour)
			a, err := r.Ask(t.Context(), by, pay(by, `{}`))
			r.Unsent(a, context.Canceled)
			if good != (err == nil) {
				t.Errorf("good %v, got %v", good, err)
			}
		}
	})
}

// After a no, no identical call may pass by a yes that was given before.
func TestNoAfterYes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &window{answer: nobody})
		a, b := client("c"), client("c")
		b.Session = "another"
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go r.ask(ctx, a, pay(a, `{}`), ended)
		go r.ask(ctx, b, pay(b, `{}`), ended)
		synctest.Wait()
		cancel()
		<-ended
		<-ended
		open := r.Open()
		if len(open) != 2 {
			t.Fatalf("open: %+v", open)
		}
		r.answered(t, open[0], spec.ReachOnce, ByCommand)
		r.answered(t, open[1], spec.ReachNo, ByCommand)
		_, err := r.Ask(t.Context(), a, pay(a, `{}`))
		denied(t, err, "declined")

		time.Sleep(quietFor)
		r.opts.Browser.(*window).away = true
		r.answered(t, late(t, r, a, `{}`), spec.ReachOnce, ByCommand)
		used, err := r.Ask(t.Context(), a, pay(a, `{}`))
		if err != nil {
			t.Fatal(err)
		}
		r.answered(t, late(t, r, b, `{}`), spec.ReachNo, ByCommand)
		r.Unsent(used, context.Canceled)
		_, err = r.Ask(t.Context(), a, pay(a, `{}`))
		denied(t, err, "declined")
	})
}

// A pause or a new rule must end an answer that is being stored, too.
func TestWithdrawnWhileStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		by := client("c")
		q := late(t, r, by, `{}`)
		storing, goOn := make(chan struct{}), make(chan struct{})
		r.opts.Remember = func(policy.Rule) error { close(storing); <-goOn; return nil }
		go r.Answer(q.ID, q.Digest, spec.AskResult{Reach: spec.ReachSession}, ByCommand)
		<-storing
		r.Withdraw(func(*policy.Action) error { return errors.New("paused") })
		close(goOn)
		synctest.Wait()
		if open := r.Open(); len(open) != 0 {
			t.Errorf("open: %+v", open)
		}
	})
}

// The next round of a call must not pass if it was withdrawn meanwhile.
func TestWithdrawnBetweenRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		by := client("c")
		r.answered(t, late(t, r, by, `{}`), spec.ReachOnce, ByCommand)
		by.Round = "1"
		if _, err := r.Ask(t.Context(), by, pay(by, `{}`)); err != nil {
			t.Fatal(err)
		}
		r.Withdraw(func(*policy.Action) error { return errors.New("paused") })
		by.After, by.Round = "1", "2"
		_, err := r.Ask(t.Context(), by, pay(by, `{}`))
		denied(t, err, "approve")
	})
}

// A client that asks much must not push out what the owner has allowed.
func TestFloodKeepsAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		by := client("c")
		r.answered(t, late(t, r, by, `{}`), spec.ReachOnce, ByCommand)
		for i := range 4 * maxOpen {
			who := client(fmt.Sprint("c", i%6))
			r.Ask(t.Context(), by, pay(by, fmt.Sprint(i)))
			r.Ask(t.Context(), who, pay(who, fmt.Sprint(i)))
		}
		if _, err := r.Ask(t.Context(), by, pay(by, `{}`)); err != nil {
			t.Error(err)
		}
		if n := len(r.late); n > 2*maxOpen || r.writes > 7*maxUnseen+2 {
			t.Errorf("%d are stored, in %d writes", n, r.writes)
		}
	})
}

// That a no takes back a yes must be on disk when it is confirmed.
func TestNoIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &window{answer: nobody})
		a, b := client("c"), client("c")
		b.Session = "another"
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go r.ask(ctx, a, pay(a, `{}`), ended)
		synctest.Wait()
		go r.ask(t.Context(), b, pay(b, `{}`), ended)
		synctest.Wait()
		cancel()
		<-ended
		open := r.Open()
		r.answered(t, open[0], spec.ReachOnce, ByCommand)
		r.full = errors.New("disk full")
		if err := r.Answer(open[1].ID, open[1].Digest, spec.AskResult{Reach: spec.ReachNo}, ByCommand); err != r.full {
			t.Errorf("got %v", err)
		}
	})
}

// A thousand clients that ask and leave leave nothing but the questions that may be open.
func TestClientsThatLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &window{answer: nobody})
		for i := range 1000 {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			by := client(fmt.Sprint(i))
			go r.ask(ctx, by, pay(by, `{}`), ended)
			synctest.Wait()
			cancel()
			<-ended
		}
		time.Sleep(askFor)
		synctest.Wait()
		for i := range 100 { // the windows are closed
			by := client(fmt.Sprint("later", i))
			r.opts.Browser.(*window).away = true
			r.Ask(t.Context(), by, pay(by, `{}`))
		}
		if n, all := len(r.late), len(r.Open()); n > maxOpen || all > maxOpen {
			t.Errorf("%d are stored, %d open", n, all)
		}
		if n, _, _ := r.Waiting(); n > 0 {
			t.Errorf("%d are shown", n)
		}
	})
}
