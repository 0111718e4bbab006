package jsonrpc

import (
	"errors"
	"sync"
)

// What may wait for a client that does not read. Beyond the first two, no further
// request is taken from the client; beyond the third, progress replaces earlier
// progress of its call.
const (
	maxQueued      = 256
	MaxQueuedBytes = 8 << 20
	maxPosted      = 16 << 10
)

// sink writes to one connection. It is called by one goroutine at a time.
type sink interface {
	// WriteFrames writes the frames, in order, and flushes. An error ends the connection.
	WriteFrames([]Frame) error
}

// Outbox is the queue of what is sent to one client. It has no goroutine of its own:
// the goroutine that puts an answer into an idle outbox writes it, and what others add meanwhile, in
// one go. That saves a goroutine switch for each answer, and a system call for each answer
// but the first of a burst.
type Outbox struct {
	// static after construction
	sink    sink
	Notices func() []Frame // what has changed since it was last called; may be nil
	lost    func(error)    // is called after a failed write, once; may be nil

	mu      sync.Mutex
	room    sync.Cond // queue has room, the writer has stopped, or err is set
	queue   []Frame
	spare   []Frame // the queue that is not in use
	answers int     // in queue, without progress
	bytes   int     // of these answers
	dirty   bool    // notices has something
	writing bool
	err     error // why nothing is written any more
}

var errDone = errors.New("the exchange is over")

func NewOutbox(s sink, notices func() []Frame, lost func(error)) *Outbox {
	o := &Outbox{sink: s, Notices: notices, lost: lost}
	o.room.L = &o.mu
	return o
}

// Put queues f and, if no other goroutine writes, writes: it may block for as long as the
// client does not read.
func (o *Outbox) Put(f Frame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		o.loseLocked([]Frame{f})
		return
	}
	o.appendLocked(f)
	if !o.writing {
		o.writing = true
		o.drainLocked()
	}
}

// loseLocked says that frames are not sent. It lets go of the lock meanwhile.
func (o *Outbox) loseLocked(fs []Frame) {
	o.mu.Unlock()
	defer o.mu.Lock()
	for i := range fs {
		if fs[i].To != nil {
			fs[i].To.Lost()
		}
	}
}

// loseQueueLocked forgets what is queued.
func (o *Outbox) loseQueueLocked() {
	fs := o.queue
	o.queue, o.answers, o.bytes, o.dirty = nil, 0, 0, false
	o.loseLocked(fs)
}

// Full reports whether so much is queued that no request should be taken from the
// client.
func (o *Outbox) Full() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.fullLocked()
}

func (o *Outbox) fullLocked() bool {
	return o.err == nil && (o.answers >= maxQueued || o.bytes >= MaxQueuedBytes)
}

// WaitRoom waits until full reports false.
func (o *Outbox) WaitRoom() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.fullLocked() {
		o.room.Wait()
	}
}

// Post queues f without ever waiting. If too much is queued, f takes the place of
// the last frame of its owner.
func (o *Outbox) Post(f Frame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return
	}
	if len(o.queue) >= maxPosted {
		for i := len(o.queue) - 1; i >= 0; i-- {
			if q := &o.queue[i]; q.Owner == f.Owner && q.Raw == f.Raw && !q.Final {
				*q = f
				return
			}
		}
	}
	o.appendLocked(f)
	o.startLocked()
}

// Wake says that notices has something. It never waits.
func (o *Outbox) Wake() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.dirty = true
		o.startLocked()
	}
}

// Stop waits until all that is queued is written and lets nothing else in.
func (o *Outbox) Stop() error {
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

// Abandon lets nothing else in and forgets what is queued. A write under way is
// for the owner of the connection to end.
func (o *Outbox) Abandon(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
	o.loseQueueLocked()
	o.room.Broadcast()
}

func (o *Outbox) appendLocked(f Frame) {
	o.queue = append(o.queue, f)
	if f.Owner == nil && !f.Raw {
		o.answers++
		o.bytes += f.Size()
	}
}

// startLocked has a new goroutine write, unless one does.
func (o *Outbox) startLocked() {
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
func (o *Outbox) drainLocked() {
	for o.err == nil && (o.dirty || len(o.queue) > 0) {
		batch, dirty := o.queue, o.dirty
		o.queue, o.spare = o.spare[:0], nil
		o.answers, o.bytes, o.dirty = 0, 0, false
		o.room.Broadcast()
		o.mu.Unlock()
		if dirty && o.Notices != nil {
			batch = append(batch, o.Notices()...)
		}
		var err error
		if len(batch) > 0 {
			err = o.sink.WriteFrames(batch)
		}
		for i := range batch {
			switch to := batch[i].To; {
			case to == nil:
			case err == nil:
				to.Taken()
			default:
				to.Lost()
			}
		}
		clear(batch) // so that the results can be collected
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
