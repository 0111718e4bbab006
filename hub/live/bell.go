// Package live tells who looks at a hub that something there has changed, at no cost to the
// hub while nobody looks.
package live

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Bell wakes all who listen. The zero value is ready, and so is nil, which nobody hears. It
// is safe for concurrent use.
type Bell struct {
	mu        sync.Mutex                      // held while listeners is replaced
	listeners atomic.Pointer[[]chan struct{}] // nil: none
}

// Ring wakes all who listen. It does not block: who has not yet taken in that it has rung is
// told no second time.
func (b *Bell) Ring() {
	if b == nil {
		return
	}
	if all := b.listeners.Load(); all != nil {
		for _, c := range *all {
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}
}

// Heard reports whether anybody listens.
func (b *Bell) Heard() bool { return b != nil && b.listeners.Load() != nil }

// Listen returns a channel that receives after each Ring, once for several that were not
// taken in meanwhile, until stop is called.
func (b *Bell) Listen() (rung <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	b.replace(func(all []chan struct{}) []chan struct{} { return append(all, c) })
	return c, func() {
		b.replace(func(all []chan struct{}) []chan struct{} {
			return slices.DeleteFunc(all, func(other chan struct{}) bool { return other == c })
		})
	}
}

// replace replaces the listeners by what f makes of a copy of them.
func (b *Bell) replace(f func([]chan struct{}) []chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []chan struct{}
	if was := b.listeners.Load(); was != nil {
		all = slices.Clone(*was)
	}
	if all = f(all); len(all) == 0 {
		b.listeners.Store(nil)
		return
	}
	b.listeners.Store(&all)
}
