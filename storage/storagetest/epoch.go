package storagetest

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/storage"
)

// wantStale fails if err does not say that a write under an epoch came after newer was
// handed out.
func wantStale(t *testing.T, err error, epoch, newer spec.Epoch) {
	t.Helper()
	stale, ok := errors.AsType[*storage.StaleEpochError](err)
	if !ok || !errors.Is(err, storage.ErrStaleEpoch) || *stale != (storage.StaleEpochError{User: user, Epoch: epoch, Newer: newer}) {
		t.Errorf("a write under epoch %d: got %v, want it refused for epoch %d", epoch, err, newer)
	}
}

// oneWriter: when a second hub takes a user over, the first one must not change what
// the second one has loaded.
func (s suite) oneWriter(t *testing.T) {
	st, reopen := s.start(t)
	never := storage.Tab{Domain: "never", Key: "k"}
	if err := write(st, user, 0, never); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("before Load: got %v, want ErrInvalid", err)
	}
	first := load(t, st, user).Epoch
	if err := write(st, user, first+1, never); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("an epoch that was not handed out: got %v, want ErrInvalid", err)
	}
	if first == 0 {
		t.Error("0 is no epoch")
	}
	// What the first one queued is part of what the second one takes over.
	st.Write(user, first, []storage.Change{storage.Tab{Domain: "d", Key: "k", Title: "first", LastUpdated: now}}, nil)
	second := load(t, st, user)
	if len(second.Tabs) != 1 || second.Tabs[0].Title != "first" {
		t.Errorf("the second one took over %+v", second.Tabs)
	}
	wantStale(t, write(st, user, first, never, storage.DeleteTab{Domain: "d", Key: "k"}), first, second.Epoch)
	wantStale(t, write(st, user, first), first, second.Epoch)
	st.Write(user, first, []storage.Change{never}, nil)
	if err := write(st, user, second.Epoch, storage.Name{Public: "second"}); err != nil {
		t.Errorf("the second one: %v", err)
	}
	st = reopen()
	third := load(t, st, user)
	if len(third.Tabs) != 1 || third.Tabs[0].Title != "first" || len(third.Names) != 1 {
		t.Errorf("kept are tabs %+v and names %+v", third.Tabs, third.Names)
	}
	wantStale(t, write(st, user, second.Epoch, never), second.Epoch, third.Epoch)
}

// epochsGrow: a hub that comes back after its successor, and after a restart, must not
// be taken for it. Each user has epochs of their own.
func (s suite) epochsGrow(t *testing.T) {
	st, reopen := s.start(t)
	last := map[spec.UserID]spec.Epoch{}
	for range 5 {
		for _, u := range []spec.UserID{"ann", "bob"} {
			for range 3 {
				epoch := load(t, st, u).Epoch
				if epoch <= last[u] {
					t.Errorf("%s: epoch %d follows %d", u, epoch, last[u])
				}
				last[u] = epoch
			}
		}
		if err := write(st, "ann", last["ann"], storage.Name{Public: "n"}); err != nil {
			t.Error(err)
		}
		if err := write(st, "bob", last["bob"], storage.Name{Public: "n"}); err != nil {
			t.Error(err)
		}
		st = reopen()
	}
}

// takeoverInFlight: while one hub writes and others take over, each write is either
// applied and part of what the next one loads, or refused.
func (s suite) takeoverInFlight(t *testing.T) {
	st, reopen := s.start(t)
	const hubs, each = 60, 150
	var wrote sync.Map // key of a tab → whether the write was applied
	var wg sync.WaitGroup
	loads := make([]*storage.State, hubs)
	for hub := range hubs {
		state := load(t, st, user)
		loads[hub] = state
		wg.Go(func() {
			var told sync.WaitGroup
			var superseded atomic.Bool
			underWay := make(chan struct{}, 8)
			for i := 0; i < each && !superseded.Load(); i++ {
				key := fmt.Sprint(state.Epoch, "/", i)
				underWay <- struct{}{}
				told.Add(1)
				st.Write(user, state.Epoch, []storage.Change{
					storage.Tab{Domain: "d", Key: key, LastUpdated: now},
				}, func(err error) {
					defer told.Done() // panics if called twice
					<-underWay
					if err != nil {
						superseded.Store(true)
						if !errors.Is(err, storage.ErrStaleEpoch) {
							t.Error(err)
						}
					}
					if _, again := wrote.LoadOrStore(key, err == nil); again {
						t.Errorf("done of %s was called twice", key)
					}
				})
			}
			told.Wait()
		})
	}
	wg.Wait()
	st = reopen()
	last := load(t, st, user)
	kept := map[string]bool{}
	for _, tab := range last.Tabs {
		kept[tab.Key] = true
	}
	applied := 0
	wrote.Range(func(key, ok any) bool {
		if k := key.(string); kept[k] != ok {
			t.Errorf("%s: applied %v, kept %v", k, ok, kept[k])
		}
		if ok.(bool) {
			applied++
		}
		return true
	})
	if applied < each { // the last one's
		t.Errorf("%d writes were applied", applied)
	}
	// What an earlier hub wrote a later one has loaded.
	for _, state := range loads {
		seen := map[string]bool{}
		for _, tab := range state.Tabs {
			seen[tab.Key] = true
		}
		for key := range kept {
			var epoch spec.Epoch
			fmt.Sscanf(key, "%d/", &epoch)
			if epoch < state.Epoch && !seen[key] {
				t.Errorf("epoch %d did not load %s, which was written before", state.Epoch, key)
			}
		}
	}
}

// staleIsAlone: a hub that was superseded must not fail what others write in the same
// commit.
func (s suite) staleIsAlone(t *testing.T) {
	st, reopen := s.start(t)
	stale := load(t, st, user).Epoch
	newer := load(t, st, user).Epoch
	other := load(t, st, "other").Epoch
	var told sync.WaitGroup
	var refused atomic.Int32
	for i := range 100 {
		told.Add(3)
		tab := func(domain spec.Domain) []storage.Change {
			return []storage.Change{storage.Tab{Domain: domain, Key: fmt.Sprint(i)}}
		}
		st.Write("other", other, tab("d"), func(err error) {
			defer told.Done()
			if err != nil {
				t.Error(err)
			}
		})
		st.Write(user, stale, tab("stale"), func(err error) {
			defer told.Done()
			if errors.Is(err, storage.ErrStaleEpoch) {
				refused.Add(1)
			}
		})
		st.Write(user, newer, tab("d"), func(err error) {
			defer told.Done()
			if err != nil {
				t.Error(err)
			}
		})
	}
	told.Wait()
	if n := refused.Load(); n != 100 {
		t.Errorf("%d of 100 stale writes were refused", n)
	}
	st = reopen()
	for _, u := range []spec.UserID{user, "other"} {
		got, err := st.Load(t.Context(), u, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Tabs) != 100 {
			t.Errorf("%s has %d tabs, want 100", u, len(got.Tabs))
		}
	}
}

// closeTellsRefused: Close must call the done functions of all writes before it returns.
func (s suite) closeTellsRefused(t *testing.T) {
	st, _ := s.start(t)
	stale := load(t, st, user).Epoch
	load(t, st, user)
	var told atomic.Int32
	for range 50 {
		st.Write(user, stale, nil, func(error) {
			for range 1000 {
				runtime.Gosched()
			}
			told.Add(1)
		})
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if n := told.Load(); n != 50 {
		t.Errorf("%d of 50 done functions were called before Close returned", n)
	}
}
