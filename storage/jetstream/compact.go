package jetstream

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// A journal is compacted when it has more messages than maxMessages beside those of a snapshot,
// or more bytes than maxBytes beside three times the user's current state.
const (
	maxMessages = 256
	maxBytes    = 64 << 10
)

// due reports whether j must be compacted.
func (s *Store) due(j *journal) bool {
	return j.messages > maxMessages+2*(j.live/s.partSize()) || j.bytes > maxBytes+3*j.live
}

// compact writes a snapshot and deletes the messages before it. It reads the state from the
// journal, so that there is no second copy in memory. If it fails, the next try is when the
// journal has grown by as much again.
func (s *Store) compact(j *journal) error {
	s.mu.Lock()
	busy := s.closed || j.loading || j.release != nil || j.epoch == 0
	s.mu.Unlock()
	if busy {
		return nil
	}
	select {
	case s.compactions <- struct{}{}:
		defer func() { <-s.compactions }()
	default:
		return nil // after the next flush, which must not wait for this
	}
	var f fold
	ctx, cancel := context.WithTimeout(s.loads, s.lostAfter) // the journal's end may be lost; the next write finds out
	err := s.read(ctx, subject(j.user), j.seq, f.add)
	cancel()
	if err == nil {
		err = f.gap
	}
	if err == nil && (len(f.parts) > 0 || f.last != j.seq) {
		err = fmt.Errorf("it ends unfinished at %d, not at %d", f.last, j.seq)
	}
	messages, bytes := j.messages, j.bytes
	var first uint64
	if err == nil {
		first, err = s.writeParts(j, kindSnapshot, f.snapshot())
	}
	if err != nil {
		if s.loads.Err() == nil {
			s.log.Warn("the journal of a user cannot be compacted", "user", j.user, "err", err)
		}
		j.live, j.messages = j.bytes, 0
		return err
	}
	s.stats.snapshots.Add(1)
	j.live, j.messages, j.bytes = f.live, j.messages-messages, j.bytes-bytes
	s.purge(j, first)
	return nil
}

// purge deletes the messages of j before the snapshot that begins at sequence first. It does
// not block. If it fails, the next purge deletes them.
func (s *Store) purge(j *journal, first uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(s.loads, maxAnswer)
		defer cancel()
		err := s.stream.Purge(ctx, jetstream.WithPurgeSubject(subject(j.user)), jetstream.WithPurgeSequence(first))
		if err != nil {
			s.log.Debug("what a snapshot replaces is not deleted", "user", j.user, "err", err)
		}
	})
}
