package hub

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/call"
	"tabhub/hub/core"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// relayed is what the client has forwarded to an extension.
func (w *asking) relayed() *policy.Action {
	return &policy.Action{Principal: w.claude.Principal, Session: w.claude.Session, Of: policy.OfRelay, Site: policy.Site{Any: true}, Name: "click", Class: policy.Write}
}

func (w *asking) edit(edit func(*policy.Document)) {
	w.t.Helper()
	if err := w.hub.Rules.EditPolicy("test", func(doc *policy.Document) error { edit(doc); return nil }); err != nil {
		w.t.Fatal(err)
	}
}

func (w *asking) pause(p policy.Pause) {
	w.edit(func(doc *policy.Document) { doc.Pauses = []policy.Pause{p} })
}

func (w *asking) allowRelay() {
	w.edit(func(doc *policy.Document) {
		doc.Put(policy.Rule{ID: "r1", Effect: policy.Allow, Class: "relay", Tool: "click"}, time.Now())
	})
}

// running returns the only request that is under way.
func (w *asking) running() call.Running {
	w.t.Helper()
	synctest.Wait()
	all, n := w.hub.Owner.Running()
	if n != 1 {
		w.t.Fatalf("%d are under way: %+v", n, all)
	}
	return all[0]
}

func (w *asking) fails(err error, code spec.FailureCode, words string) {
	w.t.Helper()
	if f, ok := err.(*core.Failure); !ok || f.Code != code || f.Message != words {
		w.t.Errorf("%v is not %s: %s", err, code, words)
	}
}

// The owner must see what a client has forwarded from when they are asked about it until its
// end, and be able to stop it in each phase.
func TestForwarded(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		if p, err := w.hub.Calls.ForwardAtOnce(w.claude, w.relayed()); p != nil || err != nil {
			t.Fatalf("what is to be asked about is let pass: %v, %v", p, err)
		}
		type outcome struct {
			*call.Forwarded
			err error
		}
		done := make(chan outcome, 1)
		pass := func(ctx context.Context) {
			go func() {
				p, err := w.hub.Calls.Forward(ctx, w.claude, w.relayed(), json.RawMessage(`{}`))
				done <- outcome{p, err}
			}()
		}
		pass(t.Context())
		w.asked()
		r := w.running()
		if r.Client != "claude" || r.Tool != "click" || r.Phase != call.PhaseAsking || r.Browser != "" || r.Began.IsZero() {
			t.Errorf("%+v", r)
		}
		w.hub.Owner.Stop(r.ID)
		w.fails((<-done).err, spec.FailStopped, "the owner has stopped this call; it was not sent")

		ctx, cancel := context.WithCancel(t.Context())
		pass(ctx)
		w.says(w.asked(), spec.ReachOnce)
		p := <-done
		cancel() // was for the question only
		if p.err != nil {
			t.Fatal(p.err)
		}
		stopped := make(chan struct{})
		if err := p.OnStop(func() { close(stopped) }); err != nil {
			t.Fatal(err)
		}
		p.Sent("Chrome 141")
		if r := w.running(); r.ID != p.ID() || r.Phase != call.PhaseRunning || r.Decision != "ask" || r.Browser != "Chrome 141" {
			t.Errorf("%+v", r)
		}
		if err := p.Stopped(true); err != nil {
			t.Error(err)
		}
		w.pause(policy.Pause{Site: "shop.example"}) // which it may reach
		<-stopped
		w.fails(p.Stopped(true), spec.FailPaused, "the owner has paused this while the call was under way; it may have taken effect")
		p.End()
		if _, err := w.hub.Calls.ForwardAtOnce(w.claude, w.relayed()); err == nil {
			t.Error("what is paused is let pass")
		}
		if all, n := w.hub.Owner.Running(); n != 0 {
			t.Errorf("is under way at the end: %+v", all)
		}
	})
}

// What is let pass at once must be as much the owner's to stop.
func TestForwardedAtOnce(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		w.allowRelay()
		p, err := w.hub.Calls.ForwardAtOnce(w.claude, w.relayed())
		if err != nil {
			t.Fatal(err)
		}
		p.Sent("Chrome 141")
		if r := w.running(); r.Decision != "allow" || !w.hub.Owner.Stop(r.ID) || w.hub.Owner.Stop("") {
			t.Errorf("%+v", r)
		}
		w.fails(p.OnStop(func() { t.Error("was stopped before") }), spec.FailStopped, "the owner has stopped this call; it was not sent")
		p.End()
	})
}

// What a tool of the hub's does outside its tabs must end when the owner pauses it, and is
// shown as that tool only.
func TestPauseEndsWhatAToolDoes(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		w.allowRelay()
		done := make(chan error, 1)
		go func() {
			done <- w.hub.Calls.Admit(t.Context(), w.claude, w.relayed(), json.RawMessage(`{}`), func(ctx context.Context) error {
				<-ctx.Done()
				return context.Cause(ctx)
			})
		}()
		synctest.Wait()
		if all, n := w.hub.Owner.Running(); n != 0 {
			t.Errorf("%+v", all)
		}
		w.pause(policy.Pause{Client: "claude"})
		w.fails(<-done, spec.FailPaused, "the owner has paused this while the call was under way; it may have taken effect")
	})
}
