package wsserver

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"tabhub/spec"
)

// What registrations may cost. The hub has to read the schemas of a page before it
// serves its tools, and a page can write schemas that take long to read, again and
// again. Calls must not wait for that, so it has a budget.
const (
	tabBurst   = time.Second // of a tab: about 1,000 tools with a dozen patterns each
	tabShare   = 0.1
	connBurst  = 4 * time.Second // of a browser with all its tabs
	connShare  = 0.25
	totalBurst = 8 * time.Second // of all connections, for waiting ones
	totalShare = 0.5             // of one processor

	// smallRegistration is the size, in bytes, up to which a registration is read at
	// once, by the connection's reader: two dozen simple tools, less than a millisecond.
	smallRegistration = 16 << 10
	// maxWaiting bounds the registrations of a connection that wait, in bytes.
	maxWaiting = 64 << 20
	// maxFlush is how long what waits may take at the end of a connection.
	maxFlush = 250 * time.Millisecond
	// manyTabs is from where on tabs that are quiet are forgotten.
	manyTabs = 1024
)

// registrar delivers a connection's messages. Small registrations of tabs that are
// within their budget, and all other messages, are delivered by the caller, the
// connection's reader. Other registrations wait for a goroutine of the connection,
// which reads one after the other as the budgets and spec.MaxRegistrations allow: next
// is that of the tab that has most of its budget left, or was read longest ago.
//
// Of each kind a tab's newest registration waits, so the last state always wins. One
// that is replaced is never read; it is answered with CodeLimit, if it was a request.
type registrar struct {
	worker sync.WaitGroup

	mu      sync.Mutex
	tabs    map[int64]*tabQueue
	prune   int    // from how many tabs on unused ones are looked for and removed
	spent   budget // of the connection
	bytes   int    // of waiting registrations
	wake    chan struct{}
	working bool // the worker runs
	slow    bool // it was logged that a tab is over its budget
}

// tabQueue is what waits of one tab. It is guarded by registrar.mu.
type tabQueue struct {
	rate    *rate.Limiter
	spent   budget
	waiting []registration // at most one of each kind, the first to come first
	busy    bool           // one is being delivered
}

type registration struct {
	id   json.RawMessage
	msg  *spec.Register
	size int
}

// readSlot lets the registrars of a Server read one registration at a time, within a common
// budget. Reading is pure computation: two at a time would keep two processors from calls.
type readSlot struct {
	taken chan struct{} // capacity 1

	mu    sync.Mutex
	spent budget
}

func newReadSlot() *readSlot {
	return &readSlot{taken: make(chan struct{}, 1), spent: budget{burst: totalBurst, share: totalShare}}
}

func (s *readSlot) spend(now time.Time, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent.spend(now, d)
}

