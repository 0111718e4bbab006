package jetstream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/jetstream/natstest"
)

// TestChaos: three nodes take a user from each other while their networks fail in every way.
// Each acknowledged write is stored, no refused one is, and a node that takes the user over loads
// all writes stored before.
func TestChaos(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	const nodes = 3
	deadline := time.Now().Add(6 * time.Second)
	var wg sync.WaitGroup
	var mu sync.Mutex
	outcomes := map[string]error{} // by the write's name, which begins with its epoch
	var loads []*storage.State
	for node := range nodes {
		p := natstest.NewProxy(t, c.URL(0))
		st := open(t, c.ConnTo(t, p.URL()), 1, fmt.Sprint("n", node, "/1"))
		faults := make(chan struct{})
		wg.Go(func() {
			defer p.Mend()
			for i := 0; ; i++ {
				[]func(){p.Mend, p.Cut, p.CutReplies, p.CutRequests, p.Break}[rand.IntN(5)]()
				select {
				case <-time.After(rand.N(150 * time.Millisecond)):
				case <-faults:
					return
				}
				p.Mend()
				select {
				case <-time.After(rand.N(300 * time.Millisecond)):
				case <-faults:
					return
				}
			}
		})
		wg.Go(func() {
			defer close(faults)
			for time.Now().Before(deadline) {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				s, err := st.Load(ctx, "ann", time.Time{})
				cancel()
				if err != nil {
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Error(err)
					}
					continue
				}
				mu.Lock()
				loads = append(loads, s)
				mu.Unlock()
				var told sync.WaitGroup
				over := make(chan struct{})
				var once sync.Once
				for i := range 1 + rand.IntN(60) {
					name := fmt.Sprint(s.Epoch, "/", i)
					changes := []storage.Change{storage.Settings{Name: name, Body: []byte("1")}}
					if rand.IntN(20) == 0 { // of several parts, which replaces the last one
						changes = append(changes, storage.Document{Kind: "k", ID: "large", Body: []byte(name + strings.Repeat(" ", 1200<<10))})
					}
					told.Add(1)
					st.Write("ann", s.Epoch, changes, func(err error) {
						defer told.Done()
						mu.Lock()
						defer mu.Unlock()
						if _, twice := outcomes[name]; twice {
							t.Errorf("done of %s was called twice", name)
						}
						outcomes[name] = err
						if err != nil {
							once.Do(func() { close(over) })
						}
					})
					select {
					case <-over:
					case <-time.After(rand.N(5 * time.Millisecond)):
					}
				}
				told.Wait()
				if rand.IntN(4) == 0 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					if err := st.Release(ctx, "ann", s.Epoch); err != nil && !errors.Is(err, storage.ErrStaleEpoch) && !errors.Is(err, context.DeadlineExceeded) {
						t.Error(err)
					}
					cancel()
				}
			}
		})
	}
	wg.Wait()
	last := load(t, open(t, c.Conn(t), 1, "judge/1"), "ann")
	kept := settings(last)
	var acked, refused, unknown int
	for name, err := range outcomes {
		switch {
		case err == nil:
			acked++
			if kept[name] == "" {
				t.Errorf("%s was acknowledged, and is missing", name)
			}
		case errors.Is(err, ErrUnknown):
			unknown++
		default:
			refused++
			if !errors.Is(err, storage.ErrStaleEpoch) || kept[name] != "" {
				t.Errorf("%s was reported as %v; stored: %v", name, err, kept[name] != "")
			}
		}
	}
	for name := range kept {
		if _, ok := outcomes[name]; !ok {
			t.Errorf("no node wrote %s", name)
		}
	}
	for _, s := range loads {
		seen := settings(s)
		for name := range kept {
			var epoch spec.Epoch
			fmt.Sscanf(name, "%d/", &epoch)
			if (epoch < s.Epoch) != (seen[name] != "") {
				t.Errorf("epoch %d loaded %s: %v", s.Epoch, name, seen[name] != "")
			}
		}
	}
	t.Logf("%d takeovers; %d writes stored, %d refused, %d unknown", len(loads), acked, refused, unknown)
	if len(loads) < 3 || acked < 10 || refused < 10 {
		t.Error("nothing much has happened")
	}
}
