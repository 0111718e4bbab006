package agents

import (
	"cmp"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"tabhub/describe"
	"tabhub/spec"
)

// Session is one run of a client, as far as tabs go by it.
type Session struct {
	id        SessionID
	label     string                 // for people
	bound     []string               // By.Browsers, when it was used last
	preferred map[spec.TabAddr]int64 // the tabs of its calls, with ranks: those that it prefers have lower ones
	first     int64                  // the lowest rank so far, and the highest
	last      int64
	leases    map[*lease]bool
	group     map[spec.TabAddr]bool // tabs that it has opened
	stored    bool                  // there is a document of it
	saved     time.Time             // when that was written last

	connections int
	used        atomic.Int64                 // when it was used last, in ns since 1970
	latest      atomic.Pointer[spec.TabAddr] // where its latest call has gone, since it has chosen a tab
}

// Bounds of what is kept of sessions.
const (
	maxSessionTabs    = 64   // tabs that one session has leased, or has opened
	maxPreferred      = 1024 // that its calls go to
	maxSessions       = 4096
	maxClientSessions = 512 // of one client
	maxLabel          = 80  // bytes
)

// aloneGrace is how long a session without a connection stays that is not used.
const aloneGrace = 30 * time.Minute

// end returns when the session may end if it is not used before: zero if not by itself. It does
// not while one of its calls is in flight in a tab that it has leased.
func (ses *Session) end(now time.Time) time.Time {
	grace := spec.SessionGrace
	if ses.id.alone() {
		grace = aloneGrace
	}
	if ses.connections > 0 {
		return time.Time{}
	}
	for l := range ses.leases {
		if l.calls.Load() > 0 {
			return now.Add(grace)
		}
	}
	return time.Unix(0, ses.used.Load()).Add(grace)
}

func (ses *Session) isEmpty() bool {
	return len(ses.preferred)+len(ses.leases)+len(ses.group) == 0
}

// session returns a session, making it if need be; nil without an ID, and if there are too many.
func (tx *Tx) session(by By) *Session {
	id := by.Session
	if id == (SessionID{}) {
		return nil
	}
	ses := tx.sessions[id]
	if ses == nil {
		if !tx.roomForSession(id.Client) {
			return nil
		}
		ses = &Session{id: id, preferred: map[spec.TabAddr]int64{}, first: 1 << 40, last: 1 << 40, leases: map[*lease]bool{}, group: map[spec.TabAddr]bool{}}
		tx.sessions[id] = ses
	}
	if by.Label != "" {
		ses.label = describe.Clean(by.Label, maxLabel)
	}
	ses.bound = by.Browsers
	ses.used.Store(tx.now.UnixNano())
	tx.wakes = true
	return ses
}

// roomForSession reports whether a client may have one more session, for which one may end
// that is not connected and has leased no tab.
func (tx *Tx) roomForSession(client string) bool {
	if len(tx.sessions) < maxClientSessions {
		return true
	}
	n := 0
	var oldest, ofClient *Session
	for _, ses := range tx.sessions {
		same := ses.id.Client == client
		if same {
			n++
		}
		if ses.connections > 0 || len(ses.leases) > 0 {
			continue
		}
		if oldest == nil || ses.used.Load() < oldest.used.Load() {
			oldest = ses
		}
		if same && (ofClient == nil || ses.used.Load() < ofClient.used.Load()) {
			ofClient = ses
		}
	}
	if n >= maxClientSessions {
		oldest = ofClient
	} else if len(tx.sessions) < maxSessions {
		return true
	}
	if oldest == nil {
		return false
	}
	tx.endSession(oldest)
	return true
}

// Connect says that a connection of a session has begun.
func (tx *Tx) Connect(by By) {
	if ses := tx.session(by); ses != nil {
		ses.connections++
	}
}

// Disconnect says that a connection of a session has ended, with final for good. A session whose
// client may come back stays for spec.SessionGrace.
func (tx *Tx) Disconnect(id SessionID, final bool) {
	ses := tx.sessions[id]
	if ses == nil {
		return
	}
	ses.connections = max(ses.connections-1, 0)
	ses.used.Store(tx.now.UnixNano())
	tx.wakes = true
	if final {
		tx.endSession(ses)
	} else if len(ses.leases) > 0 {
		tx.sessionChanged(ses)
	}
}

