package state

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"tabhub/describe"
	"tabhub/spec"
)

// SessionID names a session: one run of a client, which is what has tabs of its own. The zero
// SessionID is that of nobody in particular.
type SessionID struct {
	Client string // the ID of its credential
	ID     string // good for the client alone
}

// Short is a name for the session that can be shown: nobody learns the ID from it.
func (id SessionID) Short() string {
	sum := sha256.Sum256([]byte(id.Client + "\x00" + id.ID))
	return hex.EncodeToString(sum[:5])
}

// alone reports whether the session is made of requests that stand alone, without a connection
// that could end: hub.Hub.session makes such IDs.
func (id SessionID) alone() bool {
	return strings.HasPrefix(id.ID, "=") || strings.HasPrefix(id.ID, "~")
}

// By is on whose behalf something is looked for, done or opened.
type By struct {
	Session  SessionID
	Label    string   // the session's, for people
	Browsers []string // the names of the browsers that it is bound to; nil: it is not bound, and knows of all
}

// session is an agent, as far as tabs go by it.
type session struct {
	id     SessionID
	label  string                 // for people
	bound  []string               // By.Browsers, as it was bound when it was here last
	tabs   map[spec.TabAddr]int64 // its calls' tabs, with ranks: those that it prefers have lower ones
	first  int64                  // the lowest rank so far, and the highest
	last   int64
	leases map[*lease]bool       // that it holds
	room   map[spec.TabAddr]bool // tabs that it has opened
	stored bool                  // there is a document of it
	saved  time.Time             // when it was written last

	connections int
	// used is when it was here last, in ns since 1970. It is not guarded with the state:
	// whoever has a Candidate says when it is used.
	used atomic.Int64
	// latest is where its latest call has gone, since it has chosen a tab. Not guarded either.
	latest atomic.Pointer[spec.TabAddr]
}

// Bounds of what is kept of sessions.
const (
	maxSessionTabs    = 64   // tabs that one session holds, or has opened
	maxKeptTabs       = 1024 // that its calls go to
	maxSessions       = 4096
	maxClientSessions = 512 // of one client
	maxLabel          = 80  // bytes
)

// aloneGrace is how long a session without a connection stays that is not used.
const aloneGrace = 30 * time.Minute

