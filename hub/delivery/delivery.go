// Package delivery tells whether an answer that was written to a connection has reached its
// client. To have written it says little: it may lie in the buffers of the system, unread, when
// the client is killed. But then the system resets the connection, instead of closing it. Linux
// and Windows do so; elsewhere what was written counts as delivered. Linux says, too, how much
// has arrived where the client runs.
//
// It also looks at once whether a client is gone, for who cannot wait to be told: on another
// connection it may have asked again already. On Windows it can not.
//
// Where another node of a cluster has the connection, and passes on what is written here, that
// node is asked: at once when a client may have asked again, see Look, and else after 10 s, for
// many answers together.
package delivery

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// within is how long after an answer was written a reset connection says that it was not read.
// Until then nobody knows, unless the client asks for something else over the connection.
const within = 10 * time.Second

// ackedBy is when a system has said that it has taken an answer, unless it is out of reach.
const ackedBy = time.Second

// Answer is what is written. One of its methods is called, once, by any goroutine, and must not
// block.
type Answer interface {
	Delivered()
	Lost()
}

// Conn is what is known of the answers that go to a client over a connection. Its methods are safe
// for concurrent use.
type Conn struct {
	peek func() seen   // what the system, or the other node, says now; does not block
	far  *far          // nil: the connection is this process's own
	sent atomic.Uint64 // bytes

	mu    sync.Mutex
	known []*written // of which nobody knows yet, the oldest first
	reset bool
	ended bool        // there is nothing more to read
	acked uint64      // bytes that the client's system has taken, as far as that was looked at
	late  *time.Timer // calls expire; nil before the first answer
	armed bool        // it will
}

// written is an answer on a connection.
type written struct {
	answer Answer
	at     time.Time // zero: it is being written
	begin  uint64    // Conn.sent before
	end    uint64    // and after
	early  bool      // its client had left before
	told   bool      // or is about to be
}

func (c *Conn) end(reset bool) {
	c.mu.Lock()
	c.reset = c.reset || reset
	c.look()
	c.ended = true
	if c.late != nil {
		c.late.Stop()
	}
	c.mu.Unlock()
	c.settle(func(w *written) (told, lost bool) { return true, w.isLost(c) })
}

// Asked says that the client asks for something else over the connection, which it does when it
// has read all that was written. It does nothing for a nil Conn.
func (c *Conn) Asked() {
	if c == nil {
		return
	}
	c.mu.Lock()
	waits := len(c.known) > 0
	c.mu.Unlock()
	if waits {
		c.settle(func(*written) (told, lost bool) { return true, false })
	}
}

// expire is called when an answer has waited for long.
func (c *Conn) expire() {
	c.mu.Lock()
	c.armed = false
	c.mu.Unlock()
	switch {
	case c.far == nil:
		c.settleOld()
	case !c.rests():
		c.far.nodes.soon(c)
	}
}

// settleOld tells the answers that nothing more will be known of.
func (c *Conn) settleOld() {
	c.mu.Lock()
	c.look()
	c.mu.Unlock()
	c.settle(func(w *written) (told, lost bool) { return time.Since(w.at) >= within && w.end <= c.acked, false })
}

// Writing says that an answer is about to be written. Wrote or Failed must follow.
func (c *Conn) Writing(a Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = append(c.known, &written{answer: a, begin: c.sent.Load(), early: c.ended})
}

// Wrote says that an answer was written, and has it told what becomes of it: when the client asks
// for something else, when the connection ends, or when its system has taken it, 10 s later.
func (c *Conn) Wrote(a Answer) { c.wrote(a, 0) }

// wrote is Wrote for an answer of which the server is yet to send so many bytes at least.
func (c *Conn) wrote(a Answer, rest uint64) {
	c.mu.Lock()
	if w := c.find(a); w != nil {
		w.at, w.end = time.Now(), c.sent.Load()+rest
	}
	over := c.ended || c.reset
	if !over {
		c.arm(within)
	}
	c.mu.Unlock()
	if over {
		c.settle(func(w *written) (told, lost bool) { return true, w.isLost(c) })
	}
}

// arm has the timer run, if it does not. The caller holds the lock.
func (c *Conn) arm(d time.Duration) {
	switch {
	case c.armed:
		return
	case c.late == nil:
		c.late = time.AfterFunc(d, c.expire)
	default:
		c.late.Reset(d)
	}
	c.armed = true
}

// Failed says that an answer could not be written, which it knows.
func (c *Conn) Failed(a Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = slices.DeleteFunc(c.known, func(w *written) bool { return w.answer == a })
}

// IsLost reports whether an answer was written, or is, that its client does not read.
func (c *Conn) IsLost(a Answer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.find(a)
	if w == nil {
		return false
	}
	left := c.look()
	switch {
	case w.at.IsZero(): // as much of it as was sent may be all
		sent := c.sent.Load()
		return left && (c.reset || sent == w.begin || sent > c.acked)
	case !left && time.Since(w.at) < ackedBy:
		return false // it is on its way
	}
	return w.isLost(c)
}

// IsGone reports whether the client has left, and will read nothing.
func (c *Conn) IsGone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.look()
}

// look finds out what the system knows, before who reads is told. It reports whether the client
// has left, as far as that can be seen. The caller holds the lock.
func (c *Conn) look() (left bool) {
	if !c.reset && !c.ended {
		var now seen
		if now = c.peek(); now.counts {
			c.acked = now.acked
		} else {
			c.acked = c.sent.Load()
		}
		left, c.reset = now.ended, now.reset
	}
	return left || c.ended || c.reset
}

func (c *Conn) find(a Answer) *written {
	for _, w := range c.known {
		if w.answer == a {
			return w
		}
	}
	return nil
}

// isLost reports whether an answer that was written was not read: its client had left, its system
// has not taken it, or has reset the connection soon. The caller holds the lock.
func (w *written) isLost(c *Conn) bool {
	return w.early || w.end > c.acked || c.reset && time.Since(w.at) < within
}

// settle tells the answers that were written what has become of them, as far as about knows,
// which is called with the lock.
func (c *Conn) settle(about func(*written) (told, lost bool)) {
	var lost, delivered []*written
	c.mu.Lock()
	for _, w := range c.known {
		if w.told || w.at.IsZero() {
			continue
		}
		var isLost bool
		switch w.told, isLost = about(w); {
		case !w.told:
		case isLost:
			lost = append(lost, w)
		default:
			delivered = append(delivered, w)
		}
	}
	c.mu.Unlock()
	for _, w := range lost {
		w.answer.Lost()
	}
	for _, w := range delivered {
		w.answer.Delivered()
	}
	if c.far != nil {
		defer c.rests()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// Until they were told, IsLost knows of them.
	for _, w := range slices.Concat(lost, delivered) {
		w.answer = nil
	}
	c.known = slices.DeleteFunc(c.known, func(w *written) bool { return w.answer == nil })
	if len(c.known) > 0 && !c.ended {
		c.arm(max(time.Second, within-time.Since(c.known[0].at)))
	}
}

// seen is what the system says of a connection.
type seen struct {
	ended  bool // there is nothing more to read
	reset  bool
	counts bool   // acked says something
	acked  uint64 // bytes that the client's system has taken
}
