package outcome

import (
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// Limits, and how long something lasts.
const (
	MaxCalls   = 64
	MaxLost    = 512 // of a session, with those of which the answer is not delivered
	MaxEnded   = 16 << 10
	MaxIdle    = 128 // sessions of a client, none of whose calls is under way or may be asked for again
	MaxAnswer  = 1 << 20
	MaxAnswers = 32 << 20
	Keep       = 10 * time.Minute
	AskAgain   = time.Minute
	DetachFor  = 5 * time.Second
)

// Session is one run of a client: an agent. ID is good for Client alone.
type Session struct{ Client, ID string }

// Key is equal for two requests that ask for the same.
type Key [32]byte

// Asker is a request of a client. Its methods are safe for concurrent use and do not block.
type Asker interface {
	Key() Key
	// Gone reports whether its client cannot be told the answer, as far as is known here.
	Gone() bool
	// Stop ends what the request does. gone says that its client is gone, and has not wanted it.
	Stop(gone bool)
}

// Ask is a request that begins a call, or asks for one again.
type Ask struct {
	Session Session
	Said    string // what the client calls itself
	Heir    bool   // the session goes on with that of a client which has left, see Leave
	Tool    string // or what else is asked for
	Began   time.Time
	By      Asker
	// Again: if the same was asked for before, and the answer has not been delivered, the
	// request is for that.
	Again bool
}

// Ledger keeps what became of a user's calls. Its methods are safe for concurrent use and do
// not block. The zero value is ready.
type Ledger struct {
	mu       sync.Mutex
	sessions map[Session]*session
	left     []*session // of clients that have left, the latest last
	oldest   *Call      // that has ended
	newest   *Call
	share                      // of all clients
	shares   map[string]*share // by client
	sweep    *time.Timer
	closed   bool
}

// share is what is kept of calls that have ended.
type share struct {
	ended int // calls
	bytes int // of their answers
}

// countLocked adds to what is kept of a client, and of all.
func (l *Ledger) countLocked(client string, ended, bytes int) {
	of := l.shares[client]
	if of == nil {
		if l.shares == nil {
			l.shares = map[string]*share{}
		}
		of = &share{}
		l.shares[client] = of
	}
	for _, s := range []*share{&l.share, of} {
		s.ended += ended
		s.bytes += bytes
	}
	if *of == (share{}) {
		delete(l.shares, client)
	}
}

// firstLocked returns the first call that has ended and fits, of the client that has the most of
// something: who has many pushes out their own.
func (l *Ledger) firstLocked(has func(*share) int, fits func(*Call) bool) *Call {
	client, most := "", 0
	for of, s := range l.shares {
		if n := has(s); n > most {
			client, most = of, n
		}
	}
	c := l.oldest
	for c != nil && (c.session.id.Client != client || !fits(c)) {
		c = c.newer
	}
	return c
}

// session is what is kept of a client's session. Ledger.mu guards it.
type session struct {
	id     Session
	said   string
	calls  []*Call   // in the order in which they began
	open   int       // of them, that have not ended
	asked  int       // that have an asker
	broken int       // the asker of which has reported a lost connection
	lost   int       // the answer of which is lost
	over   bool      // nobody asks for its calls any more
	gone   time.Time // when the client left; zero: it has not
}

// Begin begins a call. With again it is one that was begun before: the request has turn of it
// from now on, and its answer is to be waited for with Done.
func (l *Ledger) Begin(a Ask) (c *Call, turn int, again bool) {
	l.mu.Lock()
	s := l.sessionLocked(&a)
	if a.Again && s.mayHaveLost() {
		found := s.candidates(a.Tool)
		l.mu.Unlock()
		found.match(a.By.Key())
		l.mu.Lock()
		if c := found.take(a.By); c != nil {
			defer l.mu.Unlock()
			return c, c.turn, true
		}
		s = l.sessionLocked(&a)
	}
	defer l.mu.Unlock()
	c = &Call{id: NewID(), tool: a.Tool, began: a.Began, ledger: l, session: s, runs: a.By, asker: a.By}
	s.calls = append(s.calls, c)
	s.open++
	s.asked++
	return c, 0, false
}

// sessionLocked returns the session of a request.
func (l *Ledger) sessionLocked(a *Ask) *session {
	if s := l.sessions[a.Session]; s != nil {
		return s
	}
	if l.sessions == nil {
		l.sessions = map[Session]*session{}
	}
	l.makeRoomLocked(a.Session.Client)
	s := &session{id: a.Session, said: a.Said}
	if a.Heir {
		if i := slices.IndexFunc(l.left, func(left *session) bool { return left.fits(a) }); i >= 0 {
			s = l.left[i]
			l.left = slices.Delete(l.left, i, i+1)
			delete(l.sessions, s.id)
			s.id, s.gone = a.Session, time.Time{}
		}
	}
	l.sessions[a.Session] = s
	return s
}

// makeRoomLocked forgets, for a new session of a client that has many, the calls of the one that
// was idle for the longest time.
func (l *Ledger) makeRoomLocked(client string) {
	if len(l.sessions) < MaxIdle {
		return
	}
	n := 0
	var oldest *session
	for _, s := range l.sessions {
		if s.id.Client != client || s.open+s.asked > 0 || slices.ContainsFunc(s.calls, (*Call).isLost) {
			continue
		}
		n++
		if oldest == nil || s.latest().Before(oldest.latest()) {
			oldest = s
		}
	}
	if n >= MaxIdle {
		l.dropLocked(oldest)
	}
}

// latest returns when the latest call of a session has begun.
func (s *session) latest() (at time.Time) {
	if n := len(s.calls); n > 0 {
		at = s.calls[n-1].began
	}
	return at
}

// fits reports whether a request can be of the client that has left s.
func (s *session) fits(a *Ask) bool {
	return s.id.Client == a.Session.Client && (a.Said == "" || a.Said == s.said) && a.Began.Sub(s.gone) < AskAgain
}

// Leave says that a session is over by the loss of its connection, and that its client comes
// back with another: the next one of the client with Ask.Heir goes on with what is kept of it.
func (l *Ledger) Leave(of Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropLeft()
	if s := l.sessions[of]; s != nil && s.gone.IsZero() {
		s.gone = time.Now()
		l.left = append(l.left, s)
	}
}

// dropLeft forgets who has left too long ago to have an heir.
func (l *Ledger) dropLeft() {
	l.left = slices.DeleteFunc(l.left, func(s *session) bool { return time.Since(s.gone) >= AskAgain })
}

// mayHaveLost reports whether a request may be for a call of which the answer is lost.
func (s *session) mayHaveLost() bool { return s.lost+s.broken+s.asked > 0 }

// candidate is a call that a request may be for.
type candidate struct {
	call *Call
	turn int
	key  Key
	by   Asker // whose key it is; nil: key is known
}

type candidates []candidate

// candidates returns the calls of which the answer was not delivered, and will not be. The latest
// comes first.
func (s *session) candidates(tool string) (found candidates) {
	for _, c := range slices.Backward(s.calls) {
		if c.tool == tool && c.isLost() {
			found = append(found, candidate{c, c.turn, c.key, c.asker})
		}
	}
	return found
}

// runsOnce reports whether a call must not run again. One that is under way may yet send what must
// not be sent twice.
func (c *Call) runsOnce() bool {
	acts := c.acts.Load()
	return acts > 0 || acts == 0 && c.ended.IsZero()
}

// isLost reports whether nobody gets the answer of a call that must not run again.
func (c *Call) isLost() bool {
	if !c.runsOnce() {
		return false
	}
	if !c.lost.IsZero() {
		return time.Since(c.lost) < AskAgain
	}
	return c.asker != nil && (c.broken != nil || c.asker.Gone())
}

// match leaves the calls for the same as key. It is called without the lock: arguments may be
// large.
func (found *candidates) match(key Key) {
	*found = slices.DeleteFunc(*found, func(f candidate) bool {
		if f.by != nil {
			f.key = f.by.Key()
		}
		return f.key != key
	})
}

// take gives the first of the calls to another request.
func (found candidates) take(by Asker) *Call {
	for _, f := range found {
		if c := f.call; c.turn == f.turn && c.isLost() && c.session != nil {
			c.unask()
			c.turn++
			c.asker = by
			c.session.asked++
			if c.done == nil {
				c.done = make(chan struct{})
				if !c.ended.IsZero() {
					close(c.done)
				}
			}
			return c
		}
	}
	return nil
}

// unask ends the turn of the request that waits for the answer. The caller holds the lock.
func (c *Call) unask() {
	s := c.session
	if c.asker != nil {
		c.asker = nil
		s.asked--
	}
	if c.broken != nil {
		c.broken.Stop()
		c.broken = nil
		s.broken--
	}
	if !c.lost.IsZero() {
		c.lost = time.Time{}
		s.lost--
	}
}

// Break says that the connection of the request that has the turn is lost.
func (c *Call) Break(turn int) {
	if c == nil {
		return
	}
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	if c.turn != turn || !c.ended.IsZero() || c.broken != nil {
		return
	}
	wait := DetachFor
	if c.stop() {
		wait = 0
	}
	c.session.broken++
	c.broken = time.AfterFunc(wait, func() { c.giveUp(turn) })
}

// giveUp stops a call for which nobody has asked again.
func (c *Call) giveUp(turn int) {
	c.ledger.mu.Lock()
	runs := c.runs
	if c.turn != turn || c.broken == nil {
		runs = nil
	}
	c.ledger.mu.Unlock()
	if runs != nil {
		runs.Stop(true)
	}
}

// Cancel stops the call, as the client that has the turn wants it.
func (c *Call) Cancel(turn int) {
	c.ledger.mu.Lock()
	runs := c.runs
	if c.turn != turn {
		runs = nil
	}
	c.ledger.mu.Unlock()
	if runs != nil {
		runs.Stop(false)
	}
}

// Done returns a channel that is closed when the call, begun again, has ended.
func (c *Call) Done() <-chan struct{} {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	return c.done
}

// Answer returns how a call has ended, both nil without an answer.
func (c *Call) Answer() (result, fault json.RawMessage) {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	return c.result, c.fault
}

// Sent reports whether the call may have reached a page with what must not be sent twice.
func (c *Call) Sent() bool { return c != nil && c.acts.Load() > 0 }

// End ends a call with its raw answer, or with the JSON-RPC error in place of one. Both are
// nil if it has none. They are not copied, and must not change any more.
func (c *Call) End(result, fault json.RawMessage) {
	if c == nil {
		return
	}
	l, now := c.ledger, time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	s := c.session
	c.ended, c.runs, c.result, c.fault = now, nil, result, fault
	s.open--
	if c.done != nil {
		close(c.done)
	}
	l.append(c)
	if c.hidden || s.over {
		l.forget(c)
	}
	for n := len(s.calls) - s.open; n > MaxCalls; n-- {
		spare := s.spare(n)
		if spare == nil {
			break
		}
		l.forget(spare)
	}
	for l.ended > MaxEnded {
		l.forget(l.firstLocked(func(s *share) int { return s.ended }, func(*Call) bool { return true }))
	}
	for l.bytes > MaxAnswers {
		l.firstLocked(func(s *share) int { return s.bytes }, func(c *Call) bool { return c.size() > 0 }).forgetAnswer()
	}
}

// spare returns which of n calls that have ended is to be forgotten first: the oldest of which
// nobody may want the answer yet. nil: all are to stay.
func (s *session) spare(n int) (oldest *Call) {
	for _, c := range s.calls {
		switch {
		case c.ended.IsZero():
			continue
		case c.asker == nil && (c.lost.IsZero() || time.Since(c.lost) >= AskAgain):
			return c
		case oldest == nil:
			oldest = c
		}
	}
	if n <= MaxLost {
		return nil
	}
	return oldest
}

func (c *Call) size() int { return len(c.result) + len(c.fault) }

// forgetAnswer lets go of the answer of a call that has ended.
func (c *Call) forgetAnswer() {
	c.large = c.large || c.size() > 0
	c.ledger.countLocked(c.session.id.Client, 0, -c.size())
	c.result, c.fault = nil, nil
}

// Hide has nothing kept of the call: it only asks for another.
func (c *Call) Hide() {
	if c = c.of(); c != nil {
		c.ledger.mu.Lock()
		defer c.ledger.mu.Unlock()
		c.hidden = true
	}
}

// Delivered says that the request that has the turn has its answer, for all that is known.
func (c *Call) Delivered(turn int) {
	if c == nil {
		return
	}
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	if c.turn != turn || c.session == nil {
		return
	}
	c.unask()
	if c.size() > MaxAnswer {
		c.forgetAnswer()
	}
}

// Lost says that the answer could not be delivered to the request by, which has the turn. While
// the call is under way there is none; see Break.
func (c *Call) Lost(turn int, by Asker) {
	if c == nil {
		return
	}
	var key Key
	if c.acts.Load() > 0 {
		key = by.Key()
	}
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	if c.turn != turn || c.session == nil || c.ended.IsZero() {
		return
	}
	c.unask()
	if c.acts.Load() > 0 {
		c.lost, c.key = time.Now(), key
		c.session.lost++
	}
}

// append adds a call to those that have ended.
func (l *Ledger) append(c *Call) {
	if c.older = l.newest; c.older != nil {
		c.older.newer = c
	} else {
		l.oldest = c
	}
	l.newest = c
	l.countLocked(c.session.id.Client, 1, c.size())
	if l.sweep == nil && !l.closed {
		l.sweep = time.AfterFunc(Keep, l.expire)
	}
}

// forget takes out a call that has ended.
func (l *Ledger) forget(c *Call) {
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
	s := c.session
	l.countLocked(s.id.Client, -1, -c.size())
	c.unask()
	c.session = nil
	i := slices.Index(s.calls, c)
	s.calls = slices.Delete(s.calls, i, i+1)
	if len(s.calls) == 0 && l.sessions[s.id] == s {
		delete(l.sessions, s.id)
	}
}

// expire forgets what has ended long ago.
func (l *Ledger) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.oldest != nil && time.Since(l.oldest.ended) >= Keep {
		l.forget(l.oldest)
	}
	l.dropLeft()
	l.sweep = nil
	if l.oldest != nil && !l.closed {
		l.sweep = time.AfterFunc(Keep/10, l.expire)
	}
}

// Forget forgets what has ended of the sessions of those that match, by Session.Client.
func (l *Ledger) Forget(match func(client string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = slices.DeleteFunc(l.left, func(s *session) bool { return match(s.id.Client) })
	for c := l.oldest; c != nil; {
		next := c.newer
		if match(c.session.id.Client) {
			l.forget(c)
		}
		c = next
	}
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

// dropLocked forgets the calls of a session that have ended.
func (l *Ledger) dropLocked(s *session) {
	for _, c := range slices.Clone(s.calls) {
		if !c.ended.IsZero() {
			l.forget(c)
		}
	}
}

// Close ends the timers of the Ledger. What goes on without a client is not stopped by it any
// more.
func (l *Ledger) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.sweep != nil {
		l.sweep.Stop()
	}
	for _, s := range l.sessions {
		for _, c := range s.calls {
			if c.broken != nil {
				c.broken.Stop()
			}
		}
	}
}
