package record

import (
	"context"
	"sync"
)

// Late has the Recorders of a process that are closed, and whose lines a stream has not taken yet:
// they go on until it has. So what a node has done while it could not reach the servers comes to
// the record, though another has taken over the user. It is safe for concurrent use.
type Late struct {
	running sync.WaitGroup // has an element for each of recorders

	mu        sync.Mutex
	free      int // bytes
	recorders map[*Recorder]bool
	closed    bool
}

// NewLate returns a Late for lines that take no more than so many bytes of memory, about.
func NewLate(limit int) *Late { return &Late{free: limit, recorders: map[*Recorder]bool{}} }

// Close takes no more, and waits until all is written, or ctx is done. What is not written then is
// lost, which the Recorders log.
func (l *Late) Close(ctx context.Context) {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	stop := context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for r := range l.recorders {
			r.cancel(errNoAnswer)
			r.changed()
		}
	})
	defer stop()
	l.running.Wait()
}

// take has a Recorder go on that needs n bytes, and reports whether it may.
func (l *Late) take(r *Recorder, n int) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || n > l.free {
		return false
	}
	l.free -= n
	l.recorders[r] = true
	l.running.Add(1)
	return true
}

// remove ends what take has begun.
func (l *Late) remove(r *Recorder, n int) {
	l.mu.Lock()
	l.free += n
	delete(l.recorders, r)
	l.mu.Unlock()
	l.running.Done()
}
