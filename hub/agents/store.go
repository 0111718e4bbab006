package agents

import (
	"encoding/json"
	"time"

	"tabhub/spec"
	"tabhub/storage"
)

// Kind is the kind of the documents that hold sessions.
const Kind = "session"

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
	Addr      spec.TabAddr   `json:"addr"`
	Browser   spec.BrowserID `json:"browser,omitempty"`
	Run       string         `json:"run,omitempty"` // of the browser: its tabs' ids are void in another
	Preferred bool           `json:"kept,omitempty"`
	Group     bool           `json:"room,omitempty"`
	Lease     *storedLease   `json:"lease,omitempty"`
}

type storedLease struct {
	Name    string        `json:"name,omitempty"`
	Reads   bool          `json:"reads,omitempty"`
	TTL     time.Duration `json:"ttl"`
	Renewed time.Time     `json:"renewed"`
}

func documentID(id SessionID) string { return id.Client + "\x00" + id.ID }

// sessionChanged has a session stored at the end of the transaction.
func (tx *Tx) sessionChanged(ses *Session) {
	if tx.changed == nil {
		tx.changed = map[*Session]bool{}
	}
	tx.changed[ses] = true
}

// Save stores when a session has renewed its leases last.
func (tx *Tx) Save(id SessionID) {
	if ses := tx.sessions[id]; ses != nil {
		tx.sessionChanged(ses)
	}
}

// saveEvery is how often a session is stored because its calls go to further tabs.
const saveEvery = time.Second

// saveLater has a session stored within saveEvery.
func (tx *Tx) saveLater(ses *Session) {
	tx.unsaved[ses] = true
	if tx.saveAt.IsZero() {
		tx.saveAt = tx.now.Add(saveEvery)
	}
	tx.wakes = true
}

// SaveAll stores what was left for later.
func (tx *Tx) SaveAll() {
	tx.saveAt = time.Time{}
	for ses := range tx.unsaved {
		tx.sessionChanged(ses)
	}
}

// save stores a session, or that there is nothing left of it.
func (tx *Tx) save(ses *Session) {
	delete(tx.unsaved, ses)
	ses.saved = tx.now
	if tx.sessions[ses.id] != ses && tx.sessions[ses.id] != nil {
		return // another of that id has come
	}
	if ses.isEmpty() {
		if ses.stored {
			tx.write(storage.DeleteDocument{Kind: Kind, ID: documentID(ses.id)})
		}
		ses.stored = false
		return
	}
	ses.stored = true
	doc := storedSession{Client: ses.id.Client, ID: ses.id.ID, Label: ses.label, Used: time.Unix(0, ses.used.Load())}
	for _, addr := range ses.tabs() {
		t := storedTab{Addr: addr, Preferred: ses.preferred[addr] != 0, Group: ses.group[addr]}
		t.Browser, t.Run = tx.tabs.Run(addr.Peer)
		if l := tx.leases[addr]; l != nil && l.session == ses {
			renewed := l.renewed.Load()
			l.saved.Store(renewed)
			t.Lease = &storedLease{l.name, l.reads, time.Duration(l.ttl.Load()), time.Unix(0, renewed)}
		}
		doc.Tabs = append(doc.Tabs, t)
	}
	body, _ := json.Marshal(doc) // strings, numbers and times
	tx.write(storage.Document{Kind: Kind, ID: documentID(ses.id), Body: body})
}

func (tx *Tx) write(c storage.Change) { tx.work.Writes = append(tx.work.Writes, c) }

// Restore brings back a session of the last run; expect has the browser of each of its tabs, of
// which no other tab may be known, waited for. What is over by then is left to Sweep.
func (tx *Tx) Restore(stored storage.Document, expect func(spec.PeerID, spec.BrowserID, string)) {
	var doc storedSession
	id := SessionID{}
	if err := json.Unmarshal(stored.Body, &doc); err == nil {
		id = SessionID{doc.Client, doc.ID}
	}
	ses := tx.session(By{Session: id, Label: doc.Label})
	if ses == nil {
		tx.write(storage.DeleteDocument{Kind: Kind, ID: stored.ID})
		return
	}
	ses.stored = true
	if id.alone() {
		ses.used.Store(doc.Used.UnixNano())
	}
	for _, t := range doc.Tabs {
		expect(t.Addr.Peer, t.Browser, t.Run)
		if t.Preferred && ses.preferred[t.Addr] == 0 {
			ses.append(t.Addr)
		}
		if t.Group && tx.groups[t.Addr] == nil {
			ses.group[t.Addr], tx.groups[t.Addr] = true, ses
		}
		if t.Lease != nil && tx.leases[t.Addr] == nil {
			l := tx.newLease(ses, t.Addr)
			l.name, l.reads = t.Lease.Name, t.Lease.Reads
			l.ttl.Store(int64(t.Lease.TTL))
			l.renewed.Store(t.Lease.Renewed.UnixNano())
			l.saved.Store(t.Lease.Renewed.UnixNano())
		}
	}
}
