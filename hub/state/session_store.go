package state

import (
	"encoding/json"
	"time"

	"tabhub/spec"
	"tabhub/storage"
)

// sessionKind is the kind of the documents that hold sessions.
const sessionKind = "session"

// storedSession is a session that has tabs, as it is stored.
type storedSession struct {
	Client string      `json:"client"`
	ID     string      `json:"id"`
	Label  string      `json:"label"`
	Used   time.Time   `json:"used"`
	Tabs   []storedTab `json:"tabs"` // those that it prefers first
}

// storedTab is what a session has of a tab.
type storedTab struct {
	Addr    spec.TabAddr   `json:"addr"`
	Browser spec.BrowserID `json:"browser,omitempty"`
	Run     string         `json:"run,omitempty"` // of the browser: its tabs' ids are void in another
	Kept    bool           `json:"kept,omitempty"`
	Room    bool           `json:"room,omitempty"`
	Lease   *storedLease   `json:"lease,omitempty"`
}

type storedLease struct {
	Name    string        `json:"name,omitempty"`
	Reads   bool          `json:"reads,omitempty"`
	TTL     time.Duration `json:"ttl"`
	Renewed time.Time     `json:"renewed"`
}

func documentID(id SessionID) string { return id.Client + "\x00" + id.ID }

// SaveSession stores when a session has renewed its leases last.
func (tx *Tx) SaveSession(id SessionID) {
	if ses := tx.sessions[id]; ses != nil {
		tx.sessionChanged(ses)
	}
}

// saveEvery is how often a session is stored because its calls go to further tabs.
const saveEvery = time.Second

// saveLater has a session stored within saveEvery.
func (tx *Tx) saveLater(ses *session) {
	tx.unsaved[ses] = true
	if tx.saveID == 0 {
		tx.saveID = tx.next()
		tx.work.Timers = append(tx.work.Timers, Timer{After: saveEvery, id: tx.saveID})
	}
}

// SaveSessions stores what was left for later.
func (tx *Tx) SaveSessions() {
	tx.saveID = 0
	for ses := range tx.unsaved {
		tx.sessionChanged(ses)
	}
}

// saveSession stores a session, or that there is nothing left of it.
func (tx *Tx) saveSession(ses *session) {
	delete(tx.unsaved, ses)
	ses.saved = tx.now
	if tx.sessions[ses.id] != ses && tx.sessions[ses.id] != nil {
		return // another of that id has come
	}
	if ses.empty() {
		if ses.stored {
			tx.write(storage.DeleteDocument{Kind: sessionKind, ID: documentID(ses.id)})
		}
		ses.stored = false
		return
	}
	ses.stored = true
	doc := storedSession{Client: ses.id.Client, ID: ses.id.ID, Label: ses.label, Used: time.Unix(0, ses.used.Load())}
	at := map[spec.TabAddr]int{}
	tab := func(addr spec.TabAddr) *storedTab {
		i, ok := at[addr]
		if !ok {
			i = len(doc.Tabs)
			at[addr] = i
			t := storedTab{Addr: addr}
			if p := tx.peers[addr.Peer]; p != nil {
				t.Browser, t.Run = p.browser, p.session
			}
			doc.Tabs = append(doc.Tabs, t)
		}
		return &doc.Tabs[i]
	}
	for _, addr := range ses.kept() {
		tab(addr).Kept = true
	}
	for _, addr := range tabsOf(ses.room) {
		tab(addr).Room = true
	}
	for l := range ses.leases {
		renewed := l.renewed.Load()
		l.saved.Store(renewed)
		tab(l.addr).Lease = &storedLease{l.name, l.reads, time.Duration(l.ttl.Load()), time.Unix(0, renewed)}
	}
	body, _ := json.Marshal(doc) // strings, numbers and times
	tx.write(storage.Document{Kind: sessionKind, ID: documentID(ses.id), Body: body})
}

// restoreSession brings back a session of the last run. Its tabs are there yet to come back, and
// so is its client; what is over by then is left to sweep.
func (tx *Tx) restoreSession(stored storage.Document) {
	var doc storedSession
	id := SessionID{}
	if err := json.Unmarshal(stored.Body, &doc); err == nil {
		id = SessionID{doc.Client, doc.ID}
	}
	ses := tx.session(By{Session: id, Label: doc.Label})
	if ses == nil {
		tx.write(storage.DeleteDocument{Kind: sessionKind, ID: stored.ID})
		return
	}
	ses.stored = true
	if id.alone() {
		ses.used.Store(doc.Used.UnixNano())
	}
	for _, t := range doc.Tabs {
		tx.restorePeer(t)
		if t.Kept && ses.tabs[t.Addr] == 0 {
			ses.append(t.Addr)
		}
		if t.Room && tx.rooms[t.Addr] == nil {
			ses.room[t.Addr], tx.rooms[t.Addr] = true, ses
		}
		if t.Lease != nil && tx.leases[t.Addr] == nil {
			l := &lease{addr: t.Addr, session: ses, name: t.Lease.Name, reads: t.Lease.Reads}
			l.ttl.Store(int64(t.Lease.TTL))
			l.renewed.Store(t.Lease.Renewed.UnixNano())
			l.saved.Store(t.Lease.Renewed.UnixNano())
			ses.leases[l], tx.leases[t.Addr] = true, l
		}
		tx.mark(t.Addr)
	}
}

// restorePeer has a tab's browser, of which no other tab may be known, waited for.
func (tx *Tx) restorePeer(t storedTab) {
	p := tx.peers[t.Addr.Peer]
	if p == nil {
		p = newPeer(t.Addr.Peer)
		p.browser, p.lastSeen = t.Browser, tx.now
		tx.peers[p.id] = p
	}
	if p.browser != "" && p.session == "" {
		p.session = t.Run
	}
}
