package mcpserver

import (
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/quota"
)

// What is stored of the event streams of Streamable HTTP sessions. Older events cannot be replayed.
const (
	maxEvents     = 256      // of a session
	maxEventBytes = 4 << 20  // of a session, but for its newest event
	maxAllBytes   = 32 << 20 // of all sessions: the client that has the most gives way
	maxEventLogs  = 64       // of a session: streams that have ended, or have no connection
)

// errTaken is why a connection is not written to any more.
var errTaken = errors.New("another connection has resumed the stream")

// replays holds the latest events of the event streams of all sessions: a client whose connection
// broke resumes the stream over another one.
type replays struct {
	mu    sync.Mutex
	of    map[*webSession]*eventLogs
	bytes int
}

// eventLogs is what is stored of one session. replays.mu guards it.
type eventLogs struct {
	client string      // Identity.Name of the session
	logs   []*eventLog // the oldest first
	events int
	bytes  int
	lastID int  // of an event, over all streams
	missed bool // a stream of notifications broke, and the latest may not have arrived
}

// eventLog is one event stream, over all its connections. replays.mu guards what is not static.
type eventLog struct {
	all     *replays
	name    string // of the session's streams, also those with an earlier Server
	changes bool   // it is one of GET: it has no end

	of     *eventLogs   // nil: nothing is stored of it any more
	events []event      // the latest
	last   int          // the number of the last event
	to     *eventWriter // of the connection; nil: there is none
	over   bool         // no event follows
}

// event has the receiver of its frame only until it was written.
type event struct {
	jsonrpc.Frame
	id int // in the order of the session's events
}

// begin begins a stream on a connection: nil if the session has ended. missed says, of one of
// changes, that the client may have missed some.
func (all *replays) begin(ses *webSession, to *eventWriter, changes bool) (_ *eventLog, missed bool) {
	l := &eventLog{all: all, name: rand.Text()[:10], changes: changes, to: to}
	all.mu.Lock()
	defer all.mu.Unlock()
	if ses.Ctx.Err() != nil {
		return nil, false
	}
	l.of = all.of[ses]
	if l.of == nil {
		if all.of == nil {
			all.of = map[*webSession]*eventLogs{}
		}
		l.of = &eventLogs{client: ses.Identity.Name}
		all.of[ses] = l.of
	}
	idle := func(l *eventLog) bool { return l.to == nil && (l.over || l.changes) }
	if i := slices.IndexFunc(l.of.logs, idle); i >= 0 && len(l.of.logs) >= maxEventLogs {
		old := l.of.logs[i]
		for len(old.events) > 0 {
			old.dropFirstLocked()
		}
		old.of = nil // a client may be about to go on with it
		l.of.logs = slices.Delete(l.of.logs, i, i+1)
	}
	l.of.logs = append(l.of.logs, l)
	if changes {
		missed, l.of.missed = l.of.missed, false
	}
	return l, missed
}

// find returns the stream of a session that has an event, and the number of that; nil if there is
// none.
func (all *replays) find(ses *webSession, id string) (*eventLog, int) {
	name, number, _ := strings.Cut(id, "-")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 {
		return nil, 0
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if of := all.of[ses]; of != nil {
		for _, l := range of.logs {
			if l.name == name && n <= l.last {
				return l, n
			}
		}
	}
	return nil, 0
}

// miss notes that the client may have missed changes.
func (all *replays) miss(ses *webSession) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if of := all.of[ses]; of != nil {
		of.missed = true
	}
}

// drop forgets a session that has ended.
func (all *replays) drop(ses *webSession) {
	all.mu.Lock()
	of := all.of[ses]
	delete(all.of, ses)
	var open []*eventWriter
	if of != nil {
		all.bytes -= of.bytes
		for _, l := range of.logs {
			l.of, l.events = nil, nil
			open = append(open, l.to)
		}
	}
	all.mu.Unlock()
	for _, e := range open {
		e.end()
	}
}

// ended reports whether the client that has had event n has had all.
func (l *eventLog) ended(n int) bool {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	return l.over && n == l.last
}

