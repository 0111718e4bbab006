package outcome

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// NewID returns the id of a call. It is in the call's result and in the record, and no secret:
// who knows it can do nothing with a call of somebody else.
func NewID() string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	var id [10]byte
	for i, n := 0, rand.Uint64(); i < len(id); i++ {
		id[i] = letters[n%32]
		n /= 32
	}
	return string(id[:])
}

// Call is one call of a client. Its methods are safe for concurrent use and do not block. A nil
// Call is one of which nothing is kept: they do nothing then.
type Call struct {
	// static after construction
	id     string
	tool   string // or what else was asked for
	began  time.Time
	ledger *Ledger
	whole  *Call // which this is a part of; nil: of none

	sends  atomic.Int32 // requests that may have reached a page or browser
	acts   atomic.Int32 // of these, those that must not be sent twice, and what Lasts; negative: see stopped
	failed atomic.Bool  // the hub's failure is the answer

	// guarded by ledger.mu
	session *session
	runs    Asker // has begun it; nil when it has ended
	asker   Asker // waits for the answer; nil when it has ended
	turn    int   // of the asker
	broken  *time.Timer
	hidden  bool
	ended   time.Time     // zero while it is under way
	done    chan struct{} // closed at the end; nil while nobody waits for that
	result  json.RawMessage
	fault   json.RawMessage
	large   bool // there was an answer, larger than what is kept
	lost    time.Time
	key     Key // of who has lost the answer
	older   *Call
	newer   *Call
}

// ID returns the call's id, "" of a nil Call.
func (c *Call) ID() string {
	if c == nil {
		return ""
	}
	return c.id
}

// Part returns a call that is a part of c, with an id of its own. What it sends c has sent;
// how it ends says nothing about c.
func (c *Call) Part() *Call {
	if c == nil {
		return nil
	}
	return &Call{id: NewID(), whole: c}
}

// of returns the call that c is, or is a part of.
func (c *Call) of() *Call {
	if c != nil && c.whole != nil {
		return c.whole
	}
	return c
}

// Sending says that a request is about to be sent to a page or a browser. twice says that it
// may be sent a second time without harm. It reports false if the request must not be sent any
// more: the client is gone, and who asks for the same makes another call.
func (c *Call) Sending(twice bool) bool {
	if c = c.of(); c == nil {
		return true
	}
	n := counts(twice)
	if c.acts.Add(n) < 0 {
		c.acts.Add(-n)
		return false
	}
	c.sends.Add(1)
	return true
}

// NotSent takes back what Sending has said: the request has not left.
func (c *Call) NotSent(twice bool) {
	if c = c.of(); c != nil {
		c.sends.Add(-1)
		c.acts.Add(-counts(twice))
	}
}

// Lasts says that the answer is where to ask for what the call does, which goes on: it must not be
// begun twice. It reports false if the client is gone, and who asks for the same makes another call.
func (c *Call) Lasts() bool {
	if c != nil && c.acts.Add(1) < 0 {
		c.acts.Add(-1)
		return false
	}
	return true
}

func counts(twice bool) int32 {
	if twice {
		return 0
	}
	return 1
}

// stopped is what Call.acts is from, once nothing may be sent any more. That it was not before
// and will not be is one step: who asks again is sure of it.
const stopped = math.MinInt32 / 2

// stop has nothing sent any more, and reports false if something was that must not be sent twice.
func (c *Call) stop() bool { return c.acts.CompareAndSwap(0, stopped) }

// Failed says that the answer is a failure of the hub, not what the page has said.
func (c *Call) Failed() {
	if c != nil {
		c.failed.Store(true)
	}
}
