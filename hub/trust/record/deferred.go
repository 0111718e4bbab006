package record

import (
	"context"
	"sync"
)

// Deferred has the closed Recorders of a process whose lines the stream has not stored yet: they go on
// until it has. So the record gets the calls that a process has made while it could not reach the
// servers, even if another process has taken the user over. It is safe for concurrent use.
type Deferred struct {
	running sync.WaitGroup // counts recorders

	mu        sync.Mutex
	free      int // bytes
	recorders map[*Recorder]bool
	closed    bool
}

// NewDeferred returns a Deferred for lines that take about limit bytes of memory at most.
func NewDeferred(limit int) *Deferred { return &Deferred{free: limit, recorders: map[*Recorder]bool{}} }

// Close accepts no more Recorders, and waits until all lines are written, or ctx is done. Lines that are
// not written then are lost; the Recorders log that.
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

// take adds a Recorder that needs n bytes, and reports whether it may go on.
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

// remove undoes take.
func (d *Deferred) remove(r *Recorder, n int) {
	d.mu.Lock()
	d.free += n
	delete(d.recorders, r)
	d.mu.Unlock()
	d.running.Done()
}
