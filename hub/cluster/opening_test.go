package cluster

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/spec"
)

// slow are hubs, some of which take long to open or cannot be opened.
type slow struct {
	Tenants
	take  func(spec.UserID) (time.Duration, error)
	tries atomic.Int64
}

func (s *slow) Open(ctx context.Context, user spec.UserID) error {
	s.tries.Add(1)
	took, err := s.take(user)
	select {
	case <-time.After(took):
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// opener is a node that opens hubs.
func opener(take func(spec.UserID) (time.Duration, error)) (*Users, *slow) {
	tenants := &slow{take: take}
	n := &Node{self: Member{Name: "node-0", State: Ready}}
	return NewUsers(UsersOptions{Node: n, Tenants: tenants}), tenants
}

// remembered returns the number of remembered openings.
func (u *Users) remembered() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.openings)
}

// Any number of requests of a user whose hub does not open take one turn: another user's hub opens
// at once.
func TestOneTurnForEachUser(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u, tenants := opener(func(user spec.UserID) (time.Duration, error) {
			if user == "stuck" {
				return time.Hour, nil
			}
			return time.Millisecond, nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		var asking sync.WaitGroup
		for range 10 * maxOpening {
			asking.Go(func() {
				if _, err := u.open(ctx, "stuck"); !errors.Is(err, context.Canceled) {
					t.Errorf("it is open: %v", err)
				}
			})
		}
		synctest.Wait()
		began := time.Now()
		if _, err := u.open(t.Context(), "other"); err != nil || time.Since(began) > time.Millisecond {
			t.Errorf("another user's hub opens after %s: %v", time.Since(began), err)
		}
		cancel()
		asking.Wait()
		if n := tenants.tries.Load(); n > 2+10*maxOpening || u.remembered() != 0 {
			t.Errorf("%d tries, and %d openings are remembered", n, u.remembered())
		}
	})
}

// A request that ends while it opens a hub must not fail the others that wait for it.
func TestOpenedForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u, _ := opener(func(spec.UserID) (time.Duration, error) { return time.Second, nil })
		first, cancel := context.WithCancel(t.Context())
		var asking sync.WaitGroup
		asking.Go(func() { _, _ = u.open(first, "ann") })
		synctest.Wait()
		for range 3 {
			asking.Go(func() {
				if _, err := u.open(t.Context(), "ann"); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		cancel()
		asking.Wait()
	})
}

// A hub that cannot be opened is tried less and less often, and without a rest after a success.
func TestFailedOpensRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		damaged := errors.New("damaged")
		var mended atomic.Bool
		u, tenants := opener(func(spec.UserID) (time.Duration, error) {
			if mended.Load() {
				return 0, nil
			}
			return 0, damaged
		})
		ask := func() error { _, err := u.open(t.Context(), "ann"); return err }
		for range 6000 { // a minute of a client that asks all the time
			if err := ask(); !errors.Is(err, damaged) {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if n := tenants.tries.Load(); n < 10 || n > 20 {
			t.Errorf("tried %d times in a minute", n)
		}
		if n := u.Stats().Failed; n != tenants.tries.Load() {
			t.Errorf("%d failures are counted of %d", n, tenants.tries.Load())
		}
		mended.Store(true)
		time.Sleep(maxRest)
		if err := ask(); err != nil || u.remembered() != 0 {
			t.Errorf("after it was mended: %v, %d openings are remembered", err, u.remembered())
		}
		mended.Store(false)
		if err := ask(); !errors.Is(err, damaged) {
			t.Error(err)
		}
		time.Sleep(2*maxRest + time.Second)
		if u.remembered() != 0 {
			t.Error("a failure is remembered for ever")
		}
	})
}
