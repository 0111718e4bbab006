package jetstream

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"tabhub/spec"
	"tabhub/storage"
)

const (
	// lazyDelay is how long changes without a done are delayed: no caller waits for them.
	lazyDelay = 100 * time.Millisecond
	// maxFlushRest is the longest pause between two flushes of a user that callers wait for.
	// The pause is as long as the last flush took.
	maxFlushRest = 50 * time.Millisecond
	// maxPart is how many bytes of a payload go into one message, if the server takes as many;
	// headerRoom is what a message's headers may take of them.
	maxPart    = 512 << 10
	headerRoom = 8 << 10
)

// journal is what the store knows of a loaded user. A goroutine runs while changes wait to be written.
type journal struct {
	// Static after construction.
	user spec.UserID
	turn chan struct{} // holds one while a Load runs

	// Guarded by Store.mu.
	epoch   spec.Epoch // that Load returned; 0: none, or another writer has come
	loads   int        // Loads in progress
	loading bool       // one of them has its turn: writes are refused when it ends
	refused []refusal
	next    *batch       // to write next, or nil
	waiting int          // bytes, about, in next and in the batch that is being written
	release chan<- error // of Release, buffered 1: no more changes are accepted
	running bool
	wake    chan struct{} // buffered 1: the above has changed. Nil unless running; so is stopped
	stopped chan struct{} // closed at its end

	// Owned by the goroutine, and by the Load that has its turn while there is none.
	node     string
	claimed  spec.Epoch // of the claim that was made last
	seq      uint64     // of the user's last message
	ids      int        // counts the ids of messages
	live     int        // bytes of the user's state when last known
	messages int        // since, and with, the last snapshot
	bytes    int        // of their payloads
	last     time.Time
	took     time.Duration // the last flush, which ended then
}

type batch struct {
	changes map[storage.Key]storage.Change
	size    int // bytes, about
	dones   []func(error)
	since   time.Time // of its first change
	awaited bool      // a caller waits for it
}

type refusal struct {
	epoch spec.Epoch
	done  func(error)
}

// queueLocked adds changes to the next batch. Of two changes with one key it keeps the later.
func (s *Store) queueLocked(j *journal, changes []storage.Change, done func(error)) error {
	n := 0
	for _, c := range changes {
		n += storage.Size(c)
	}
	if j.waiting > 0 && j.waiting+n > maxUserWaiting {
		return fmt.Errorf("%w: %d bytes of user %q wait", storage.ErrBacklog, j.waiting, j.user)
	}
	if s.waiting > 0 && s.waiting+n > maxWaiting {
		return fmt.Errorf("%w: %d bytes wait", storage.ErrBacklog, s.waiting)
	}
	if j.next == nil {
		j.next = &batch{since: time.Now(), changes: make(map[storage.Key]storage.Change)}
	}
	b := j.next
	before := b.size
	for _, c := range changes {
		k := storage.KeyOf(c)
		if old, ok := b.changes[k]; ok {
			b.size -= storage.Size(old)
		}
		b.size += storage.Size(c)
		b.changes[k] = c
	}
	j.waiting += b.size - before
	s.waiting += b.size - before
	if done != nil {
		b.dones = append(b.dones, done)
		b.awaited = true
	}
	s.startLocked(j)
	return nil
}

// startLocked starts j's goroutine, or wakes it.
func (s *Store) startLocked(j *journal) {
	if j.running {
		j.poke()
		return
	}
	j.running = true
	j.wake, j.stopped = make(chan struct{}, 1), make(chan struct{})
	s.tasks.Go(func() { s.run(j) })
}

func (j *journal) poke() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// dropLocked removes j if it is unused.
func (s *Store) dropLocked(j *journal) {
	if j.epoch == 0 && j.loads == 0 && !j.running {
		delete(s.users, j.user)
	}
}

// run writes until nothing is queued.
func (s *Store) run(j *journal) {
	for {
		if s.due(j) {
			if err := s.compact(j); err != nil {
				s.settle(j, nil, err)
			}
		}
		b, r, wait := s.take(j)
		switch {
		case b != nil:
			s.flush(j, b)
		case r != nil:
			_, err := s.append(j, s.message(j, kindRelease))
			err = s.explainWrite(j, err)
			s.mu.Lock()
			j.epoch, j.release = 0, nil
			s.mu.Unlock()
			r <- err
		case wait > 0:
			t := time.NewTimer(wait)
			select {
			case <-j.wake:
			case <-t.C:
			}
			t.Stop()
		default:
			return // it has stopped
		}
	}
}

