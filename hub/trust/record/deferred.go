package record

import (
	"context"
	"sync"
)

// Deferred has the Recorders of a process that are closed, and whose lines a stream has not taken yet:
// they go on until it has. So the record gets what a process has done while it could not reach the
// servers, though another process has taken over the user. It is safe for concurrent use.
type Deferred struct {
	running sync.WaitGroup // has an element for each of recorders

	mu        sync.Mutex
	free      int // bytes
	recorders map[*Recorder]bool
	closed    bool
}

// NewDeferred returns a Deferred for lines that take no more than so many bytes of memory, about.
func NewDeferred(limit int) *Deferred { return &Deferred{free: limit, recorders: map[*Recorder]bool{}} }

// Close takes no more, and waits until all is written, or ctx is done. What is not written then is
// lost, which the Recorders log.
func (d *Deferred) Close(ctx context.Context) {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	stop := context.AfterFunc(ctx, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		for r := range d.recorders {
			r.cancel(errNoAnswer)
			r.changed()
		}
	})
	defer stop()
	d.running.Wait()
}

// take has a Recorder go on that needs n bytes, and reports whether it may.
func (d *Deferred) take(r *Recorder, n int) bool {
	if d == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || n > d.free {
		return false
	}
	d.free -= n
	d.recorders[r] = true
	d.running.Add(1)
	return true
}

// remove ends what take has begun.
func (d *Deferred) remove(r *Recorder, n int) {
	d.mu.Lock()
	d.free += n
	delete(d.recorders, r)
	d.mu.Unlock()
	d.running.Done()
}
