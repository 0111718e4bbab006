package jetstream

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/jetstream/natstest"
)

// losing has users write at three servers while something happens to the servers. Afterwards all
// acknowledged writes are stored, in order, and none has failed. more waits until each user has
// written twenty more times.
func losing(t *testing.T, happens func(c *natstest.Cluster, more func())) {
	t.Parallel()
	c := natstest.Start(t, 3)
	nc := c.Conn(t)
	const users = 20
	st := open(t, nc, 3, "a/1")
	var wg sync.WaitGroup
	var stop atomic.Bool
	var counts [users]atomic.Int64
	for u := range users {
		user := spec.UserID(fmt.Sprint("u", u))
		epoch := load(t, st, user).Epoch
		wg.Go(func() {
			for n := int64(1); !stop.Load(); n++ {
				if err := write(st, user, epoch, storage.Settings{Name: "n", Body: fmt.Append(nil, n)}, storage.Name{Public: fmt.Sprint(n % 50), Item: fmt.Sprint(n)}); err != nil {
					t.Errorf("%s: write %d: %v", user, n, err)
					return
				}
				counts[u].Store(n)
			}
		})
	}
	more := func() {
		var before [users]int64
		for u := range users {
			before[u] = counts[u].Load()
		}
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for u := range users {
			for deadline := time.Now().Add(time.Minute); counts[u].Load() < before[u]+20; <-tick.C {
				if time.Now().After(deadline) {
					t.Fatalf("u%d does not go on", u)
				}
			}
		}
	}
	more()
	happens(c, more)
	stop.Store(true)
	wg.Wait()
	other := open(t, nc, 3, "b/1")
	for u := range users {
		s := load(t, other, spec.UserID(fmt.Sprint("u", u)))
		if want := fmt.Sprint(counts[u].Load()); len(s.Settings) != 1 || string(s.Settings[0].Body) != want {
			t.Errorf("u%d: stored %s, want %s", u, s.Settings[0].Body, want)
		}
	}
}

// The leader's death costs a writer time and nothing else.
func TestLeaderKilled(t *testing.T) {
	losing(t, func(c *natstest.Cluster, more func()) {
		killed := time.Now()
		c.Kill(c.Leader(streamName))
		c.Leader(streamName)
		elected := time.Since(killed)
		more()
		t.Logf("another one leads after %v, all went on after %v", elected, time.Since(killed))
	})
}