// take returns the next batch if it is due, the release if no batch is before it, or how long to wait.
// If it returns nothing, j has stopped.
func (s *Store) take(j *journal) (*batch, chan<- error, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := j.next
	if b == nil {
		if j.release != nil {
			return nil, j.release, 0
		}
		j.running = false
		close(j.stopped)
		j.wake, j.stopped = nil, nil
		s.dropLocked(j)
		return nil, nil, 0
	}
	if hurry := s.closed || j.loading || j.release != nil || len(b.changes) == 0 || b.size > maxUserWaiting/2; !hurry {
		wait := time.Until(b.since.Add(lazyDelay))
		if b.awaited {
			wait = time.Until(j.last.Add(min(j.took, maxFlushRest)))
		}
		if wait > 0 {
			return nil, nil, wait
		}
	}
	j.next = nil
	return b, nil, 0
}

// flush writes a batch and reports the outcome to its waiters.
func (s *Store) flush(j *journal, b *batch) {
	var err error
	if len(b.changes) > 0 {
		start := time.Now()
		payload := make([]byte, 1, 1+b.size)
		payload[0] = formatVersion
		for _, c := range b.changes {
			payload = storage.AppendEntry(payload, storage.EntryOf(c))
		}
		_, err = s.writeParts(j, kindFlush, payload)
		j.last = time.Now()
		j.took = j.last.Sub(start)
		if err == nil {
			s.opts.Written(j.took)
		}
	}
	s.settle(j, b, err)
}

// settle reports the outcome of b, which may be nil, to its waiters. If err means that j accepts no
// further writes, all waiting changes have failed.
func (s *Store) settle(j *journal, b *batch, err error) {
	_, over := errors.AsType[*supersededError](err)
	over = over || errors.Is(err, ErrLost)
	err = s.explainWrite(j, err)
	var next *batch
	var r chan<- error
	s.mu.Lock()
	if over {
		next, r = j.next, j.release
		j.epoch, j.next, j.release = 0, nil, nil
	}
	if b != nil && errors.Is(err, storage.ErrClosed) {
		s.failed++
	}
	s.writtenLocked(j, b)
	s.writtenLocked(j, next)
	s.mu.Unlock()
	b.tell(err)
	if !over {
		return
	}
	if stale, ok := errors.AsType[*storage.StaleEpochError](err); ok {
		err = stale // unsent changes were not stored
	}
	s.log.Info("nothing can be written for the user any more", "user", j.user, "err", err)
	next.tell(err)
	if r != nil {
		r <- err
	}
}

// writtenLocked subtracts b, which may be nil, from the waiting bytes.
func (s *Store) writtenLocked(j *journal, b *batch) {
	if b != nil {
		j.waiting -= b.size
		s.waiting -= b.size
	}
}

// tell calls the dones of b, which may be nil.
func (b *batch) tell(err error) {
	if b != nil {
		for _, done := range b.dones {
			done(err)
		}
	}
}

// explainWrite returns the error of a failed write that callers get.
func (s *Store) explainWrite(j *journal, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*supersededError](err); ok {
		stale := &storage.StaleEpochError{User: j.user, Epoch: j.claimed, Newer: e.by.Epoch}
		if e.unsure {
			return fmt.Errorf("%w: %w", ErrUnknown, stale)
		}
		return stale
	}
	if s.ctx.Err() != nil {
		return fmt.Errorf("%w: %w: %w", storage.ErrClosed, ErrUnknown, err)
	}
	return fmt.Errorf("write the journal of user %q: %w", j.user, err)
}

// message makes a message of j, with further headers in pairs.
func (s *Store) message(j *journal, kind string, headers ...string) *nats.Msg {
	m := nats.NewMsg(subject(j.user))
	m.Header.Set(headerKind, kind)
	m.Header.Set(headerNode, j.node)
	m.Header.Set(headerUser, userHeader(j.user))
	if kind == kindClaim {
		m.Header.Set(headerID, rand.Text())
	} else {
		epoch := strconv.FormatUint(uint64(j.claimed), 10)
		j.ids++
		m.Header.Set(headerEpoch, epoch)
		m.Header.Set(headerID, epoch+"."+strconv.Itoa(j.ids))
	}
	for i := 0; i < len(headers); i += 2 {
		m.Header.Set(headers[i], headers[i+1])
	}
	return m
}

// append writes a message behind j's last one, and returns its sequence.
func (s *Store) append(j *journal, m *nats.Msg) (uint64, error) {
	seq, err := s.publish(s.ctx, m, j.seq)
	if err != nil {
		return 0, err
	}
	j.seq = seq
	j.messages++
	j.bytes += len(m.Data)
	return seq, nil
}

// writeParts writes a payload in as many messages as it takes, and returns the sequence of the
// first one.
func (s *Store) writeParts(j *journal, kind string, payload []byte) (first uint64, err error) {
	parts := slices.Collect(slices.Chunk(payload, s.partSize()))
	for i, data := range parts {
		m := s.message(j, kind, headerPart, strconv.Itoa(i)+"/"+strconv.Itoa(len(parts)))
		m.Data = data
		seq, err := s.append(j, m)
		if err != nil {
			return 0, err
		}
		if i == 0 {
			first = seq
		}
	}
	return first, nil
}

func (s *Store) partSize() int {
	return max(1, min(maxPart, int(s.nc.MaxPayload())-headerRoom))
}
