// Package broadcast wakes goroutines that wait for something to happen. While none waits, what
// happens costs nothing.
package broadcast

import "sync/atomic"

// Signal wakes all waiting goroutines. The zero value is ready, and so is nil, which is never fired. It
// is safe for concurrent use.
type Signal struct {
	next atomic.Pointer[chan struct{}] // nil while no goroutine waits
}

// Wait returns a channel that is closed when Fire is called next. To miss nothing, take it
// before looking whether there is anything to wait for.
func (s *Signal) Wait() <-chan struct{} {
	if s == nil {
		return nil
	}
	for {
		if c := s.next.Load(); c != nil {
			return *c
		}
		c := make(chan struct{})
		if s.next.CompareAndSwap(nil, &c) {
			return c
		}
	}
}

// Fire wakes all waiting goroutines. It does not block.
func (s *Signal) Fire() {
	if s == nil || s.next.Load() == nil {
		return
	}
	if c := s.next.Swap(nil); c != nil {
		close(*c)
	}
}