// enter waits for the slot, in the order of the callers, and then until there is budget
// left. It reports false if ctx is done before.
func (s *readSlot) enter(ctx context.Context) bool {
	select {
	case s.taken <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	s.mu.Lock()
	wait := s.spent.wait(time.Now())
	s.mu.Unlock()
	if wait == 0 {
		return true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		s.leave()
		return false
	}
}

func (s *readSlot) leave() { <-s.taken }

func newRegistrar() registrar {
	return registrar{prune: manyTabs, spent: budget{burst: connBurst, share: connShare}}
}

// message delivers a message, or has it wait. It is for the reader.
func (r *registrar) message(c *conn, tab int64, id json.RawMessage, msg spec.Inbound) {
	switch msg := msg.(type) {
	case *spec.Register:
		reg := registration{id: id, msg: msg}
		for _, item := range msg.Items {
			reg.size += len(item)
		}
		q, dropped := r.take(c, tab, reg)
		c.supersede(tab, dropped)
		if q == nil {
			return
		}
		start := time.Now()
		c.attachment.Message(tab, id, msg)
		r.delivered(c, tab, q, time.Since(start))
		return
	case *spec.TabClosed:
		// Before one that is being read comes to its end: the hub sees to that.
		c.supersede(tab, r.forget(tab))
	}
	c.attachment.Message(tab, id, msg)
}

// take returns the tab's queue, marked as busy, if the caller is to deliver the
// registration now; nil if it waits. What had to go for it is dropped.
func (r *registrar) take(c *conn, tab int64, reg registration) (q *tabQueue, dropped []registration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	q = r.queueLocked(tab, now)
	if reg.size <= smallRegistration && !q.busy && len(q.waiting) == 0 &&
		q.spent.left(now) > 0 && r.spent.left(now) > 0 && q.rate.Allow() {
		q.busy = true
		return q, nil
	}
	r.bytes += reg.size
	replaced := false
	for i, older := range q.waiting {
		if older.msg.Kind == reg.msg.Kind {
			q.waiting[i], replaced = reg, true
			r.bytes -= older.size
			dropped = append(dropped, older)
		}
	}
	if !replaced {
		q.waiting = append(q.waiting, reg)
	}
	for r.bytes > maxWaiting {
		r.dropLargestLocked(c)
	}
	r.startLocked(c)
	return nil, dropped
}

// queueLocked returns the queue of a tab, making it if need be.
func (r *registrar) queueLocked(tab int64, now time.Time) *tabQueue {
	q := r.tabs[tab]
	if q == nil {
		if r.tabs == nil {
			r.tabs = map[int64]*tabQueue{}
		}
		if len(r.tabs) >= r.prune {
			r.pruneLocked(now)
		}
		q = &tabQueue{
			rate:  rate.NewLimiter(spec.MaxRegistrations, spec.MaxRegistrations),
			spent: budget{burst: tabBurst, share: tabShare},
		}
		r.tabs[tab] = q
	}
	return q
}

// pruneLocked forgets the tabs that have been quiet for long enough to have all of
// their budget.
func (r *registrar) pruneLocked(now time.Time) {
	for tab, q := range r.tabs {
		if !q.busy && len(q.waiting) == 0 && q.spent.owed(now) == 0 && q.rate.Tokens() >= spec.MaxRegistrations {
			delete(r.tabs, tab)
		}
	}
	r.prune = max(manyTabs, 2*len(r.tabs))
}

// dropLargestLocked gives up the largest registration that waits: peers that send
// large ones lose them first.
func (r *registrar) dropLargestLocked(c *conn) {
	var most *tabQueue
	var tab int64
	at := 0
	for t, q := range r.tabs {
		for i, reg := range q.waiting {
			if most == nil || reg.size > most.waiting[at].size {
				most, tab, at = q, t, i
			}
		}
	}
	reg := most.waiting[at]
	most.waiting = slices.Delete(most.waiting, at, at+1)
	r.bytes -= reg.size
	c.srv.stats.throttled.Add(1)
	if reg.id != nil {
		c.Respond(tab, reg.id, nil, spec.Errorf(spec.CodeLimit, "the registrations that wait are larger than %d bytes", maxWaiting))
	}
}

// forget drops what waits of a tab that was closed.
func (r *registrar) forget(tab int64) []registration {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.tabs[tab]
	if q == nil {
		return nil
	}
	dropped := q.waiting
	q.waiting = nil
	for _, reg := range dropped {
		r.bytes -= reg.size
	}
	return dropped
}

// delivered ends what take, or next, began.
func (r *registrar) delivered(c *conn, tab int64, q *tabQueue, took time.Duration) {
	now := time.Now()
	c.srv.reading.spend(now, took)
	r.mu.Lock()
	q.busy = false
	q.spent.spend(now, took)
	r.spent.spend(now, took)
	first := !r.slow && q.spent.left(now) <= 0
	r.slow = r.slow || first
	r.mu.Unlock()
	if first {
		c.warn("a tab's registrations take long to read, so they wait; further ones of this connection are not logged", "tabId", tab)
	}
}

// startLocked makes sure that the worker looks at what waits.
func (r *registrar) startLocked(c *conn) {
	if r.working {
		select {
		case r.wake <- struct{}{}:
		default:
		}
		return
	}
	r.working, r.wake = true, make(chan struct{}, 1)
	r.worker.Go(func() { r.work(c) })
}

// work delivers what waits until nothing does, or the connection ends.
func (r *registrar) work(c *conn) {
	for {
		wait, more := r.pause()
		switch {
		case !more:
			return
		case wait > 0:
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-r.wake: // something else may be ready sooner
			case <-c.ws.Context().Done():
			}
			timer.Stop()
		case c.srv.reading.enter(c.ws.Context()):
			if tab, q, reg := r.next(); q != nil {
				start := time.Now()
				c.attachment.Register(tab, reg.id, reg.msg)
				r.delivered(c, tab, q, time.Since(start))
			}
			c.srv.reading.leave()
		}
		if c.ws.Context().Err() != nil {
			return
		}
	}
}

// pause returns how long the worker has to wait until something may be read; more is
// false if nothing waits: then the worker ends.
func (r *registrar) pause() (wait time.Duration, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for _, q := range r.tabs {
		if len(q.waiting) > 0 {
			if w := q.wait(now); !more || w < wait {
				wait, more = w, true
			}
		}
	}
	r.working = more
	return max(wait, r.spent.wait(now)), more
}

// wait is how long it takes until a tab may register again.
func (q *tabQueue) wait(now time.Time) time.Duration {
	next := q.rate.ReserveN(now, 1)
	defer next.CancelAt(now)
	return max(q.spent.wait(now), next.DelayFrom(now))
}

// before reports whether q is read before other: more of its budget is left or, if as much,
// it was read longer ago.
func (q *tabQueue) before(other *tabQueue, now time.Time) bool {
	mine, others := q.spent.left(now), other.spent.left(now)
	return mine > others || mine == others && q.spent.then.Before(other.spent.then)
}

// next takes the next registration to read and marks its tab as busy.
func (r *registrar) next() (tab int64, next *tabQueue, reg registration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for t, q := range r.tabs {
		if len(q.waiting) > 0 && q.wait(now) == 0 && (next == nil || q.before(next, now)) {
			tab, next = t, q
		}
	}
	if next == nil {
		return 0, nil, registration{}
	}
	reg = next.waiting[0]
	next.waiting = slices.Delete(next.waiting, 0, 1)
	next.busy = true
	next.rate.AllowN(now, 1)
	r.bytes -= reg.size
	return tab, next, reg
}

// flush ends the worker and delivers what waits, at the end of the connection, but
// for tabs that are over their budget.
func (r *registrar) flush(c *conn) {
	r.worker.Wait()
	r.mu.Lock()
	tabs := r.tabs
	r.tabs = nil
	r.mu.Unlock()
	start := time.Now()
	for tab, q := range tabs {
		for _, reg := range q.waiting {
			if q.spent.left(start) > 0 && time.Since(start) < maxFlush {
				c.attachment.Message(tab, reg.id, reg.msg)
			}
		}
	}
}

// supersede answers registrations that are not read.
func (c *conn) supersede(tab int64, dropped []registration) {
	for _, reg := range dropped {
		c.srv.stats.throttled.Add(1)
		if reg.id != nil {
			c.Respond(tab, reg.id, nil, spec.Errorf(spec.CodeLimit, "replaced by a later registration before it was read"))
		}
	}
}
