package broadcast

import (
	"sync"
	"sync/atomic"
	"testing"
)

// All waiting goroutines must wake, once for each time that they wait.
func TestSignal(t *testing.T) {
	var s Signal
	s.Fire()
	one, two := s.Wait(), s.Wait()
	select {
	case <-one:
		t.Error("woken by what was before")
	default:
	}
	s.Fire()
	<-one
	<-two
	s.Fire()
	select {
	case <-s.Wait():
		t.Error("woken by what was before")
	default:
	}
	var none *Signal
	none.Fire()
	if none.Wait() != nil {
		t.Error("a waiter for nothing would wake")
	}
}

// A goroutine that takes the channel before looking must see the last of all changes, whenever they come.
func TestSignalConcurrently(t *testing.T) {
	var s Signal
	var changes atomic.Int64
	const all = 4 * 2000
	var watchers sync.WaitGroup
	for range 3 {
		watchers.Go(func() {
			for {
				changed := s.Wait()
				if changes.Load() == all {
					return
				}
				<-changed
			}
		})
	}
	for range 4 {
		watchers.Go(func() {
			for range all / 4 {
				changes.Add(1)
				s.Fire()
			}
		})
	}
	watchers.Wait()
}
