package storage

import (
	"context"
	"fmt"
	"sync"
	"time"

	"tabhub/spec"
)

const (
	// lazyDelay is how long changes without a done are delayed: no caller waits for them.
	lazyDelay = 100 * time.Millisecond
	// maxRest is the longest rest between two commits that somebody waits for.
	// They rest as long as the last one took, so that a slow disk, or a burst of
	// registrations, makes larger commits and not more of them.
	maxRest = 50 * time.Millisecond
)

// queue collects changes and hands them, batch by batch, to commit on its own
// goroutine. Of two changes with one key only the later one is kept.
type queue struct {
	// Static after construction.
	max    int
	commit func(*batch) error
	wake   chan struct{} // buffered 1: the state below has changed
	ended  chan struct{}

	refusals sync.WaitGroup // done functions that are being called with a refusal

	mu      sync.Mutex
	epochs  map[spec.UserID]spec.Epoch // handed out last
	next    *batch
	writing bool
	closed  bool
}

// batch is what one commit writes.
type batch struct {
	users   map[spec.UserID]*userBatch
	size    int // bytes, about
	dones   []func(error)
	since   time.Time // of its first change
	awaited bool      // somebody waits for it
}

// userBatch is what a batch writes for one user.
type userBatch struct {
	epoch   spec.Epoch // of the changes
	changes map[Key]Change
}

func newQueue(max int, commit func(*batch) error) *queue {
	q := &queue{
		max:    max,
		commit: commit,
		wake:   make(chan struct{}, 1),
		ended:  make(chan struct{}),
		epochs: make(map[spec.UserID]spec.Epoch),
		next:   &batch{},
	}
	go q.run()
	return q
}

// write queues changes, or fails them. It does not block on the disk.
func (q *queue) write(user spec.UserID, epoch spec.Epoch, changes []Change, done func(error)) {
	if err := q.add(user, epoch, changes, done); err != nil && done != nil {
		q.refuse(done, err)
	}
}

// refuse tells a done on a goroutine of its own, for which close waits.
func (q *queue) refuse(done func(error), err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		go done(err)
		return
	}
	q.refusals.Go(func() { done(err) })
}

func (q *queue) add(user spec.UserID, epoch spec.Epoch, changes []Change, done func(error)) error {
	if err := Validate(user, changes); err != nil {
		return err
	}
	n := 0
	for _, c := range changes {
		n += Size(c)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	if err := CheckEpoch(user, epoch, q.epochs[user]); err != nil {
		return err
	}
	b := q.next
	if b.size > 0 && b.size+n > q.max {
		return fmt.Errorf("%w: %d bytes wait", ErrBacklog, b.size)
	}
	if b.empty() {
		b.since = time.Now()
		q.changed()
	}
	b.add(user, epoch, changes)
	if done != nil {
		b.dones = append(b.dones, done)
		if !b.awaited {
			b.awaited = true
			q.changed()
		}
	}
	if b.size > q.max/2 {
		q.changed()
	}
	return nil
}

// changed wakes the goroutine.
func (q *queue) changed() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (b *batch) empty() bool { return b.size == 0 && len(b.dones) == 0 }

func (b *batch) add(user spec.UserID, epoch spec.Epoch, changes []Change) {
	if len(changes) == 0 {
		return
	}
	if b.users == nil {
		b.users = make(map[spec.UserID]*userBatch)
	}
	u := b.users[user]
	if u == nil {
		u = &userBatch{changes: make(map[Key]Change)}
		b.users[user] = u
	}
	u.epoch = epoch
	for _, c := range changes {
		b.size += Size(c)
		k := KeyOf(c)
		if old, ok := u.changes[k]; ok {
			b.size -= Size(old)
		}
		u.changes[k] = c
	}
}

// raise hands out the user's next epoch, which is greater than stored, too. From here on
// writes of older ones are refused.
func (q *queue) raise(user spec.UserID, stored spec.Epoch) spec.Epoch {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.epochs[user] = max(q.epochs[user], stored) + 1
	return q.epochs[user]
}

// flush waits until all that was queued before is committed or has failed.
func (q *queue) flush(ctx context.Context) error {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return ErrClosed
	}
	if q.next.empty() && !q.writing {
		q.mu.Unlock()
		return nil
	}
	done := make(chan struct{})
	// The writers of the changes have been notified of a failure.
	q.next.dones = append(q.next.dones, func(error) { close(done) })
	q.next.awaited = true
	q.changed()
	q.mu.Unlock()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// close commits what is queued, and waits until all dones have returned.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.changed()
	q.mu.Unlock()
	<-q.ended
	q.refusals.Wait()
}

// run commits batches until the queue is closed and empty.
func (q *queue) run() {
	defer close(q.ended)
	var last time.Time     // end of the last commit
	var took time.Duration // by it
	for {
		b, wait, closed := q.take(last, took)
		switch {
		case b != nil:
			start := time.Now()
			var err error
			if len(b.users) > 0 {
				err = q.commit(b)
			}
			last = time.Now()
			took = last.Sub(start)
			for _, done := range b.dones {
				done(err)
			}
		case closed:
			return
		case wait > 0:
			t := time.NewTimer(wait)
			select {
			case <-q.wake:
			case <-t.C:
			}
			t.Stop()
		default:
			<-q.wake
		}
	}
}

// take returns the next batch if it is due, or else how long to wait for that; 0 is
// until something is queued.
func (q *queue) take(last time.Time, took time.Duration) (b *batch, wait time.Duration, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.writing = false
	b = q.next
	if b.empty() {
		return nil, 0, q.closed
	}
	if b.awaited {
		wait = time.Until(last.Add(min(took, maxRest)))
	} else {
		wait = time.Until(b.since.Add(lazyDelay))
	}
	if wait > 0 && !q.closed && b.size <= q.max/2 {
		return nil, wait, false
	}
	q.next = &batch{}
	q.writing = true
	return b, 0, q.closed
}
