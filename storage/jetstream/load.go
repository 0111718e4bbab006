package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tabhub/spec"
	"tabhub/storage"
)

// Load implements storage.DomainToolStorage: it asks Options.May, claims the user, and reads the
// journal. While JetStream does not answer it tries until ctx ends; it may have claimed the user then.
// The error is storage.ErrCorrupt for a damaged journal, and storage.ErrNewer for one that a newer
// version has written; in both cases only the claim is added to the journal.
func (s *Store) Load(ctx context.Context, user spec.UserID, stale time.Time) (*storage.State, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.loads, func() { cancel(storage.ErrClosed) })()

	state, err := s.load(ctx, user)
	if errors.Is(err, storage.ErrCorrupt) {
		err = fmt.Errorf("%w; `nats stream purge %s --subject %s` lets the user start afresh", err, streamName, subject(user))
	}
	if err != nil {
		return nil, fmt.Errorf("load state of user %q: %w", user, err)
	}
	if deletions := state.Prune(stale); len(deletions) > 0 {
		s.Write(user, state.Epoch, deletions, nil)
	}
	return state, nil
}

func (s *Store) load(ctx context.Context, user spec.UserID) (*storage.State, error) {
	j, err := s.enter(ctx, user)
	if err != nil {
		return nil, err
	}
	var state *storage.State
	var epoch spec.Epoch
	defer func() { s.leave(j, epoch) }()
	if err := s.drain(ctx, j); err != nil {
		return nil, err
	}
	j.node = s.opts.Node()
	var f fold
	for {
		if err := s.claim(ctx, j); err != nil {
			return nil, err
		}
		f = fold{}
		err := s.read(ctx, subject(user), j.seq, f.add)
		if err == nil {
			state, err = f.state()
		}
		if err == nil {
			break
		}
		if !s.overtaken(ctx, j, err) {
			return nil, err
		}
	}
	state.Epoch, epoch = j.claimed, j.claimed
	j.ids, j.live, j.messages, j.bytes = 0, f.live, f.messages, f.bytes
	if f.before { // its writer did not finish it
		s.purge(j, f.start)
	}
	return state, nil
}

// overtaken reports whether a journal could not be read because another writer's snapshot has
// replaced the messages.
func (s *Store) overtaken(ctx context.Context, j *journal, err error) bool {
	if _, superseded := errors.AsType[*supersededError](err); superseded {
		return true
	}
	if !errors.Is(err, errGap) {
		return false
	}
	last, err := s.last(ctx, j.user, true)
	return err == nil && last.seq > j.seq
}

// enter waits for other Loads of the user. Afterwards writes under older epochs are refused.
func (s *Store) enter(ctx context.Context, user spec.UserID) (*journal, error) {
	if err := storage.Validate(user, nil); err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, storage.ErrClosed
	}
	j := s.users[user]
	if j == nil {
		j = &journal{user: user, turn: make(chan struct{}, 1)}
		s.users[user] = j
	}
	j.loads++
	s.mu.Unlock()

	var err error
	select {
	case j.turn <- struct{}{}:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		j.loads--
		s.dropLocked(j)
		return nil, err
	}
	j.loading = true
	return j, nil
}

// leave undoes enter. epoch is the one that Load returns, 0 for none.
func (s *Store) leave(j *journal, epoch spec.Epoch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.epoch = epoch
	j.loading = false
	j.loads--
	for _, r := range j.refused {
		s.tellLocked(r.done, checkEpoch(j.user, r.epoch, j))
	}
	j.refused = nil
	<-j.turn
	if epoch != 0 && !s.closed && s.due(j) {
		s.startLocked(j)
	}
	s.dropLocked(j)
}

// drain waits until all queued changes are written or have failed.
func (s *Store) drain(ctx context.Context, j *journal) error {
	s.mu.Lock()
	stopped := j.stopped
	if j.running {
		j.poke()
	}
	s.mu.Unlock()
	if stopped == nil {
		return nil
	}
	select {
	case <-stopped:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// claim makes j's node the user's writer, if Options.May lets it.
func (s *Store) claim(ctx context.Context, j *journal) error {
	for certain := false; ; certain = true {
		last, err := s.last(ctx, j.user, certain)
		if err != nil {
			return err
		}
		if s.opts.May != nil {
			err := s.opts.May(ctx, j.user, last.writer())
			if err != nil && !certain {
				continue // the server that has answered may not know of a release yet
			}
			if err != nil {
				return err
			}
		}
		seq, err := s.publish(ctx, s.message(j, kindClaim), last.seq)
		if _, superseded := errors.AsType[*supersededError](err); superseded {
			continue // another node has written since
		}
		j.seq, j.claimed = seq, spec.Epoch(seq)
		return err
	}
}
