package relay

import "sync/atomic"

// counters count what has happened since the start.
type counters struct {
	forwarded, answered, events   atomic.Uint64
	dropped, malformed            atomic.Uint64
	limited, refused, interrupted atomic.Uint64
	denied                        atomic.Uint64
}

// Stats says what a Relay holds and what has happened since its start.
type Stats struct {
	Users       int `json:"users"`
	Extensions  int `json:"extensions"`  // connected now
	Clients     int `json:"clients"`     // connected now
	Connections int `json:"connections"` // of clients to extensions
	InFlight    int `json:"inFlight"`    // requests that wait for an answer

	Forwarded   uint64 `json:"forwarded"`   // requests and notifications passed on to extensions
	Answered    uint64 `json:"answered"`    // answers passed on to who asked
	Events      uint64 `json:"events"`      // what extensions sent unasked, each time it was passed on
	Dropped     uint64 `json:"dropped"`     // messages that were for nobody: late, twice, or of unknown ids
	Malformed   uint64 `json:"malformed"`   // frames that could not be read
	Limited     uint64 `json:"limited"`     // requests refused by a rate limit
	Refused     uint64 `json:"refused"`     // peers whose credentials were refused
	Denied      uint64 `json:"denied"`      // messages that the owner's word has kept from extensions
	Slow        uint64 `json:"slow"`        // peers closed because they did not read or answer
	Interrupted uint64 `json:"interrupted"` // requests ended without an answer of the extension
}

// Stats returns the counts of now.
func (r *Relay) Stats() Stats {
	s := Stats{
		Forwarded:   r.counts.forwarded.Load(),
		Answered:    r.counts.answered.Load(),
		Events:      r.counts.events.Load(),
		Dropped:     r.counts.dropped.Load(),
		Malformed:   r.counts.malformed.Load(),
		Limited:     r.counts.limited.Load(),
		Refused:     r.counts.refused.Load(),
		Denied:      r.counts.denied.Load(),
		Slow:        r.conns.Slow(),
		Interrupted: r.counts.interrupted.Load(),
	}
	for _, t := range r.all() {
		t.count(&s)
	}
	return s
}
