package agents

import (
	"time"

	"tabhub/spec"
	"tabhub/storage"
)

// Agents has the sessions of one user's clients. Its methods only read.
type Agents struct {
	tabs     Tabs
	sessions map[SessionID]*Session
	leases   map[spec.TabAddr]*lease
	groups   map[spec.TabAddr]*Session // that has opened the tab
	inUse    map[spec.TabAddr]bool     // leased tabs that the owner uses
	unsaved  map[*Session]bool         // to be stored at saveAt

	saveAt time.Time // zero: nothing is unsaved
	wakeAt time.Time // of the latest timer, if wakeID is not 0
	wakeID uint64
	timers uint64 // so far
}

// Tabs is what Agents asks about tabs. Its methods are called while the Agents is read or changed.
type Tabs interface {
	Len() int
	// Shows returns where a tab is, as far as it is known.
	Shows(spec.TabAddr) (url, title string)
	// Run returns the browser of a peer, and in which run of it the ids of its tabs are good.
	Run(spec.PeerID) (browser spec.BrowserID, run string)
}

// New returns an Agents without sessions.
func New(tabs Tabs) *Agents {
	return &Agents{
		tabs:     tabs,
		sessions: map[SessionID]*Session{},
		leases:   map[spec.TabAddr]*lease{},
		groups:   map[spec.TabAddr]*Session{},
		inUse:    map[spec.TabAddr]bool{},
		unsaved:  map[*Session]bool{},
	}
}

// Tx changes an Agents, and can be asked what it can.
type Tx struct {
	*Agents
	now     time.Time
	work    Work
	changed map[*Session]bool // to be saved at the end
	wakes   bool              // when to wake next may have changed
}

// Work is what is to be done after a transaction.
type Work struct {
	Writes []storage.Change
	Ended  []Ended // that had opened tabs
	Leased bool    // leases have changed
	WakeID uint64  // for Tx.Wake, when Wake has passed; 0: no timer is needed
	Wake   time.Duration
}

// Ended is a session that has ended, and the tabs of its tab group.
type Ended struct {
	Session SessionID
	Label   string
	Group   []spec.TabAddr
}

// Begin starts a transaction, which happens now.
func (a *Agents) Begin(now time.Time) Tx { return Tx{Agents: a, now: now} }

// End ends the transaction and returns what is left to do.
func (tx *Tx) End() Work {
	for ses := range tx.changed {
		tx.save(ses)
	}
	if tx.wakes {
		tx.scheduleWake()
	}
	return tx.work
}

// Wake ends what is over by now, and stores what was left for later. It does nothing for a
// timer that another one has overtaken.
func (tx *Tx) Wake(id uint64) {
	if id == tx.wakeID {
		tx.wakeID = 0
		if !tx.saveAt.IsZero() && !tx.now.Before(tx.saveAt) {
			tx.SaveAll()
		}
		tx.Sweep()
	}
}

// Sweep ends the sessions and leases whose time is over.
func (tx *Tx) Sweep() {
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
	tx.wakes = true
}

// scheduleWake has Wake called when there is something to do next, unless that is arranged
// already. There is one timer for all of it.
func (tx *Tx) scheduleWake() {
	next := tx.saveAt
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
	if next.IsZero() || tx.wakeID != 0 && !next.Before(tx.wakeAt) {
		return
	}
	tx.timers++
	tx.wakeAt, tx.wakeID = next, tx.timers
	tx.work.WakeID, tx.work.Wake = tx.wakeID, max(next.Sub(tx.now), 0)
}

// Forget takes the tabs that match from all sessions: they are gone.
func (tx *Tx) Forget(match func(spec.TabAddr) bool) {
	for _, ses := range tx.sessions {
		n := len(ses.preferred) + len(ses.group)
		for addr := range ses.preferred {
			if match(addr) {
				delete(ses.preferred, addr)
			}
		}
		for addr := range ses.group {
			if match(addr) {
				delete(ses.group, addr)
				delete(tx.groups, addr)
			}
		}
		if len(ses.preferred)+len(ses.group) < n {
			tx.sessionChanged(ses)
		}
	}
	for addr := range tx.inUse {
		if match(addr) {
			delete(tx.inUse, addr)
		}
	}
	for addr, l := range tx.leases {
		if match(addr) {
			tx.endLease(l)
		}
	}
}

// Readdress says that the tab at an address is at another now.
func (tx *Tx) Readdress(was, is spec.TabAddr) {
	for _, ses := range tx.sessions {
		if rank := ses.preferred[was]; rank != 0 {
			delete(ses.preferred, was)
			ses.preferred[is] = rank
			if latest := ses.latest.Load(); latest != nil && *latest == was {
				ses.latest.Store(&is)
			}
			tx.sessionChanged(ses)
		}
	}
	if ses := tx.groups[was]; ses != nil && tx.groups[is] == nil {
		delete(ses.group, was)
		delete(tx.groups, was)
		ses.group[is], tx.groups[is] = true, ses
		tx.sessionChanged(ses)
	}
	if l := tx.leases[was]; l != nil && tx.leases[is] == nil {
		delete(tx.leases, was)
		l.addr, tx.leases[is] = is, l
		tx.work.Leased = true
		tx.sessionChanged(l.session)
	}
}

// SetInUse notes whether the owner uses a tab, which counts of leased tabs alone: of
// others a page could say it of any number.
func (tx *Tx) SetInUse(addr spec.TabAddr, inUse bool) {
	if inUse && tx.leases[addr] != nil {
		tx.inUse[addr] = true
	} else {
		delete(tx.inUse, addr)
	}
}

// ForgetInUse forgets what a browser has said of the owner's use of its tabs.
func (tx *Tx) ForgetInUse(browser spec.PeerID) {
	for addr := range tx.inUse {
		if addr.Peer == browser {
			delete(tx.inUse, addr)
		}
	}
}

// InUse reports whether the owner uses a tab that a session has leased.
func (a *Agents) InUse(addr spec.TabAddr, by SessionID) bool {
	if !a.inUse[addr] {
		return false
	}
	l := a.leases[addr]
	return l != nil && l.session.id == by
}
