package ledger

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// MetaKey says in the _meta of a result which call it answers.
const MetaKey = "tabhub/call"

// NewID returns the id of a call. It is in the call's result and in the record, and no secret: a
// client that knows it can do nothing with the call of another.
func NewID() string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	var id [10]byte
	for i, n := 0, rand.Uint64(); i < len(id); i++ {
		id[i] = letters[n%32]
		n /= 32
	}
	return string(id[:])
}

// Call is one call. Its methods are safe for concurrent use, and block only where they say so. Most
// of them do nothing with a nil Call, of which nothing is kept.
type Call struct {
	// Static after construction.
	id      string
	ledger  *Ledger
	session *session // of its client; nil: nothing is kept of it
	whole   *Call    // which this is a part of; nil: of none
	conn    any      // see Ask.Conn
	stream  uint64   // see Ask.Stream
	request string   // its id within the session, "" if it has none
	sum     uint64
	method  string
	tool    string
	began   time.Time

	// Guarded by ledger.mu.
	state    State
	stop     context.CancelCauseFunc
	about    Subject
	entered  bool
	waits    bool
	asked    time.Duration // how long the owner was asked about it; less the time since began while it is
	tab      spec.TabAddr
	browser  string
	decision policy.Effect
	progress *spec.Progress
	sends    int  // requests that may have reached a page or a browser
	acts     int  // of these, those that must not be sent twice
	failed   bool // the hub's failure is the answer
	hidden   bool // nothing is kept once it has ended
	large    bool // there was an answer, and it is not kept
	ended    time.Time
	done     chan struct{} // closed at the end; nil while nothing waits for that
	result   json.RawMessage
	fault    json.RawMessage
	task     *task                  // nil: it is none
	joined   int                    // requests that wait for the same answer
	becoming chan struct{}          // closed when it is stored as one, or is none; nil: it is not becoming one
	plain    bool                   // it becomes none
	how      func() json.RawMessage // to ask its page for the answer; nil: it was sent to none

	older, newer *Call // in flight
}

// State is how far a call has come. The package documentation has the table.
type State int

// The states, in this order.
const (
	begun State = iota
	asked
	decided
	sent
	answered
	taken
	lost
)

// Subject is what a call is for, as its owner sees it.
type Subject struct {
	Principal *policy.Principal
	Session   string
	Said      string // what the client calls itself
	Via       string // the hub's own tool that the client called for it
	Kind      spec.Kind
	Tool      string      // the page's own name
	Pack      string      // that gives the tool; "": the page does
	Site      policy.Site // empty for none, or for one that is not known yet
	Own       bool        // a tool of the hub itself: what it does for the client are calls, too
	Part      bool        // of a call that is shown
}

// ID returns the call's id, "" of a nil Call.
func (c *Call) ID() string {
	if c == nil {
		return ""
	}
	return c.id
}

// Part returns a call that is a part of c, with an id of its own. What it sends c has sent; how it
// ends says nothing about c. It is in flight from Enter to Leave.
func (c *Call) Part() *Call {
	if c == nil {
		return nil
	}
	return &Call{id: NewID(), ledger: c.ledger, whole: c.of(), began: time.Now()}
}

// of returns the call that c is, or is a part of.
func (c *Call) of() *Call {
	if c != nil && c.whole != nil {
		return c.whole
	}
	return c
}

// Enter has the owner see the call as what it is about, until Leave. It reports false if it cannot: it is
// shown as something else already, or its context cannot be ended yet, as it is a part: then EnterWith does.
func (c *Call) Enter(about Subject) bool {
	l := c.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.entered || c.stop == nil {
		return false
	}
	c.enterLocked(about)
	return true
}

// EnterWith is Enter for a call that is in flight from now to Leave, and that stop stops.
func (c *Call) EnterWith(about Subject, stop context.CancelCauseFunc) {
	l := c.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	c.stop = stop
	l.linkLocked(c)
	c.enterLocked(about)
}

func (c *Call) enterLocked(about Subject) {
	c.entered, c.about = true, about
	// Of an earlier round of the call:
	c.tab, c.browser, c.decision = spec.TabAddr{}, "", policy.Unset
	c.answeredLocked()
	if c.state == decided {
		c.state = begun
	}
	c.ledger.opts.Changed.Fire()
}

// IsFresh reports whether the call is a part that was not entered yet.
func (c *Call) IsFresh() bool {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	return c.whole != nil && c.stop == nil && c.state < answered
}

// Leave ends what Enter began, and a call that EnterWith began.
func (c *Call) Leave() {
	l := c.ledger
	l.mu.Lock()
	c.entered, c.waits, c.progress = false, false, nil
	var stop context.CancelCauseFunc
	if c.session == nil {
		stop, c.stop, c.state = c.stop, nil, taken
		l.unlinkLocked(c)
	}
	l.mu.Unlock()
	if stop != nil {
		stop(nil)
	}
	l.opts.Changed.Fire()
}

// change changes what is shown of c.
func (c *Call) change(f func()) {
	if c == nil {
		return
	}
	c.ledger.mu.Lock()
	if c.state < answered {
		f()
	}
	c.ledger.mu.Unlock()
	c.ledger.opts.Changed.Fire()
}

