package mcpserver

import (
	"errors"
	"sync"
)

// What may wait for a client that does not read. Beyond the first two, no further
// request is taken from the client; beyond the third, progress replaces earlier
// progress of its call.
const (
	maxQueued      = 256
	maxQueuedBytes = 8 << 20
	maxPosted      = 16 << 10
)

// sink writes to one connection. It is called by one goroutine at a time.
type sink interface {
	// write writes the frames, in order, and flushes. An error ends the connection.
	write([]frame) error
}

// outbox is the queue of what is sent to one client. It has no goroutine of its own:
// whoever puts an answer into an idle outbox writes it, and what others add meanwhile, in
// one go. That saves a goroutine switch for each answer, and a system call for each answer
// but the first of a burst.
type outbox struct {
	// static after construction
	sink    sink
	notices func() []frame // what has changed since it was last called; may be nil
	lost    func(error)    // told of a failed write, once; may be nil

	mu      sync.Mutex
	room    sync.Cond // queue has room, the writer has stopped, or err is set
	queue   []frame
	spare   []frame // the queue that is not in use
	answers int     // in queue, without progress
	bytes   int     // of these answers
	dirty   bool    // notices has something
	writing bool
	err     error // why nothing is written any more
}

var errDone = errors.New("the exchange is over")

func newOutbox(s sink, notices func() []frame, lost func(error)) *outbox {
	o := &outbox{sink: s, notices: notices, lost: lost}
	o.room.L = &o.mu
	return o
}

// put queues f and, if nobody else writes, writes: it may block for as long as the
// client does not read.
func (o *outbox) put(f frame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		o.loseLocked([]frame{f})
		return
	}
	o.appendLocked(f)
	if !o.writing {
		o.writing = true
		o.drainLocked()
	}
}

// loseLocked says that frames are not sent. It lets go of the lock meanwhile.
func (o *outbox) loseLocked(fs []frame) {
	o.mu.Unlock()
	defer o.mu.Lock()
	for i := range fs {
		if fs[i].of != nil {
			fs[i].of.Lost()
		}
	}
}

// loseQueueLocked forgets what is queued.
func (o *outbox) loseQueueLocked() {
	fs := o.queue
	o.queue, o.answers, o.bytes, o.dirty = nil, 0, 0, false
	o.loseLocked(fs)
}

// full reports whether so much is queued that no request should be taken from the
// client.
func (o *outbox) full() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.fullLocked()
}

func (o *outbox) fullLocked() bool {
	return o.err == nil && (o.answers >= maxQueued || o.bytes >= maxQueuedBytes)
}

// waitRoom waits until full reports false.
func (o *outbox) waitRoom() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.fullLocked() {
		o.room.Wait()
	}
}

// post queues f without ever waiting. If too much is queued, f takes the place of
// the last frame of its owner.
func (o *outbox) post(f frame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return
	}
	if len(o.queue) >= maxPosted {
		for i := len(o.queue) - 1; i >= 0; i-- {
			if q := &o.queue[i]; q.owner == f.owner && q.raw == f.raw && !q.final {
				*q = f
				return
			}
		}
	}
	o.appendLocked(f)
	o.startLocked()
}

// wake says that notices has something. It never waits.
func (o *outbox) wake() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.dirty = true
		o.startLocked()
	}
}

// stop waits until all that is queued is written and lets nothing else in.
func (o *outbox) stop() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.writing {
		o.room.Wait()
	}
	err := o.err
	if err == nil {
		o.err = errDone
	}
	o.room.Broadcast()
	return err
}

// abandon lets nothing else in and forgets what is queued. A write under way is
// for the owner of the connection to end.
func (o *outbox) abandon(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
	o.loseQueueLocked()
	o.room.Broadcast()
}

func (o *outbox) appendLocked(f frame) {
	o.queue = append(o.queue, f)
	if f.owner == nil && !f.raw {
		o.answers++
		o.bytes += f.size()
	}
}

// startLocked has a new goroutine write, unless one does.
func (o *outbox) startLocked() {
	if o.writing {
		return
	}
	o.writing = true
	go func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.drainLocked()
	}()
}

// drainLocked writes until nothing is left. The caller has set writing.
func (o *outbox) drainLocked() {
	for o.err == nil && (o.dirty || len(o.queue) > 0) {
		batch, dirty := o.queue, o.dirty
		o.queue, o.spare = o.spare[:0], nil
		o.answers, o.bytes, o.dirty = 0, 0, false
		o.room.Broadcast()
		o.mu.Unlock()
		if dirty && o.notices != nil {
			batch = append(batch, o.notices()...)
		}
		var err error
		if len(batch) > 0 {
			err = o.sink.write(batch)
		}
		for i := range batch {
			switch of := batch[i].of; {
			case of == nil:
			case err == nil:
				of.Taken()
			default:
				of.Lost()
			}
		}
		clear(batch) // let go of the results
		o.mu.Lock()
		o.spare = batch[:0]
		if err != nil && o.err == nil {
			o.err = err
			if o.lost != nil {
				o.mu.Unlock()
				o.lost(err)
				o.mu.Lock()
			}
			o.loseQueueLocked()
		}
	}
	o.writing = false
	o.room.Broadcast()
}
