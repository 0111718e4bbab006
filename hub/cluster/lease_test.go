package cluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tabhub/storage/jetstream/natstest"
)

// Two nodes must never act for one user: a lease must be over for its holder before any other node
// can know that it has ended, however the connection to NATS fails.
func TestLeaseEndsForItsHolderFirst(t *testing.T) {
	const holders, rounds = 6, 10
	began := time.Now()
	c := natstest.Shared(t)
	fast := timing{ttl: 240 * time.Millisecond, hold: 180 * time.Millisecond, renew: 60 * time.Millisecond, retry: 10 * time.Millisecond, lose: time.Minute}
	change := func(o *Options) { o.timing = fast }
	q := ready(t, c.Conn(t), "q", change)
	var mu sync.Mutex
	var margins []time.Duration
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range holders {
		proxy := natstest.NewProxy(t, c.URL(0))
		p := ready(t, c.ConnTo(t, proxy.URL()), string(rune('a'+i)), change)
		until(t, q, "q knows of it", func() bool { return q.Alive(p.ID()) })
		ways := []func(){proxy.Cut, proxy.CutReplies, proxy.CutRequests, proxy.Break}
		wg.Go(func() {
			for round := range rounds {
				id := p.ID()
				var last atomic.Int64 // that p held its lease
				stop := make(chan struct{})
				polled := make(chan struct{})
				go func() {
					defer close(polled)
					tick := time.NewTicker(time.Millisecond)
					defer tick.Stop()
					for {
						at := time.Since(began)
						if p.Lease().Held() && p.ID() == id {
							last.Store(int64(at))
						}
						select {
						case <-tick.C:
						case <-stop:
							return
						}
					}
				}()
				<-time.After(time.Duration(rand.Int64N(int64(fast.renew)))) // at any moment between two renewals
				ways[round%len(ways)]()
				timeout := time.After(10 * time.Second)
				for known := q.Changed().Wait(); q.Alive(id); known = q.Changed().Wait() {
					select {
					case <-known:
						continue
					case <-timeout:
						t.Errorf("%s is alive for q, round %d: %+v, %+v", id, round, p.Stats(), q.Stats())
					}
					break
				}
				at := time.Since(began)
				if p.Lease().Held() && p.ID() == id {
					t.Errorf("round %d: %s was held when it was known to have ended", round, id)
				}
				proxy.Mend() // delayed messages arrive late
				// The node makes another lease by itself, with another id.
				timeout = time.After(20 * time.Second)
				for p.ID() == id || !p.Lease().Held() || !q.Alive(p.ID()) {
					changed, other := p.Changed().Wait(), q.Changed().Wait()
					select {
					case <-changed:
					case <-other:
					case <-time.After(fast.renew):
					case <-timeout:
						t.Errorf("round %d: %s is not back: %+v", round, p.ID(), p.Stats())
						close(stop)
						return
					}
				}
				close(stop)
				<-polled
				margin := at - time.Duration(last.Load())
				if margin <= 0 {
					t.Errorf("round %d: %s was held %v after it was known to have ended", round, id, -margin)
				}
				mu.Lock()
				margins = append(margins, margin)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(margins)
	if n := len(margins); n > 0 {
		t.Logf("%d rounds: the lease was last held before others knew of its end: at least %v, half of the time %v; held for %v, ended after %v",
			n, margins[0], margins[n/2], fast.hold, fast.ttl)
	}
}

// A node that is cut off from NATS for long closes its users, once, and says why: their clients can
// then try another node. Later it becomes ready again by itself.
func TestSuspendedForLong(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	proxy := natstest.NewProxy(t, c.URL(0))
	lost := make(chan error, 10)
	n := ready(t, c.ConnTo(t, proxy.URL()), "a", func(o *Options) { o.Lost = func(err error) { lost <- err } })
	id := n.ID()
	proxy.Break()
	until(t, n, "it is suspended", func() bool { return n.Self().State == Suspended })
	began := time.Now()
	if err := <-lost; !errors.Is(err, ErrSuspended) {
		t.Error(err)
	}
	t.Logf("users were lost %v after it was suspended, which is to be %v after the last renewal", time.Since(began), short.lose)
	proxy.Mend()
	until(t, n, "it is held again", n.Lease().Held)
	// It was the only node, so none has declared it ended.
	if n.ID() != id || len(lost) != 0 {
		t.Error(n.ID(), len(lost))
	}
	s := n.Stats()
	if s.Suspensions != 1 || s.Lost != 1 || s.Suspended < short.lose-short.hold {
		t.Errorf("%+v", s)
	}
}

// A node whose name another process has taken must never act again.
func TestReplaced(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	proxy := natstest.NewProxy(t, c.URL(0))
	lost := make(chan error, 10)
	old := ready(t, c.ConnTo(t, proxy.URL()), "a", func(o *Options) { o.Lost = func(err error) { lost <- err } })
	proxy.Cut()
	again := ready(t, c.Conn(t), "a")
	proxy.Mend()
	<-old.Done()
	if err := <-lost; !errors.Is(err, ErrReplaced) && !errors.Is(err, ErrSuspended) {
		t.Error(err)
	}
	if old.Lease().Held() || old.Lease().Term().Await(t.Context()) != ErrLeft || old.Self().State != Left {
		t.Error("it has a lease")
	}
	if err := old.Leave(t.Context()); err != nil {
		t.Error(err)
	}
	if ended, err := again.Ended(t.Context(), old.ID()); !ended || err != nil {
		t.Error(ended, err)
	}
	if !again.Lease().Held() {
		t.Error("the one that took the name has lost it")
	}
}

// A sleep of the machine must end the lease, and a clock that is set must not.
func TestClock(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("has no clock that tells one from the other")
	}
	const hold = 3 * time.Second
	ago := func(mono, wall, boot time.Duration) *instant {
		i := now()
		return &instant{i.mono - mono, i.wall - wall, i.boot - boot}
	}
	for _, x := range []struct {
		what             string
		mono, wall, boot time.Duration
		held             bool
	}{
		{"just now", 0, 0, 0, true},
		{"two seconds", 2 * time.Second, 2 * time.Second, 2 * time.Second, true},
		{"too long", hold, hold, hold, false},
		{"slept for a minute", time.Second, time.Minute, time.Minute, false},
		{"slept for a second", time.Second, 2 * time.Second, 2 * time.Second, true},
		{"slept for two", 1100 * time.Millisecond, 3200 * time.Millisecond, 3200 * time.Millisecond, false},
		{"set by an hour", time.Second, time.Hour, time.Second, true},
		{"set back by an hour", time.Second, -time.Hour, time.Second, true},
		{"set back, and slept", time.Second, -time.Hour, time.Minute, false},
	} {
		if held := ago(x.mono, x.wall, x.boot).within(hold); held != x.held {
			t.Errorf("%s: held %v", x.what, held)
		}
	}
}

// An interruption during which no node has declared the lease ended costs only its time: no user is
// closed, whether renewals were lost, late, or stored without an answer.
func TestInterruptions(t *testing.T) {
	t.Parallel()
	const rounds = 16
	c := natstest.Shared(t)
	fast := timing{ttl: 400 * time.Millisecond, hold: 300 * time.Millisecond, renew: 100 * time.Millisecond, retry: 10 * time.Millisecond, lose: time.Minute}
	change := func(o *Options) { o.timing = fast }
	q := ready(t, c.Conn(t), "q", change)
	proxy := natstest.NewProxy(t, c.URL(0))
	var lost atomic.Int64
	p := ready(t, c.ConnTo(t, proxy.URL()), "p", change, func(o *Options) { o.Lost = func(error) { lost.Add(1) } })
	kept, suspended := 0, p.Stats().Suspensions
	for round := range rounds {
		id, losses := p.ID(), lost.Load()
		until(t, q, "q knows p", func() bool { return q.Alive(id) })
		[]func(){proxy.Cut, proxy.CutReplies, proxy.CutRequests, proxy.Break}[round%4]()
		length := time.Duration(rand.Int64N(int64(fast.ttl * 5 / 4)))
		if round >= rounds-4 {
			length = 3 * fast.ttl // the others are quicker than that also where there is much to do
		}
		<-time.After(length)
		proxy.Mend()
		until(t, p, "it holds its lease and q knows", func() bool { return p.Lease().Held() && q.Alive(p.ID()) })
		before := p.Stats().Renewals
		until(t, p, "it renews it", func() bool { return p.Stats().Renewals > before+1 })
		if p.ID() == id {
			kept++
		}
		if (p.ID() == id) != (lost.Load() == losses) {
			t.Fatalf("round %d: %s has become %s, users were lost %d times", round, id, p.ID(), lost.Load()-losses)
		}
	}
	t.Logf("%d interruptions: %d times suspended, %d times without losing the lease", rounds, p.Stats().Suspensions-suspended, kept)
	if kept == 0 || kept == rounds {
		t.Error("not both cases were tried")
	}
}

// A node that gets its lease back must not end other leases at that moment: it has not seen their
// renewals either.
func TestTrustBeforeLease(t *testing.T) {
	for range 500 { // two goroutines meet
		n := &Node{lease: Lease{hold: time.Hour}, entries: map[string]*entry{"b": {at: time.Now().Add(-time.Hour)}}}
		silent := make(chan time.Duration, 1)
		go func() {
			for !n.lease.Held() {
				runtime.Gosched()
			}
			n.mu.Lock()
			defer n.mu.Unlock()
			silent <- time.Since(n.entries["b"].at)
		}()
		(&keeper{node: n}).renewed(1, now())
		if s := <-silent; s > time.Minute {
			t.Fatalf("the lease is held, and b has been silent for %v", s)
		}
	}
}

// A node that has left holds no lease, even if the answer to a renewal comes later: other nodes have
// its users.
func TestGrantAfterLeave(t *testing.T) {
	l := Lease{hold: time.Hour}
	l.grant(now())
	l.leave()
	l.grant(now())
	if l.Held() || l.Term().Held() || !errors.Is(l.Term().Await(t.Context()), ErrLeft) {
		t.Errorf("held %v, in a term %v", l.Held(), l.Term().Held())
	}
}

// A hub whose opening began before the lease was lost must not serve under the next lease: another
// node may have taken the user over in between.
func TestTermEndsWithTheLease(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	q := ready(t, c.Conn(t), "q")
	proxy := natstest.NewProxy(t, c.URL(0))
	var p *Node
	opening := make(chan *Term, 1) // begun while users are being closed
	p = ready(t, c.ConnTo(t, proxy.URL()), "p", func(o *Options) { o.Lost = func(error) { opening <- p.Lease().Term() } })
	before, id := p.Lease().Term(), p.ID()
	if !before.Held() || before.Await(t.Context()) != nil {
		t.Error("the term has not begun")
	}
	until(t, q, "q knows p", func() bool { return q.Alive(id) })
	proxy.Cut()
	until(t, q, "q knows that it has ended", func() bool { return !q.Alive(id) })
	proxy.Mend()
	until(t, p, "it has the next lease", func() bool { return p.ID() != id && p.Lease().Held() })
	for what, term := range map[string]*Term{"the term of before": before, "the one while users were closed": <-opening} {
		if err := term.Await(t.Context()); term.Held() || !errors.Is(err, ErrEnded) || !errors.Is(context.Cause(term.Context()), ErrEnded) {
			t.Errorf("%s: held %v, %v", what, term.Held(), err)
		}
	}
	next := p.Lease().Term()
	if !next.Held() || next.Await(t.Context()) != nil {
		t.Error("the next term has not begun")
	}
	proxy.Break()
	until(t, p, "it is suspended", func() bool { return !next.Held() })
	proxy.Mend()
	if err := next.Await(t.Context()); err != nil || p.Lease().Term() != next {
		t.Error("an interruption has ended the term:", err)
	}
	if err := p.Leave(t.Context()); err != nil {
		t.Error(err)
	}
	if err := next.Await(t.Context()); next.Held() || !errors.Is(err, ErrLeft) {
		t.Error(err)
	}
}
