package tenant

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// taken counts how many of n requests or sockets pass.
func taken(t *testing.T, n int, take func(gone <-chan struct{}) (func(), error)) (passed int, leave func()) {
	t.Helper()
	gone := make(chan struct{})
	close(gone) // nobody waits to be refused
	var leaves []func()
	for range n {
		l, err := take(gone)
		if _, limited := errors.AsType[*LimitError](err); err != nil && !limited {
			t.Fatal(err)
		}
		if err == nil {
			leaves = append(leaves, l)
		}
	}
	return len(leaves), func() {
		for _, l := range leaves {
			l()
		}
	}
}

// A user gets what the limits let them, again when time has passed or something has ended, and
// takes nothing of another's.
func TestShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		all := NewShares(Limits{Rate: 20, Calls: 1, Sockets: 5})
		a, b := all.New(), all.New()
		client := func(s *Share) func(<-chan struct{}) (func(), error) {
			return func(gone <-chan struct{}) (func(), error) { return s.Request(true, gone) }
		}
		own := func(gone <-chan struct{}) (func(), error) { return a.Request(false, gone) }
		sockets := func(s *Share, client bool) func(<-chan struct{}) (func(), error) {
			return func(gone <-chan struct{}) (func(), error) { return s.Socket(client, gone) }
		}
		expect := func(what string, n, want int, take func(<-chan struct{}) (func(), error)) (leave func()) {
			t.Helper()
			got, leave := taken(t, n, take)
			if got != want {
				t.Errorf("%s: %d of %d pass, want %d", what, got, n, want)
			}
			return leave
		}
		expect("under way", 100, 1+spare, client(a))()
		expect("at once", 100, burst*20-1-spare, client(a))()
		expect("when that is used up", 100, 0, client(a))
		expect("the user's own, beside those of clients", 20, 20, own)()
		expect("another user's", 20, 20, client(b))()
		time.Sleep(time.Second)
		expect("a second later", 100, 20, client(a))()
		time.Sleep(time.Second)
		leave := expect("sockets", 100, 5, sockets(a, true))
		expect("sockets of browsers, beside those of clients", 5, 5, sockets(a, false))
		leave()
		expect("sockets when others have ended", 5, 5, sockets(a, true))
		if requests, sockets := all.Refused(); requests != 35+85+100+80 || sockets != 95 {
			t.Errorf("%d requests and %d sockets are counted as refused", requests, sockets)
		}
		unbounded := NewShares(Limits{}).New()
		expect("without limits", 5000, 5000, client(unbounded))
		var none *Share
		expect("of nobody", 5000, 5000, sockets(none, true))
	})
}

// A client that repeats a refused request at once is slowed down, but cannot make the process keep
// any number of requests.
func TestRefusalsArePaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares(Limits{Rate: 1}).New()
		taken(t, burst, func(gone <-chan struct{}) (func(), error) { return s.Request(true, gone) })
		began := time.Now()
		var mu sync.Mutex
		var at []time.Duration
		var asking sync.WaitGroup
		for range 2 * maxPaused {
			asking.Go(func() {
				_, err := s.Request(true, t.Context().Done())
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					t.Error("a request passes that is too much")
				}
				at = append(at, time.Since(began))
			})
		}
		asking.Wait()
		for i, d := range at {
			if waits := i >= maxPaused; waits != (d >= refusalPause) || d > 2*refusalPause {
				t.Errorf("refusal %d comes after %s", i, d)
			}
		}
	})
}
