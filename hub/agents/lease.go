package agents

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"tabhub/describe"
	"tabhub/spec"
)

// lease keeps a tab for one session.
type lease struct {
	addr    spec.TabAddr
	session *Session
	name    string // what the session does there, for people; "" for the session's label alone
	reads   bool

	ttl     atomic.Int64 // in ns
	renewed atomic.Int64 // when the session has used the tab last, in ns since 1970
	saved   atomic.Int64 // renewed, as it was stored last
	calls   atomic.Int64 // of the session, in flight in the tab
}

// newLease puts a new lease in its places.
func (a *Agents) newLease(ses *Session, addr spec.TabAddr) *lease {
	l := &lease{addr: addr, session: ses}
	ses.leases[l], a.leases[addr] = true, l
	return l
}

// until returns when the lease ends if the tab is not used before.
func (l *lease) until() time.Time { return time.Unix(0, l.renewed.Load()+l.ttl.Load()) }

// end returns when the lease may end. It does not while a call of the session is in flight there.
func (l *lease) end(now time.Time) time.Time {
	if l.calls.Load() > 0 {
		return now.Add(time.Duration(l.ttl.Load()))
	}
	return l.until()
}

// use notes that the session uses the tab, with so many calls more. stale says that what is
// stored is too old to go by after a restart.
func (l *lease) use(now time.Time, calls int64) (stale bool) {
	l.calls.Add(calls)
	l.renewed.Store(now.UnixNano())
	saved := l.saved.Load()
	return now.UnixNano()-saved > l.ttl.Load()/4 && l.saved.CompareAndSwap(saved, now.UnixNano())
}

// stateFor returns what a lease, nil for none, means for a session, nil for none.
func (l *lease) stateFor(ses *Session) LeaseState {
	switch {
	case l == nil:
		return LeaseNone
	case l.session == ses:
		return LeaseMine
	case l.reads:
		return LeaseReadable
	}
	return LeaseOther
}

func (l *lease) holder() *Holder {
	h := &Holder{Session: l.session.id, Client: l.session.id.Client, Name: l.session.label, Until: l.until(), Reads: l.reads, long: time.Duration(l.ttl.Load()) > 12*time.Hour}
	switch {
	case h.Name == "":
		h.Name = l.name
	case l.name != "":
		h.Name += " (" + l.name + ")"
	}
	return h
}

// Holder is the session that has leased a tab.
type Holder struct {
	Session SessionID `json:"-"`
	Client  string    `json:"client"` // the ID of its credential
	Name    string    `json:"name"`   // for people: what the session is called, and in brackets what it does there
	Until   time.Time `json:"until"`  // when the lease ends if the session does not use the tab before
	Reads   bool      `json:"reads"`  // others may read what the tab shows

	long bool // the time of the day alone would not say when it ends
}

// String says which session has leased the tab, and until when.
func (h *Holder) String() string {
	layout := "15:04:05 UTC"
	if h.long {
		layout = "Jan 2 15:04 UTC"
	}
	return fmt.Sprintf("leased by %s until %s", h.Name, h.Until.UTC().Format(layout))
}

// Holder returns the session that has leased a tab; nil: none has.
func (a *Agents) Holder(addr spec.TabAddr) *Holder {
	if l := a.leases[addr]; l != nil {
		return l.holder()
	}
	return nil
}

// Bars returns the session whose lease keeps another one from using a tab, which need not offer
// anything; nil: none does. reads is for what only reads the tab.
func (a *Agents) Bars(addr spec.TabAddr, from SessionID, reads bool) *Holder {
	if len(a.leases) == 0 {
		return nil
	}
	if st := a.Standing(a.Session(from), addr); !st.Free(reads) {
		return st.Holder()
	}
	return nil
}

// LeasedIn returns the tabs of a browser that sessions other than one have leased, by their ids.
func (a *Agents) LeasedIn(browser spec.PeerID, but SessionID) (addrs []spec.TabAddr) {
	for addr, l := range a.leases {
		if addr.Peer == browser && l.session.id != but {
			addrs = append(addrs, addr)
		}
	}
	slices.SortFunc(addrs, func(a, b spec.TabAddr) int { return cmp.Compare(a.Tab, b.Tab) })
	return addrs
}

// Bounds of the time that a lease lasts without a call of its holder.
const (
	MinLease     = 10 * time.Second
	DefaultLease = 10 * time.Minute
)

// Terms are those of a lease.
type Terms struct {
	Name  string // what the session does there, for people; "" for nothing beside what it is called
	TTL   time.Duration
	Reads bool // others may read what the tab shows
}

// Lease leases a tab to a session, or changes the terms on which it has it. It returns the holder
// now: another one if the tab was not free, nil if there is no room for one more lease.
func (tx *Tx) Lease(by By, addr spec.TabAddr, t Terms) *Holder {
	l := tx.leases[addr]
	if l != nil && l.session.id != by.Session {
		return l.holder()
	}
	ses := tx.session(by)
	if ses == nil || l == nil && !tx.roomForLease(ses, addr) {
		return nil
	}
	if l == nil {
		l = tx.newLease(ses, addr)
	}
	tx.work.Leased = true
	l.name, l.reads = describe.Clean(t.Name, maxLabel), t.Reads
	l.ttl.Store(int64(t.TTL))
	l.renewed.Store(tx.now.UnixNano())
	tx.prefer(ses, addr)
	return l.holder()
}

// minLeases is how many of the owner's tabs a client may lease however few there are.
const minLeases = 4

// roomForLease reports whether a session may lease one more tab. Of the tabs that a client has not
// opened itself, all of its sessions together may have half of what other clients leave.
func (a *Agents) roomForLease(ses *Session, addr spec.TabAddr) bool {
	if len(ses.leases) >= maxSessionTabs {
		return false
	}
	opened := func(addr spec.TabAddr) bool { by := a.groups[addr]; return by != nil && by.id.Client == ses.id.Client }
	if opened(addr) {
		return true
	}
	has, left := 0, a.tabs.Len()
	for addr, l := range a.leases {
		switch {
		case l.session.id.Client != ses.id.Client:
			left--
		case !opened(addr):
			has++
		}
	}
	return has < min(max(left/2, minLeases), maxSessionTabs)
}

// Release ends a session's lease of a tab, or without addr all of its leases, and returns of which
// tabs. The session's calls still prefer them.
func (tx *Tx) Release(id SessionID, addr spec.TabAddr) (tabs []spec.TabAddr) {
	if ses := tx.sessions[id]; ses != nil {
		for l := range ses.leases {
			if addr == (spec.TabAddr{}) || addr == l.addr {
				tabs = append(tabs, l.addr)
				tx.endLease(l)
			}
		}
	}
	return tabs
}

// EndLease ends any session's lease of a tab, and returns its holder; nil: there was none.
func (tx *Tx) EndLease(addr spec.TabAddr) *Holder {
	l := tx.leases[addr]
	if l == nil {
		return nil
	}
	tx.endLease(l)
	return l.holder()
}

func (tx *Tx) endLease(l *lease) {
	tx.work.Leased = true
	delete(l.session.leases, l)
	delete(tx.leases, l.addr)
	tx.sessionChanged(l.session)
}

// Renew says that a session uses a tab otherwise than by a call, which renews its lease if it
// has one. stale says that a Tx should save the session.
func (a *Agents) Renew(id SessionID, addr spec.TabAddr, now time.Time) (stale bool) {
	l := a.leases[addr]
	return l != nil && l.session.id == id && l.use(now, 0)
}
