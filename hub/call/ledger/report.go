package ledger

import (
	"encoding/json"
	"slices"
	"time"
)

// Outcome is what became of a call.
type Outcome string

// The outcomes.
const (
	UnderWay Outcome = "under_way"
	Ended    Outcome = "ended"
	NotSent  Outcome = "not_sent"
	MayHave  Outcome = "may_have_taken_effect"
	NotKnown Outcome = "unknown"
)

// Report says what became of a call.
type Report struct {
	ID    string    `json:"id,omitempty"`
	Tool  string    `json:"tool,omitempty"` // or what else was asked for
	State Outcome   `json:"state"`
	Sent  *bool     `json:"sent,omitempty"` // of one under way: it may have reached a page
	Began time.Time `json:"began,omitzero"`
	Took  float64   `json:"tookMs,omitempty"` // without what its owner took to answer
	Note  string    `json:"note,omitempty"`
	// Result is the raw answer, Fault the JSON-RPC error in place of one.
	Result json.RawMessage `json:"result,omitempty"`
	Fault  json.RawMessage `json:"error,omitempty"`
}

// Report says what became of a call of a client: the one of that id or, without one, the
// session's latest but for the call but.
func (l *Ledger) Report(of Session, id string, but *Call) Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.findLocked(of, id, but.of())
	if c == nil {
		return Report{ID: id, State: NotKnown, Note: "The hub does not know of such a call: none was made, it is forgotten by now, or the hub has been restarted since. It may have taken effect."}
	}
	r := Report{ID: c.id, Tool: c.tool, State: c.outcomeLocked(), Began: c.began, Result: c.result, Fault: c.fault}
	if c.state < answered {
		r.Sent = new(c.sends > 0)
	} else {
		r.Took = float64((c.ended.Sub(c.began) - c.asked).Microseconds()) / 1000
	}
	switch {
	case c.large:
		r.Note = "The answer was too large, or is too old, to be kept."
	case r.State == NotSent:
		r.Note = "It did not reach a page, and will not: it can be made again."
	case r.State == MayHave && c.result == nil:
		r.Note = "It was sent, and ended without an answer."
	}
	return r
}

func (c *Call) outcomeLocked() Outcome {
	answers := c.result != nil || c.fault != nil || c.large
	switch {
	case c.state < answered:
		return UnderWay
	case answers && !c.failed:
		return Ended
	case c.sends > 0:
		return MayHave
	}
	return NotSent
}

// findLocked returns the call of that id that one of the client's sessions has made or, if id
// is "", the latest of the session that is not but. nil: there is none.
func (l *Ledger) findLocked(of Session, id string, but *Call) (found *Call) {
	consider := func(c *Call) {
		switch {
		case id != "" && c.id == id:
			found = c
		case id == "" && c != but && !c.hidden && (found == nil || c.began.After(found.began)):
			found = c
		}
	}
	for c := l.oldest; c != nil; c = c.newer {
		if c.session != nil && (c.session.id == of || id != "" && c.session.id.Client == of.Client) {
			consider(c)
		}
	}
	for sid, s := range l.sessions {
		if sid == of || id != "" && sid.Client == of.Client {
			for _, c := range slices.Concat(s.ended, s.lost) {
				consider(c)
			}
		}
	}
	return found
}