// Waits says that the call waits for a tab, or for the person who uses one.
func (c *Call) Waits(tab spec.TabAddr) { c.change(func() { c.waits, c.tab = true, tab }) }

// Asks says that the owner is asked about the call.
func (c *Call) Asks() {
	c.change(func() {
		if c.state != asked {
			c.state, c.asked = asked, c.asked-time.Since(c.began)
		}
	})
}

// GoesOn says that the owner has answered, or that the call waits no longer.
func (c *Call) GoesOn() {
	c.change(func() {
		c.waits, c.progress = false, nil
		c.answeredLocked()
	})
}

// answeredLocked says that the owner is no longer asked.
func (c *Call) answeredLocked() {
	if c.state == asked {
		c.state, c.asked = begun, c.asked+time.Since(c.began)
	}
}

// Decided says that the call may be done, and by what: policy.Ask if the owner has said so.
func (c *Call) Decided(by policy.Effect) {
	c.change(func() {
		if c.decision = by; c.state < decided {
			c.state = decided
		}
	})
}

// Progressed says how far the page has come.
func (c *Call) Progressed(to spec.Progress) { c.change(func() { c.progress = &to }) }

// Reaches says which site the call is about, once that is known.
func (c *Call) Reaches(site policy.Site) { c.change(func() { c.about.Site = site }) }

// Sending says that a request is about to be sent to a tab, or to a browser by its name. twice says that
// it may be sent a second time without harm.
func (c *Call) Sending(twice bool, tab spec.TabAddr, browser string) {
	c.change(func() {
		c.state, c.waits, c.tab, c.browser = sent, false, tab, browser
		c.of().countLocked(1, twice)
		if c.whole != nil && c.whole.state < answered {
			c.whole.state = sent
		}
	})
}

// NotSent takes back what Sending has said: the request has not left.
func (c *Call) NotSent(twice bool) {
	if c == nil {
		return
	}
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	c.of().countLocked(-1, twice)
	for _, of := range []*Call{c, c.of()} {
		if of.state == sent && c.of().sends == 0 {
			of.state = decided
		}
	}
}

func (c *Call) countLocked(n int, twice bool) {
	c.sends += n
	if !twice {
		c.acts += n
	}
}

// Failed says that the answer is a failure of the hub, not what the page has said.
func (c *Call) Failed() { c.change(func() { c.failed = true }) }

// Hide has nothing kept of the call: it only asks for another.
func (c *Call) Hide() { c.of().change(func() { c.of().hidden = true }) }

// Stop ends the context of the call with a cause, unless it has ended.
func (c *Call) Stop(cause error) {
	if c == nil {
		return
	}
	c.ledger.mu.Lock()
	stop := c.stop
	if c.state >= answered {
		stop = nil
	}
	c.ledger.mu.Unlock()
	if stop != nil {
		stop(cause)
	}
}

// Done returns a channel that is closed when the call has ended, or is a task.
func (c *Call) Done() <-chan struct{} {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.state >= answered || c.task != nil {
			close(c.done)
		}
	}
	return c.done
}

// Answer returns how a call has ended, both nil without an answer, or if it is not kept.
func (c *Call) Answer() (result, fault json.RawMessage) {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	return c.result, c.fault
}

// Acted reports whether the call may have sent what must not be sent twice.
func (c *Call) Acted() bool {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	return c.acts > 0
}

// WasTaken reports whether the client has had the answer, as far as is known.
func (c *Call) WasTaken() bool {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	return c.state == taken
}

// End ends a call with its raw answer, or with the JSON-RPC error in place of one. Both are nil if
// it has none. They are not copied, and must not change any more.
func (c *Call) End(result, fault json.RawMessage) {
	if c == nil {
		return
	}
	l := c.ledger
	l.mu.Lock()
	if c.state >= answered {
		l.mu.Unlock()
		return
	}
	c.endLocked(result, fault)
	l.mu.Unlock()
}

func (c *Call) endLocked(result, fault json.RawMessage) {
	c.answeredLocked()
	c.state, c.ended, c.result, c.fault = answered, time.Now(), result, fault
	c.stop, c.conn, c.progress, c.how = nil, nil, nil, nil
	c.ledger.unlinkLocked(c)
	if c.done != nil && c.task == nil {
		close(c.done)
	}
	if c.session != nil {
		c.ledger.keepLocked(c)
	}
}

// Taken says that the client has the answer, as far as is known.
func (c *Call) Taken() {
	if c == nil {
		return
	}
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	if c.state != answered && c.state != lost {
		return
	}
	was := c.state
	c.state = taken
	if s := c.session; s != nil { // it may be forgotten by now
		if was == lost {
			s.moveLocked(&s.lost, &s.ended, c)
		}
		s.trimTakenLocked(c)
	}
}

// Lost says that the answer could not be written to the client's connection.
func (c *Call) Lost() {
	if c == nil {
		return
	}
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	if c.state == answered && c.session != nil {
		c.state = lost
		c.session.moveLocked(&c.session.ended, &c.session.lost, c)
	}
}

func (c *Call) size() int { return len(c.result) + len(c.fault) }
