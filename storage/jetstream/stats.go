package jetstream

import "sync/atomic"

// Stats count what a Store has written since it was opened.
type Stats struct {
	Messages  int64 // of all kinds, to users' journals
	Bytes     int64 // of their payloads
	Snapshots int64
	Waiting   int // bytes, about, that wait to be written
}

type stats struct{ messages, bytes, snapshots atomic.Int64 }

// Stats returns the counters.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	waiting := s.waiting
	s.mu.Unlock()
	return Stats{Messages: s.stats.messages.Load(), Bytes: s.stats.bytes.Load(), Snapshots: s.stats.snapshots.Load(), Waiting: waiting}
}
