package tenant

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub"
	"tabhub/hub/call"
	"tabhub/hub/demo"
	"tabhub/hub/face/mcpserver"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport"
)

// opener opens tenants of real parts, and counts them.
type opener struct {
	mu     sync.Mutex
	opened []*Tenant
	err    error         // why it opens none
	wait   chan struct{} // it opens when this is closed; nil: at once
	store  storagetest.Memory
}

func (o *opener) open(ctx context.Context, user spec.UserID) (*Tenant, error) {
	if o.wait != nil {
		<-o.wait
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return nil, o.err
	}
	transport := tabtransport.NewPeers()
	h, err := hub.Open(ctx, hub.Options{User: user, Mode: policy.ModeOpen, Transport: transport, Store: &o.store})
	if err != nil {
		return nil, err
	}
	tab, err := demo.Join(ctx, transport)
	if err != nil {
		return nil, err
	}
	t := &Tenant{User: user, Hub: h, MCP: mcpserver.New(h.ClientView(), mcpserver.Options{}), Demo: tab}
	o.opened = append(o.opened, t)
	return t, nil
}

// serves reports whether a tenant's hub takes calls.
func serves(t *testing.T, of *Tenant) bool {
	t.Helper()
	result, err := of.Hub.Calls.Call(t.Context(), call.Request{By: tester, Name: "website_tool_demo_tabhub__search_products", Args: []byte(`{"query":"mug"}`)})
	return err == nil && !strings.Contains(string(result), `"isError":true`)
}