// endSession frees all that a session has.
func (tx *Tx) endSession(ses *Session) {
	if len(ses.group) > 0 {
		tx.work.Ended = append(tx.work.Ended, Ended{ses.id, ses.label, sorted(ses.group)})
	}
	for l := range ses.leases {
		tx.endLease(l)
	}
	for addr := range ses.group {
		delete(tx.groups, addr)
	}
	ses.preferred, ses.group = nil, nil
	delete(tx.sessions, ses.id)
	tx.sessionChanged(ses)
}

// EndClient ends the sessions of a client.
func (tx *Tx) EndClient(client string) {
	for id, ses := range tx.sessions {
		if id.Client == client {
			tx.endSession(ses)
		}
	}
}

// sorted returns a set of tabs in order.
func sorted(set map[spec.TabAddr]bool) []spec.TabAddr {
	return slices.SortedFunc(maps.Keys(set), func(a, b spec.TabAddr) int {
		return cmp.Or(cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.Tab, b.Tab))
	})
}

// Remember says that a call of a session goes to a tab that something else than the session has
// chosen: further ones go there, too.
func (tx *Tx) Remember(by By, addr spec.TabAddr) {
	ses := tx.session(by)
	if ses == nil || ses.preferred[addr] != 0 {
		return
	}
	ses.makeRoom()
	ses.append(addr)
	if tx.now.Sub(ses.saved) < saveEvery {
		tx.saveLater(ses)
	} else {
		tx.sessionChanged(ses)
	}
}

// append has a session's calls go to a tab that is new to it, after all others.
func (ses *Session) append(addr spec.TabAddr) {
	ses.last++
	ses.preferred[addr] = ses.last
}

// makeRoom makes room for one more tab that a session's calls go to.
func (ses *Session) makeRoom() {
	if len(ses.preferred) < maxPreferred {
		return
	}
	ranked := ses.ranked()
	delete(ses.preferred, ranked[len(ranked)-1])
}

// ranked returns the tabs that a session's calls go to, those that it prefers first.
func (ses *Session) ranked() []spec.TabAddr {
	return slices.SortedFunc(maps.Keys(ses.preferred), func(a, b spec.TabAddr) int {
		return cmp.Compare(ses.preferred[a], ses.preferred[b])
	})
}

// Prefer says that a session's calls are to go to a tab, of those that have what they call. It
// reports false if there is no room for it.
func (tx *Tx) Prefer(by By, addr spec.TabAddr) bool {
	ses := tx.session(by)
	if ses != nil {
		tx.prefer(ses, addr)
	}
	return ses != nil
}

func (tx *Tx) prefer(ses *Session, addr spec.TabAddr) {
	delete(ses.preferred, addr)
	ses.makeRoom()
	ses.first--
	ses.preferred[addr] = ses.first
	ses.latest.Store(nil)
	tx.sessionChanged(ses)
}

// Opened says that a session has opened a tab, which becomes one of its tab group.
func (tx *Tx) Opened(by By, addr spec.TabAddr) {
	ses := tx.session(by)
	if ses == nil {
		return
	}
	tx.prefer(ses, addr)
	if tx.groups[addr] == nil && len(ses.group) < maxSessionTabs {
		ses.group[addr], tx.groups[addr] = true, ses
	}
}

// OpenedBy returns the label of the session that has opened a tab, "" if none has.
func (a *Agents) OpenedBy(addr spec.TabAddr) string {
	if ses := a.groups[addr]; ses != nil {
		return ses.label
	}
	return ""
}

// Preferred returns which of the tabs that a session's calls go to is meant where none is named:
// that of the latest call, or the one that the session has chosen since.
func (a *Agents) Preferred(id SessionID) (spec.TabAddr, bool) {
	ses := a.sessions[id]
	if ses == nil || len(ses.preferred) == 0 {
		return spec.TabAddr{}, false
	}
	if latest := ses.latest.Load(); latest != nil && ses.preferred[*latest] != 0 {
		return *latest, true
	}
	return ses.ranked()[0], true
}

// Latest returns, of the sessions that match, the one that was used last; the zero By if there is none.
func (a *Agents) Latest(match func(id SessionID, label string) bool) (by By) {
	var latest *Session
	for _, ses := range a.sessions {
		if match(ses.id, ses.label) && (latest == nil || ses.used.Load() > latest.used.Load()) {
			latest = ses
		}
	}
	if latest == nil {
		return By{}
	}
	return By{Session: latest.id, Label: latest.label, Browsers: latest.bound}
}
