package ledger

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"tabhub/hub/broadcast"
	"tabhub/hub/quota"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/storage"
)

// Limits, and how long something lasts.
const (
	MaxCalls   = 64  // that have ended, of a session
	MaxLost    = 512 // of a session, whose answer is lost
	MaxTaken   = 1 << 20
	MaxEnded   = 16 << 10
	MaxAnswers = 32 << 20
	Keep       = 10 * time.Minute
)

// Session is one run of a client: an agent. ID is good for Client alone.
type Session struct{ Client, ID string }

// Ask is a request that begins a call, or asks for one that was begun before.
type Ask struct {
	Session Session
	Method  string
	Tool    string // or what else is asked for
	// Request is the JSON-RPC id of the request within the session, "" if nothing is known by it. What
	// is asked for is the same if Body is: then a request with the same id is the same call.
	Request string
	Body    []byte
	Stream  uint64                  // the connection by which it has come, if that delivers each line once; else 0
	Hidden  bool                    // nothing is kept once it has ended
	Conn    any                     // by which it has come: StopAll stops what has
	Stop    context.CancelCauseFunc // ends its context
	Max     int                     // of calls in flight in the session; 0: any number
}

// Ledger has the calls of one user. Its methods are safe for concurrent use, and do not block unless
// they say so.
type Ledger struct {
	opts Options
	seed maphash.Seed

	mu             sync.Mutex
	sessions       map[Session]*session
	oldest, newest *Call // in flight
	ended          int   // calls that are kept
	bytes          int   // of their answers
	sweep          *time.Timer
	closed         bool

	tasks    map[string]*Call
	results  int // bytes of the tasks' results
	timer    *time.Timer
	due      time.Time // when timer fires; zero: it does not
	watchers map[int]func(id string)
	last     int // of watchers
}

// Options say where a Ledger keeps its tasks.
type Options struct {
	Changed *broadcast.Signal // fired when what is shown has changed; nil: never
	// Keep stores a document, and calls synced when that is on disk, or with an error; Forget
	// deletes one. They do not block.
	Keep   func(doc storage.Document, synced func(error))
	Forget func(id string)
}

// New returns a Ledger without tasks. Its caller closes it.
func New() *Ledger {
	return &Ledger{seed: maphash.MakeSeed(), sessions: map[Session]*session{}, tasks: map[string]*Call{}, watchers: map[int]func(id string){}}
}

// session is what is kept of a client's session.
type session struct {
	id        Session
	open      int // calls in flight that are no tasks
	tasks     int // and those that are
	byRequest map[string]*Call
	ended     []*Call // answered and taken, in the order of their ends
	lost      []*Call
	bytes     int // of all answers that are kept
	taken     int // of those that were taken
	last      time.Time
	over      bool // no request asks for its calls any more
}