func bubble(t *testing.T, f func(t *testing.T, o *opener, r *Registry)) {
	synctest.Test(t, func(t *testing.T) {
		o := new(opener)
		r := New(o.open, slog.New(slog.DiscardHandler))
		f(t, o, r)
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// All requests of a user reach one hub, however many come first at once, and those of
// another reach another.
func TestOneTenantForAUser(t *testing.T) {
	bubble(t, func(t *testing.T, o *opener, r *Registry) {
		o.wait = make(chan struct{})
		got := make(chan *Tenant, 8)
		for range cap(got) {
			go func() {
				tenant, err := r.Get(t.Context(), "ann")
				if err != nil {
					t.Error(err)
				}
				got <- tenant
			}()
		}
		synctest.Wait()
		close(o.wait)
		ann := <-got
		for range cap(got) - 1 {
			if other := <-got; other != ann {
				t.Error("a user has two tenants")
			}
		}
		bob, err := r.Get(t.Context(), "bob")
		if err != nil || bob == ann || bob.User != "bob" || len(o.opened) != 2 {
			t.Errorf("bob got %+v, %v; %d were opened", bob, err, len(o.opened))
		}
		if _, err := r.Get(t.Context(), ""); err == nil {
			t.Error("nobody has a tenant")
		}
		if open := r.Open(); len(open) != 2 || !slices.Contains(open, ann) || !slices.Contains(open, bob) {
			t.Errorf("open are %v", open)
		}
	})
}

// A client that goes while a tenant is opened does not take it from others.
func TestGetEndsBeforeTheOpening(t *testing.T) {
	bubble(t, func(t *testing.T, o *opener, r *Registry) {
		o.wait = make(chan struct{})
		gone := errors.New("the client has gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(gone)
		if _, err := r.Get(ctx, "ann"); !errors.Is(err, gone) {
			t.Errorf("got %v, want the context's cause", err)
		}
		close(o.wait)
		if tenant, err := r.Get(t.Context(), "ann"); err != nil || len(o.opened) != 1 || tenant != o.opened[0] || !serves(t, tenant) {
			t.Errorf("the next client got %+v, %v; %d were opened", tenant, err, len(o.opened))
		}
	})
}

// After an error, such as a full disk, the next request opens the tenant again.
func TestFailedOpeningIsTriedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, o *opener, r *Registry) {
		o.err = errors.New("the disk is full")
		if _, err := r.Get(t.Context(), "ann"); !errors.Is(err, o.err) {
			t.Errorf("got %v, want %v", err, o.err)
		}
		if open := r.Open(); len(open) != 0 {
			t.Errorf("open are %v", open)
		}
		o.err = nil
		if tenant, err := r.Get(t.Context(), "ann"); err != nil || !serves(t, tenant) {
			t.Errorf("got %v, %v", tenant, err)
		}
	})
}

// A hub whose store another one has taken over is closed, and the user's next request gets
// a new one, which takes the store back.
func TestTenantThatEndedIsReplaced(t *testing.T) {
	bubble(t, func(t *testing.T, o *opener, r *Registry) {
		first, err := r.Get(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		other, err := hub.Open(t.Context(), hub.Options{User: "ann", Mode: policy.ModeOpen, Transport: tabtransport.NewPeers(), Store: &o.store})
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close(t.Context())
		if err := first.Hub.SetSite(storage.Site{Domain: "example.com"}); err != nil {
			t.Fatal(err)
		}
		<-first.Hub.Core.Done()
		second, err := r.Get(t.Context(), "ann")
		if err != nil || second == first || !serves(t, second) {
			t.Errorf("the next request got %+v, %v", second, err)
		}
		if serves(t, first) {
			t.Error("the hub that has lost its store goes on")
		}
	})
}

// After LetGo a user's hub serves until it is closed, once, and then another one does.
func TestLetGo(t *testing.T) {
	bubble(t, func(t *testing.T, o *opener, r *Registry) {
		first, err := r.Get(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		given := 0
		first.GiveBack = func(context.Context) error { given++; return nil }
		if open, ok := r.Has("ann"); !ok || open != first {
			t.Errorf("before, Has returns %v, %v", open, ok)
		}
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if err := r.LetGo(t.Context(), "ann"); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		if _, ok := r.Has("ann"); ok || serves(t, first) || given != 1 {
			t.Errorf("after: open %v, given back %d times", ok, given)
		}
		second, err := r.Get(t.Context(), "ann")
		if err != nil || second == first || !serves(t, second) {
			t.Errorf("the next request got %+v, %v", second, err)
		}
		if err := r.LetGo(t.Context(), "bob"); err != nil {
			t.Errorf("nobody's: %v", err)
		}
		o.err = errors.New("the disk is full")
		o.wait = make(chan struct{})
		go r.Get(t.Context(), "eve")
		synctest.Wait()
		time.AfterFunc(time.Second, func() { close(o.wait) })
		if err := r.LetGo(t.Context(), "eve"); err != nil {
			t.Errorf("one that cannot be opened: %v", err)
		}
	})
}

// While the process ends, what is open is still found, and nothing is opened.
func TestDrain(t *testing.T) {
	bubble(t, func(t *testing.T, o *opener, r *Registry) {
		ann, err := r.Get(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		r.Drain(t.Context())
		if again, err := r.Get(t.Context(), "ann"); err != nil || again != ann || !serves(t, again) {
			t.Errorf("ann got %+v, %v", again, err)
		}
		if _, err := r.Get(t.Context(), "bob"); !errors.Is(err, ErrClosed) {
			t.Errorf("bob got %v, want %v", err, ErrClosed)
		}
	})
}

// A store that does not answer must not keep the process from ending in time.
func TestDrainEndsBeforeTheOpening(t *testing.T) {
	bubble(t, func(t *testing.T, o *opener, r *Registry) {
		o.wait = make(chan struct{})
		go r.Get(t.Context(), "ann")
		synctest.Wait()
		time.AfterFunc(10*time.Second, func() { close(o.wait) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if r.Drain(ctx); time.Since(start) != time.Second {
			t.Errorf("Drain returned after %v", time.Since(start))
		}
	})
}

// Close leaves nothing open, not even what is about to be.
func TestClose(t *testing.T) {
	bubble(t, func(t *testing.T, o *opener, r *Registry) {
		if _, err := r.Get(t.Context(), "ann"); err != nil {
			t.Fatal(err)
		}
		o.wait = make(chan struct{})
		go r.Get(t.Context(), "bob")
		synctest.Wait()
		time.AfterFunc(time.Second, func() { close(o.wait) })
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if len(o.opened) != 2 || serves(t, o.opened[0]) || serves(t, o.opened[1]) {
			t.Errorf("of %d tenants one still serves", len(o.opened))
		}
		if _, err := r.Get(t.Context(), spec.UserID("eve")); !errors.Is(err, ErrClosed) {
			t.Errorf("eve got %v, want %v", err, ErrClosed)
		}
	})
}

// tester is the caller in tests.
var tester = &consent.Caller{Principal: policy.Owner, Said: "test"}

// A node that moves all users away also finds users whose tenants are being opened or closed, and
// can wait for them. Opening a tenant takes a bounded time.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := make(chan struct{})
		o := &opener{wait: wait}
		r := New(o.open, slog.New(slog.DiscardHandler))
		go r.Get(t.Context(), "ann")
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Settle(short, "ann"); err == nil || !slices.Equal(r.Users(), []spec.UserID{"ann"}) {
			t.Errorf("while it is being opened: %v, %q", err, r.Users())
		}
		close(wait)
		synctest.Wait() // until Get has the tenant: one that is about to leave it would open again
		if err := r.Settle(t.Context(), "ann"); err != nil {
			t.Error(err)
		}
		if _, open := r.Has("ann"); !open {
			t.Error("it is not open")
		}
		if err := r.Settle(t.Context(), "ann"); err != nil {
			t.Error(err)
		}
		closing := make(chan struct{})
		o.opened[0].GiveBack = func(context.Context) error { <-closing; return nil }
		go r.LetGo(t.Context(), "ann")
		synctest.Wait()
		settled := make(chan error, 1)
		go func() { settled <- r.Settle(t.Context(), "ann") }()
		synctest.Wait()
		if _, open := r.Has("ann"); open || len(settled) > 0 || len(r.Users()) != 1 {
			t.Errorf("while it is being closed: open is %t, %d, %q", open, len(settled), r.Users())
		}
		close(closing)
		if err := <-settled; err != nil || len(r.Users()) != 0 {
			t.Errorf("%v, %q", err, r.Users())
		}

		stuck := New(func(ctx context.Context, _ spec.UserID) (*Tenant, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}, slog.New(slog.DiscardHandler))
		began := time.Now()
		if _, err := stuck.Get(t.Context(), "ann"); err == nil || time.Since(began) != openTimeout {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}