// take has e go on with the stream after event n, which was at another connection. It reports
// whether all that has followed can be replayed.
func (l *eventLog) take(e *eventWriter, n int) (complete bool) {
	l.all.mu.Lock()
	old := l.to
	l.to = e
	first := l.last - len(l.events)
	e.last = max(n, first)
	if l.of != nil && l.changes {
		l.of.missed = false
	}
	l.all.mu.Unlock()
	old.end()
	return n >= first
}

// leave says that e writes no more.
func (l *eventLog) leave(e *eventWriter) {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	if l.to == e {
		l.to = nil
	}
}

// end says that no event follows.
func (l *eventLog) end() {
	l.all.mu.Lock()
	to := l.to
	l.over = true
	l.all.mu.Unlock()
	to.wake()
}

// add stores what e is to write, and returns what it writes now: fs, after what it has not written
// yet. It is errTaken if the stream has another connection, or none.
func (l *eventLog) add(e *eventWriter, fs []jsonrpc.Frame) ([]jsonrpc.Frame, error) {
	l.all.mu.Lock()
	before, to := l.last, l.to
	for i := range fs {
		f := fs[i]
		switch {
		case f.Raw:
			continue
		case to == e:
			f.To = nil
		case f.To != nil:
			f.To.Lost()
			fs[i].To = nil
		}
		l.storeLocked(f)
	}
	if to == e && e.last != before {
		fs = l.restLocked(e)
	}
	added := l.last > before
	l.all.mu.Unlock()
	if to == e {
		return fs, nil
	}
	if added {
		to.wake()
	}
	return nil, errTaken
}

// restLocked returns what e has not written yet.
func (l *eventLog) restLocked(e *eventWriter) (fs []jsonrpc.Frame) {
	first := l.last - len(l.events)
	e.last = max(e.last, first)
	for i := e.last - first; i < len(l.events); i++ {
		fs = append(fs, l.events[i].Frame)
		l.events[i].To = nil
	}
	return fs
}

// failed says that the events after n could not be written. They may be replayed.
func (l *eventLog) failed(e *eventWriter, n int, fs []jsonrpc.Frame) {
	l.all.mu.Lock()
	if l.to == e {
		l.to = nil
	}
	to := l.to
	for i := range fs {
		if fs[i].Raw {
			continue
		}
		n++
		if receiver := fs[i].To; receiver != nil {
			receiver.Lost()
			fs[i].To = nil
			if k := n - 1 - (l.last - len(l.events)); k >= 0 && k < len(l.events) {
				l.events[k].To = receiver
			}
		}
	}
	l.all.mu.Unlock()
	to.wake()
}

// storeLocked stores an event.
func (l *eventLog) storeLocked(f jsonrpc.Frame) {
	l.last++
	of := l.of
	if of == nil {
		return
	}
	f.Owner = nil
	of.lastID++
	l.events = append(l.events, event{f, of.lastID})
	of.events++
	of.bytes += f.Size()
	l.all.bytes += f.Size()
	for of.events > maxEvents || of.bytes > maxEventBytes && of.events > 1 {
		of.dropFirstLocked()
	}
	for l.all.bytes > maxAllBytes {
		largest, _ := quota.GivesWay(maps.Values(l.all.of), func(o *eventLogs) quota.Usage {
			return quota.Usage{Owner: o.client, Weight: o.bytes, Goes: o.bytes > 0}
		}, func(a, b *eventLogs) bool { return a.bytes > b.bytes })
		largest.dropFirstLocked()
	}
}

// dropFirstLocked forgets the oldest event of a session.
func (of *eventLogs) dropFirstLocked() {
	var first *eventLog
	for _, l := range of.logs {
		if len(l.events) > 0 && (first == nil || l.events[0].id < first.events[0].id) {
			first = l
		}
	}
	first.dropFirstLocked()
}

// dropFirstLocked forgets the oldest event of a stream.
func (l *eventLog) dropFirstLocked() {
	size := l.events[0].Size()
	l.events[0] = event{}
	if l.events = l.events[1:]; len(l.events) == 0 {
		l.events = nil
	}
	l.of.events--
	l.of.bytes -= size
	l.all.bytes -= size
}