// Begin begins a call. With joined it is one that was begun before, by a request that was the same:
// its answer is to be waited for with Done. The call is nil if the session has too many.
func (l *Ledger) Begin(a Ask) (c *Call, joined bool) {
	var sum uint64
	if a.Request != "" && !a.Hidden {
		sum = maphash.Bytes(l.seed, a.Body)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sessionLocked(a.Session)
	if a.Request != "" && !a.Hidden {
		if c := s.byRequest[a.Request]; c != nil && c.isSame(&a, sum) && (c.state < answered || c.state == lost && c.size() > 0 || c.acts > 0) {
			if c.state < answered {
				if c.joined++; a.Max > 0 && c.joined > a.Max {
					return nil, false
				}
				if c.conn != nil {
					c.conn = a.Conn // where it is waited for
				}
			}
			return c, true
		}
	}
	if a.Max > 0 && s.open >= a.Max {
		return nil, false
	}
	c = &Call{
		id: NewID(), ledger: l, session: s, conn: a.Conn, stream: a.Stream, request: a.Request, sum: sum, method: a.Method, tool: a.Tool,
		began: time.Now(), stop: a.Stop, hidden: a.Hidden,
	}
	s.open++
	if a.Request != "" && !a.Hidden {
		s.byRequest[a.Request] = c
	}
	l.linkLocked(c)
	return c, false
}

// isSame reports whether a request with the id of the call is the same. On one stream it is another one, of
// a client that uses ids twice: nothing on the way sends a line again.
func (c *Call) isSame(a *Ask, sum uint64) bool {
	return c.method == a.Method && c.tool == a.Tool && c.sum == sum && (a.Stream == 0 || c.stream != a.Stream)
}

func (l *Ledger) sessionLocked(id Session) *session {
	s := l.sessions[id]
	if s == nil {
		s = &session{id: id, byRequest: map[string]*Call{}}
		l.sessions[id] = s
	}
	return s
}

// Alone returns a call of which nothing is kept, as it is of no session of a client. It is in flight from
// EnterWith to Leave.
func (l *Ledger) Alone() *Call { return &Call{id: NewID(), ledger: l, began: time.Now()} }

func (l *Ledger) linkLocked(c *Call) {
	if c.older = l.newest; c.older != nil {
		c.older.newer = c
	} else {
		l.oldest = c
	}
	l.newest = c
}

// unlinkLocked takes out a call that is in flight no more.
func (l *Ledger) unlinkLocked(c *Call) {
	if c.older == nil && c.newer == nil && l.oldest != c {
		return
	}
	if c.older != nil {
		c.older.newer = c.newer
	} else {
		l.oldest = c.newer
	}
	if c.newer != nil {
		c.newer.older = c.older
	} else {
		l.newest = c.older
	}
	c.older, c.newer = nil, nil
}

// keepLocked keeps a call that has just ended.
func (l *Ledger) keepLocked(c *Call) {
	s := c.session
	if c.task == nil {
		s.open--
	} else {
		s.tasks--
	}
	s.last = c.ended
	if c.hidden || s.over {
		l.forgetLocked(c)
		return
	}
	s.ended = append(s.ended, c)
	s.bytes += c.size()
	l.ended++
	l.bytes += c.size()
	s.trimEndedLocked(l)
	if l.ended > MaxEnded {
		l.giveWayLocked(func(s *session) int { return len(s.ended) + len(s.lost) })
	}
	for l.bytes > MaxAnswers && l.giveWayLocked(func(s *session) int { return s.bytes }) {
	}
	if l.sweep == nil && !l.closed {
		l.sweep = time.AfterFunc(Keep, l.expire)
	}
}

// trimEndedLocked forgets the oldest calls of a session that has more than it may. Those whose answer is
// still being written go last: without them a client that loses it has them made twice.
func (s *session) trimEndedLocked(l *Ledger) {
	for len(s.ended) > MaxCalls {
		i := slices.IndexFunc(s.ended, func(c *Call) bool { return c.state == taken })
		if i < 0 && len(s.ended) <= MaxLost {
			return
		}
		l.forgetLocked(s.ended[max(i, 0)])
	}
}

// giveWayLocked forgets what is kept of the session that was idle for the longest time, of the client
// that has most, and reports whether there is one.
func (l *Ledger) giveWayLocked(weight func(*session) int) bool {
	s, ok := quota.GivesWay(func(yield func(*session) bool) {
		for _, s := range l.sessions {
			if !yield(s) {
				return
			}
		}
	}, func(s *session) quota.Usage {
		n := weight(s)
		return quota.Usage{Owner: s.id.Client, Weight: n, Goes: n > 0}
	}, func(a, b *session) bool { return a.last.Before(b.last) })
	if ok {
		l.dropLocked(s)
	}
	return ok
}

// dropLocked forgets the calls of a session that have ended.
func (l *Ledger) dropLocked(s *session) {
	for _, of := range [][]*Call{slices.Clone(s.ended), slices.Clone(s.lost)} {
		for _, c := range of {
			l.forgetLocked(c)
		}
	}
}

// forgetLocked takes out a call that has ended, and its session with the last of it.
func (l *Ledger) forgetLocked(c *Call) {
	s := c.session
	if s.removeLocked(&s.ended, c) || s.removeLocked(&s.lost, c) {
		l.ended--
		l.forgetAnswerLocked(c)
	}
	c.session = nil
	if c.request != "" && s.byRequest[c.request] == c {
		delete(s.byRequest, c.request)
	}
	if s.open+s.tasks == 0 && len(s.ended)+len(s.lost) == 0 && l.sessions[s.id] == s {
		delete(l.sessions, s.id)
	}
}

func (l *Ledger) forgetAnswerLocked(c *Call) {
	n := c.size()
	l.bytes -= n
	c.session.bytes -= n
	if c.state == taken {
		c.session.taken -= n
	}
	c.large = c.large || n > 0
	c.result, c.fault = nil, nil
}

func (s *session) removeLocked(from *[]*Call, c *Call) bool {
	i := slices.Index(*from, c)
	if i == 0 {
		(*from)[0], *from = nil, (*from)[1:] // most often the first goes
		return true
	}
	if i > 0 {
		*from = slices.Delete(*from, i, i+1)
	}
	return i > 0
}

func (s *session) moveLocked(from, to *[]*Call, c *Call) {
	if s != nil && s.removeLocked(from, c) {
		*to = append(*to, c)
		if len(s.lost) > MaxLost {
			c.ledger.forgetLocked(s.lost[0])
		}
	}
}

// trimTakenLocked lets go of the oldest answers that were taken, if those of the session are too many
// bytes together.
func (s *session) trimTakenLocked(c *Call) {
	s.taken += c.size()
	for i := 0; s.taken > MaxTaken && i < len(s.ended); i++ {
		if old := s.ended[i]; old.state == taken && old.size() > 0 {
			c.ledger.forgetAnswerLocked(old)
		}
	}
}

// expire forgets what has ended long ago.
func (l *Ledger) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.sessions {
		for _, of := range []*[]*Call{&s.ended, &s.lost} {
			for len(*of) > 0 && time.Since((*of)[0].ended) >= Keep {
				l.forgetLocked((*of)[0])
			}
		}
	}
	l.sweep = nil
	if l.ended > 0 && !l.closed {
		l.sweep = time.AfterFunc(Keep/10, l.expire)
	}
}

