package jetstream

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/spec"
	"tabhub/storage"
)

const (
	// maxWaiting is how many bytes, about, may wait to be written, maxUserWaiting how many of one
	// user.
	maxWaiting     = 64 << 20
	maxUserWaiting = 8 << 20
	// closeTimeout is how long Close tries to write the queued changes.
	closeTimeout = 4 * time.Second
	// maxCompactions is how many journals are read at a time to be compacted, which takes memory.
	maxCompactions = 2
)

// Options configure a Store.
type Options struct {
	// Node returns the id that Writer.Node has for messages under a claim made now: that of this node's
	// lease. It must not block.
	Node func() string
	// Replicas is how many servers store the stream. 0 means 1, and leaves a stream with more alone.
	Replicas int
	// May says whether the store may take a user over from the last writer, the zero Writer if
	// there is none; its error is Load's. Load claims only if no message was written since, and
	// otherwise calls May again. May may block until ctx ends. Nil means always.
	May func(ctx context.Context, user spec.UserID, from Writer) error
	// Written, if not nil, is called for each stored batch of changes with the time that it took.
	// It must not block.
	Written func(took time.Duration)
	// Log may be nil.
	Log *slog.Logger
}

// Store is a storage.DomainToolStorage in a NATS JetStream. An idle user costs a few hundred bytes
// until it is released, or until a write or Load finds that another process has claimed it.
type Store struct {
	// Static after construction.
	nc          *nats.Conn
	js          jetstream.JetStream
	stream      jetstream.Stream
	opts        Options
	log         *slog.Logger
	ctx         context.Context // of publishes
	cancel      context.CancelCauseFunc
	loads       context.Context // of Loads, within ctx
	cancelLoads context.CancelCauseFunc
	compactions chan struct{} // holds one for each compaction that runs
	closeAfter  time.Duration // closeTimeout
	lostAfter   time.Duration // lostTimeout

	stats stats

	tasks sync.WaitGroup // goroutines that Close waits for

	missing struct { // see gone
		sync.Mutex
		asked time.Time
		yes   bool
	}

	mu      sync.Mutex
	users   map[spec.UserID]*journal
	waiting int // bytes, about, that are not written
	closed  bool
	failed  int // writes that Close gave up
}

var _ storage.DomainToolStorage = (*Store)(nil)

// Open opens the store, and makes its stream if there is none. It waits for servers that elect
// a leader until ctx ends. The error is one of streams.Open, or ErrStream, and says what to do.
// The caller closes the connection, after Close.
func Open(ctx context.Context, nc *nats.Conn, opts Options) (*Store, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Written == nil {
		opts.Written = func(time.Duration) {}
	}
	opts.Replicas = max(opts.Replicas, 1)
	s := &Store{
		nc: nc, js: js, opts: opts, log: opts.Log,
		compactions: make(chan struct{}, maxCompactions), closeAfter: closeTimeout, lostAfter: lostTimeout,
		users: make(map[spec.UserID]*journal),
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.loads, s.cancelLoads = context.WithCancelCause(s.ctx)
	if err := s.openStream(ctx); err != nil {
		s.cancel(storage.ErrClosed)
		return nil, fmt.Errorf("open the store of users: %w", err)
	}
	return s, nil
}

// Writer returns the last writer of a user's journal, the zero Writer if there is none. It may be
// out of date; Load checks.
func (s *Store) Writer(ctx context.Context, user spec.UserID) (Writer, error) {
	m, err := s.last(ctx, user, false)
	if err != nil {
		return Writer{}, fmt.Errorf("find the writer of user %q: %w", user, err)
	}
	return m.writer(), nil
}

// Write implements storage.DomainToolStorage. It publishes at once if there is a done, else within
// a tenth of a second; changes that come meanwhile are published together. A Write without
// changes publishes nothing.
//
// After ErrUnknown the write may be stored; after any other error it is not.
func (s *Store) Write(user spec.UserID, epoch spec.Epoch, changes []storage.Change, done func(error)) {
	err := storage.Validate(user, changes)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = s.writeLocked(user, epoch, changes, &done)
	}
	if done != nil {
		s.tellLocked(done, err)
	}
}

// writeLocked queues changes. If done is not nil afterwards, the caller calls it with the error.
func (s *Store) writeLocked(user spec.UserID, epoch spec.Epoch, changes []storage.Change, done *func(error)) error {
	if s.closed {
		return storage.ErrClosed
	}
	j := s.users[user]
	if j != nil && j.loading {
		// The answer depends on the epoch that Load is going to return.
		if *done != nil {
			j.refused = append(j.refused, refusal{epoch: epoch, done: *done})
			*done = nil
		}
		return nil
	}
	if err := checkEpoch(user, epoch, j); err != nil {
		return err
	}
	if len(changes) == 0 && !j.running {
		return nil // nothing is before it
	}
	if err := s.queueLocked(j, changes, *done); err != nil {
		return err
	}
	*done = nil
	return nil
}

// checkEpoch returns why nothing may be written to j under an epoch. j is nil if the user is not loaded.
func checkEpoch(user spec.UserID, epoch spec.Epoch, j *journal) error {
	if epoch != 0 && (j == nil || j.epoch == 0 || j.release != nil) {
		// Another process may have claimed the user since.
		return &storage.StaleEpochError{User: user, Epoch: epoch}
	}
	if j == nil {
		return storage.CheckEpoch(user, epoch, 0)
	}
	return storage.CheckEpoch(user, epoch, j.epoch)
}

// tellLocked calls done on another goroutine. Close waits for it.
func (s *Store) tellLocked(done func(error), err error) {
	if s.closed {
		go done(err)
		return
	}
	s.tasks.Go(func() { done(err) })
}

// Release leaves a user without a writer, after the queued changes are written. From now on writes under
// epoch fail. It returns when the user has no writer, with a *storage.StaleEpochError if another writer
// had taken over, or when ctx ends; then the store goes on releasing.
func (s *Store) Release(ctx context.Context, user spec.UserID, epoch spec.Epoch) error {
	released := make(chan error, 1)
	err := s.startRelease(user, epoch, released)
	if err == nil {
		select {
		case err = <-released:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("release user %q: %w", user, err)
	}
	return nil
}

func (s *Store) startRelease(user spec.UserID, epoch spec.Epoch, r chan<- error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return storage.ErrClosed
	}
	j := s.users[user]
	if j != nil && j.loading {
		return &storage.StaleEpochError{User: user, Epoch: epoch}
	}
	if err := checkEpoch(user, epoch, j); err != nil {
		return err
	}
	j.release = r
	s.startLocked(j)
	return nil
}

// Close implements storage.DomainToolStorage. If JetStream does not store the queued changes within
// closeTimeout, the others fail with ErrUnknown, and Close says so. Users are not released.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	for _, j := range s.users {
		if j.running {
			j.poke()
		}
	}
	s.mu.Unlock()
	s.cancelLoads(storage.ErrClosed)
	t := time.AfterFunc(s.closeAfter, func() { s.cancel(storage.ErrClosed) })
	s.tasks.Wait()
	t.Stop()
	s.cancel(storage.ErrClosed)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed > 0 {
		return fmt.Errorf("close the store of users: JetStream took too long to keep %d writes", s.failed)
	}
	return nil
}