// end returns when the session may end if it is not used before: zero if not by itself. While
// one of its calls is under way in a tab that it holds it does not.
func (ses *session) end(now time.Time) time.Time {
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

// owns reports whether a session, nil for nobody's, prefers a tab to others.
func (ses *session) owns(t *tab) bool {
	return ses != nil && (t.lease.held(ses) == LeaseMine || ses.tabs[t.addr] != 0)
}

func (ses *session) empty() bool {
	return len(ses.tabs)+len(ses.leases)+len(ses.room) == 0
}

// session returns somebody's session, making it if need be; nil for nobody's, and if there are
// too many.
func (tx *Tx) session(by By) *session {
	id := by.Session
	if id == (SessionID{}) {
		return nil
	}
	ses := tx.sessions[id]
	if ses == nil {
		if !tx.roomForSession(id.Client) {
			return nil
		}
		ses = &session{id: id, tabs: map[spec.TabAddr]int64{}, first: 1 << 40, last: 1 << 40, leases: map[*lease]bool{}, room: map[spec.TabAddr]bool{}}
		tx.sessions[id] = ses
	}
	if by.Label != "" {
		ses.label = describe.Clean(by.Label, maxLabel)
	}
	ses.bound = by.Browsers
	ses.used.Store(tx.now.UnixNano())
	tx.sweeps = true
	return ses
}

// roomForSession reports whether a client may have one more session, for which one may end
// that is not connected and holds no tab.
func (tx *Tx) roomForSession(client string) bool {
	if len(tx.sessions) < maxClientSessions {
		return true
	}
	n := 0
	var oldest, ofClient *session
	for _, ses := range tx.sessions {
		own := ses.id.Client == client
		if own {
			n++
		}
		if ses.connections > 0 || len(ses.leases) > 0 {
			continue
		}
		if oldest == nil || ses.used.Load() < oldest.used.Load() {
			oldest = ses
		}
		if own && (ofClient == nil || ses.used.Load() < ofClient.used.Load()) {
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

// Came says that a connection of somebody's session has begun.
func (tx *Tx) Came(by By) {
	if ses := tx.session(by); ses != nil {
		ses.connections++
	}
}

// Went says that a connection of a session has ended, with final for good. One whose client
// may come back stays for spec.SessionGrace.
func (tx *Tx) Went(id SessionID, final bool) {
	ses := tx.sessions[id]
	if ses == nil {
		return
	}
	ses.connections = max(ses.connections-1, 0)
	ses.used.Store(tx.now.UnixNano())
	tx.sweeps = true
	if final {
		tx.endSession(ses)
	} else if len(ses.leases) > 0 {
		tx.sessionChanged(ses)
	}
}

// EndedSession is a session that has ended, and the tabs that it had opened.
type EndedSession struct {
	Session SessionID
	Label   string
	Room    []spec.TabAddr
}

// endSession frees all that a session holds.
func (tx *Tx) endSession(ses *session) {
	if len(ses.room) > 0 {
		tx.work.Ended = append(tx.work.Ended, EndedSession{ses.id, ses.label, tabsOf(ses.room)})
	}
	for l := range ses.leases {
		tx.endLease(l)
	}
	for addr := range ses.room {
		delete(tx.rooms, addr)
		tx.mark(addr)
	}
	ses.tabs, ses.room = nil, nil
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

// tabsOf returns a set of tabs in order.
func tabsOf(set map[spec.TabAddr]bool) []spec.TabAddr {
	all := make([]spec.TabAddr, 0, len(set))
	for addr := range set {
		all = append(all, addr)
	}
	slices.SortFunc(all, compareAddr)
	return all
}

func compareAddr(a, b spec.TabAddr) int {
	return cmp.Or(cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.Tab, b.Tab))
}

// Keep says that a call of a session goes to a tab that something else than the session has
// chosen: further ones go there, too.
func (tx *Tx) Keep(by By, addr spec.TabAddr) {
	ses := tx.session(by)
	if ses == nil || ses.tabs[addr] != 0 {
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
func (ses *session) append(addr spec.TabAddr) {
	ses.last++
	ses.tabs[addr] = ses.last
}

// makeRoom makes room for one more tab that a session's calls go to.
func (ses *session) makeRoom() {
	if len(ses.tabs) < maxKeptTabs {
		return
	}
	kept := ses.kept()
	delete(ses.tabs, kept[len(kept)-1])
}

// kept returns the tabs that a session's calls go to, those that it prefers first.
func (ses *session) kept() []spec.TabAddr {
	return slices.SortedFunc(maps.Keys(ses.tabs), func(a, b spec.TabAddr) int { return cmp.Compare(ses.tabs[a], ses.tabs[b]) })
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

func (tx *Tx) prefer(ses *session, addr spec.TabAddr) {
	delete(ses.tabs, addr)
	ses.makeRoom()
	ses.first--
	ses.tabs[addr] = ses.first
	ses.latest.Store(nil)
	tx.sessionChanged(ses)
}

// Opens says that somebody's session has opened a tab.
func (tx *Tx) Opens(by By, addr spec.TabAddr) {
	ses := tx.session(by)
	if ses == nil {
		return
	}
	tx.prefer(ses, addr)
	if tx.rooms[addr] == nil && len(ses.room) < maxSessionTabs {
		ses.room[addr], tx.rooms[addr] = true, ses
		tx.mark(addr)
	}
}

// OpenedBy returns the label of the session that has opened a tab, "" if none has.
func (s *State) OpenedBy(addr spec.TabAddr) string {
	if ses := s.rooms[addr]; ses != nil {
		return ses.label
	}
	return ""
}

// Preferred returns which of the tabs that a session's calls go to is meant where none is named:
// that of the latest call, or the one that the session has chosen since.
func (s *State) Preferred(id SessionID) (spec.TabAddr, bool) {
	ses := s.sessions[id]
	if ses == nil || len(ses.tabs) == 0 {
		return spec.TabAddr{}, false
	}
	if latest := ses.latest.Load(); latest != nil && ses.tabs[*latest] != 0 {
		return *latest, true
	}
	return ses.kept()[0], true
}

// Latest returns, of the sessions that match, the one that was here last; nobody's if there is none.
func (s *State) Latest(match func(id SessionID, label string) bool) (by By) {
	var latest *session
	for _, ses := range s.sessions {
		if match(ses.id, ses.label) && (latest == nil || ses.used.Load() > latest.used.Load()) {
			latest = ses
		}
	}
	if latest == nil {
		return By{}
	}
	return By{Session: latest.id, Label: latest.label, Browsers: latest.bound}
}

// mark gives a tab, if it is known, what sessions have of its address.
func (tx *Tx) mark(addr spec.TabAddr) {
	if t := tx.tabs[addr]; t != nil {
		t.lease, t.room = tx.leases[addr], tx.rooms[addr]
	}
}

// forgetTabs takes the tabs that match from all sessions: they are gone.
func (tx *Tx) forgetTabs(match func(spec.TabAddr) bool) {
	for _, ses := range tx.sessions {
		n := len(ses.tabs)
		maps.DeleteFunc(ses.tabs, func(addr spec.TabAddr, _ int64) bool { return match(addr) })
		changed := len(ses.tabs) < n
		for addr := range ses.room {
			if match(addr) {
				delete(ses.room, addr)
				delete(tx.rooms, addr)
				tx.mark(addr)
				changed = true
			}
		}
		if changed {
			tx.sessionChanged(ses)
		}
	}
	maps.DeleteFunc(tx.inUse, func(addr spec.TabAddr, _ bool) bool { return match(addr) })
	for addr, l := range tx.leases {
		if match(addr) {
			tx.endLease(l)
		}
	}
}

// readdressed says that the tab at an address is at another now.
func (tx *Tx) readdressed(was, is spec.TabAddr) {
	for _, ses := range tx.sessions {
		if rank := ses.tabs[was]; rank != 0 {
			delete(ses.tabs, was)
			ses.tabs[is] = rank
			if latest := ses.latest.Load(); latest != nil && *latest == was {
				ses.latest.Store(&is)
			}
			tx.sessionChanged(ses)
		}
	}
	if ses := tx.rooms[was]; ses != nil && tx.rooms[is] == nil {
		delete(ses.room, was)
		delete(tx.rooms, was)
		ses.room[is], tx.rooms[is] = true, ses
		tx.sessionChanged(ses)
	}
	if l := tx.leases[was]; l != nil && tx.leases[is] == nil {
		delete(tx.leases, was)
		l.addr, tx.leases[is] = is, l
		tx.work.Leased = true
		tx.sessionChanged(l.session)
	}
	tx.mark(was)
	tx.mark(is)
}

// sessionChanged has a session stored at the end of the transaction.
func (tx *Tx) sessionChanged(ses *session) {
	if tx.changed == nil {
		tx.changed = map[*session]bool{}
	}
	tx.changed[ses] = true
}

// sweep ends the sessions and leases whose time is over.
func (tx *Tx) sweep() {
	for _, ses := range tx.sessions {
		if end := ses.end(tx.now); !end.IsZero() && !end.After(tx.now) {
			tx.endSession(ses)
		}
	}
	for _, l := range tx.leases {
		if !l.end(tx.now).After(tx.now) {
			tx.endLease(l)
		}
	}
	tx.sweeps = true
}

// scheduleSweep has sweep called when the next session or lease may end, unless that is
// to be done already. There is one timer for all of them.
func (tx *Tx) scheduleSweep() {
	var next time.Time
	sooner := func(at time.Time) {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	for _, ses := range tx.sessions {
		sooner(ses.end(tx.now))
	}
	for _, l := range tx.leases {
		sooner(l.end(tx.now))
	}
	if next.IsZero() || tx.sweepID != 0 && !next.Before(tx.sweepAt) {
		return
	}
	tx.sweepAt, tx.sweepID = next, tx.next()
	tx.work.Timers = append(tx.work.Timers, Timer{After: max(next.Sub(tx.now), 0), id: tx.sweepID})
}

// SessionInfo describes a session that has tabs, or is connected.
type SessionInfo struct {
	Session   SessionID    `json:"-"`
	Name      string       `json:"session"` // for people and logs; the ID itself is told nobody
	Client    string       `json:"client"`  // the ID of its credential
	Label     string       `json:"label"`
	Connected bool         `json:"connected"`
	LastUsed  time.Time    `json:"lastUsed"`
	Tabs      []SessionTab `json:"tabs"` // those that it prefers first
}

// SessionTab is what a session has of a tab.
type SessionTab struct {
	Addr   spec.TabAddr `json:"addr"`
	Tab    string       `json:"tab"` // the same, as clients know it
	URL    string       `json:"url,omitempty"`
	Title  string       `json:"title,omitempty"`
	Keeps  bool         `json:"keeps"`           // its calls go there
	Opened bool         `json:"opened"`          // by the session
	Holds  *Holder      `json:"holds,omitempty"` // the session's lease of it
	InUse  bool         `json:"inUse,omitempty"` // by the owner's hand, while the session holds it
	// Waiting says that a call waits for the owner, who uses the tab.
	Waiting bool `json:"waiting,omitempty"`
}

// Sessions describes the sessions that have tabs or are connected, by client, the last used
// first: of a client, unless that is "", and of a name, unless that is "", those from offset on,
// at most limit; all if that is negative. It says, too, how many there are.
func (s *State) Sessions(client, name string, offset, limit int) (shown []SessionInfo, found int) {
	type entry struct {
		*session
		used int64 // which changes meanwhile
	}
	all := make([]entry, 0, len(s.sessions))
	for id, ses := range s.sessions {
		if (client == "" || client == id.Client) && (name == "" || name == id.Short()) {
			all = append(all, entry{ses, ses.used.Load()})
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.id.Client, b.id.Client), cmp.Compare(b.used, a.used), cmp.Compare(a.id.ID, b.id.ID))
	})
	found = len(all)
	all = all[min(offset, found):]
	if limit >= 0 {
		all = all[:min(limit, len(all))]
	}
	for _, e := range all {
		shown = append(shown, s.sessionInfo(e.session))
	}
	return shown, found
}

func (s *State) sessionInfo(ses *session) SessionInfo {
	info := SessionInfo{
		Session: ses.id, Name: ses.id.Short(), Client: ses.id.Client, Label: ses.label,
		Connected: ses.connections > 0, LastUsed: time.Unix(0, ses.used.Load()), Tabs: []SessionTab{},
	}
	addrs := ses.kept()
	for _, addr := range tabsOf(ses.room) {
		if !slices.Contains(addrs, addr) {
			addrs = append(addrs, addr)
		}
	}
	for l := range ses.leases {
		if !slices.Contains(addrs, l.addr) {
			addrs = append(addrs, l.addr)
		}
	}
	for i, addr := range addrs {
		t := SessionTab{Addr: addr, Tab: addr.Public(), Keeps: i < len(ses.tabs), Opened: ses.room[addr], InUse: s.InUse(addr, ses.id)}
		if at := s.tabs[addr]; at != nil {
			t.URL, t.Title = at.url, at.title
		}
		if l := s.leases[addr]; l != nil && l.session == ses {
			t.Holds = l.holder()
		}
		info.Tabs = append(info.Tabs, t)
	}
	return info
}