// StopAll ends the contexts of the calls that have come by a connection, but for tasks.
func (l *Ledger) StopAll(conn any, cause error) {
	l.stop(cause, func(c *Call) bool { return c.conn == conn })
}

// StopRequest ends the context of the call with a request's id in a session, if it is in flight and no task.
func (l *Ledger) StopRequest(of Session, request string, cause error) {
	l.mu.Lock()
	c := l.newest
	for c != nil && (c.conn == nil || c.session.id != of || c.request != request) {
		c = c.older
	}
	l.mu.Unlock()
	c.Stop(cause)
}

// StopWhere ends the contexts of the calls that are shown as what fits, and reports whether there is one.
func (l *Ledger) StopWhere(cause error, fits func(id string, about *Subject) bool) bool {
	return l.stop(cause, func(c *Call) bool { return c.entered && fits(c.id, &c.about) })
}

func (l *Ledger) stop(cause error, fits func(*Call) bool) bool {
	var stops []context.CancelCauseFunc
	l.mu.Lock()
	for c := l.oldest; c != nil; c = c.newer {
		if c.stop != nil && fits(c) {
			stops = append(stops, c.stop)
		}
	}
	l.mu.Unlock()
	for _, stop := range stops {
		stop(cause)
	}
	return len(stops) > 0
}

// Shown is a call that is in flight, as its owner sees it.
type Shown struct {
	Subject
	ID       string
	Began    time.Time
	Asking   bool          // the owner is asked now
	Asked    time.Duration // how long the owner was asked before
	Waits    bool
	Tab      spec.TabAddr
	Browser  string
	Decision policy.Effect
	Progress *spec.Progress
}

// UnderWay returns the calls that their owner sees, those that have taken longest first, and where the
// parts of them are.
func (l *Ledger) UnderWay() (all []Shown) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := l.oldest; c != nil; c = c.newer {
		if c.entered {
			asking, before := c.state == asked, c.asked
			if asking {
				before = 0
			}
			all = append(all, Shown{c.about, c.id, c.began, asking, before, c.waits, c.tab, c.browser, c.decision, c.progress})
		}
	}
	return all
}

// Forget forgets what is kept of the clients that match, by Session.Client, and ends their tasks.
func (l *Ledger) Forget(match func(client string) bool) {
	l.mu.Lock()
	for id, s := range l.sessions {
		if match(id.Client) {
			l.dropLocked(s)
		}
	}
	stop := l.dropTasksLocked(func(t *task) bool { return match(t.Client) })
	l.mu.Unlock()
	stop()
}

// Drop says that a session is over for good: nothing is kept of its calls.
func (l *Ledger) Drop(of Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.sessions[of]; s != nil {
		s.over = true
		l.dropLocked(s)
	}
}

// Close ends what the Ledger does by itself. Calls may go on; what they say of tasks is not kept.
func (l *Ledger) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, t := range []*time.Timer{l.sweep, l.timer} {
		if t != nil {
			t.Stop()
		}
	}
}
