package state

import (
	"fmt"
	"sync/atomic"
	"time"

	"tabhub/describe"
	"tabhub/hub/offer/item"
	"tabhub/spec"
)

// lease keeps a tab for one session.
type lease struct {
	addr    spec.TabAddr
	session *session
	name    string // of the holder, for people; "" for the session's label
	reads   bool

	// Not guarded with the state: whoever has a Candidate renews its lease.
	ttl     atomic.Int64 // in ns
	renewed atomic.Int64 // when the holder has used the tab last, in ns since 1970
	saved   atomic.Int64 // renewed, as it was stored last
	calls   atomic.Int64 // of the holder, under way in the tab
}

// until returns when the lease ends if the tab is not used before.
func (l *lease) until() time.Time { return time.Unix(0, l.renewed.Load()+l.ttl.Load()) }

// end returns when the lease may end. While a call of the holder is under way it does not.
func (l *lease) end(now time.Time) time.Time {
	if l.calls.Load() > 0 {
		return now.Add(time.Duration(l.ttl.Load()))
	}
	return l.until()
}

// use notes that the holder uses the tab, with so many calls more. stale says that what is stored
// is too old to go by after a restart.
func (l *lease) use(now time.Time, calls int64) (stale bool) {
	l.calls.Add(calls)
	l.renewed.Store(now.UnixNano())
	saved := l.saved.Load()
	return now.UnixNano()-saved > l.ttl.Load()/4 && l.saved.CompareAndSwap(saved, now.UnixNano())
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

// Holder is who has leased a tab.
type Holder struct {
	Session SessionID `json:"-"`
	Client  string    `json:"client"` // the ID of its credential
	Name    string    `json:"name"`   // for people: what the session is called, and in brackets what it does there
	Until   time.Time `json:"until"`  // when the lease ends if the holder does not use the tab before
	Reads   bool      `json:"reads"`  // others may read what the tab shows

	long bool // the time of the day alone would not say when it ends
}

// String says who holds the tab, and until when.
func (h *Holder) String() string {
	layout := "15:04:05 UTC"
	if h.long {
		layout = "Jan 2 15:04 UTC"
	}
	return fmt.Sprintf("held by %s until %s", h.Name, h.Until.UTC().Format(layout))
}

// LeaseState is what a lease means for one session.
type LeaseState int8

// The states of a tab's lease.
const (
	LeaseNone     LeaseState = iota
	LeaseMine                // the session holds it
	LeaseReadable            // another does, and lets others read
	LeaseOther               // another does
)

// held returns what a lease, nil for none, means for a session, nil for nobody's.
func (l *lease) held(ses *session) LeaseState {
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

// Holder returns who has leased a tab, nil if nobody has.
func (s *State) Holder(addr spec.TabAddr) *Holder {
	if l := s.leases[addr]; l != nil {
		return l.holder()
	}
	return nil
}

// Held returns who keeps a session from using a tab, which need not be one that offers
// anything: nil if nobody does. reads is for what only reads the tab.
func (s *State) Held(addr spec.TabAddr, by SessionID, reads bool) *Holder {
	l := s.leases[addr]
	if l == nil {
		return nil
	}
	switch held := l.held(s.sessions[by]); {
	case held == LeaseOther, held == LeaseReadable && !reads:
		return l.holder()
	}
	return nil
}

// HeldIn returns a tab of a browser that another session has leased, and who that is; nil if there
// is none.
func (s *State) HeldIn(browser spec.PeerID, by SessionID) (addr spec.TabAddr, holder *Holder) {
	for at, l := range s.leases {
		if at.Peer == browser && l.session.id != by && (holder == nil || at.Tab < addr.Tab) {
			addr, holder = at, l.holder()
		}
	}
	return addr, holder
}

// Wakes reports whether a browser that opens a tab for somebody may take one that sleeps there: no
// other session has leased any that could be it.
func (s *State) Wakes(o *Opening) bool {
	for at, l := range s.leases {
		if at.Peer != o.Peer || l.session.id == o.By.Session {
			continue
		}
		if t := s.tabs[at]; t == nil || t.discarded && item.OriginOf(t.url) == item.OriginOf(o.URL) {
			return false // of a tab without tools it is not known what it shows
		}
	}
	return true
}

// HeldResource is Held for reading what a public URI names of one tab; of a URI that stands for
// a site's best tab nobody keeps anybody.
func (s *State) HeldResource(by By, uri string) (spec.TabAddr, *Holder) {
	r, ok := s.Lookup(by, spec.KindResource, uri)
	if !ok || r.b.provider == nil {
		return spec.TabAddr{}, nil
	}
	addr := r.b.provider.tab.addr
	return addr, s.Held(addr, by.Session, true)
}

// Terms are those of a lease.
type Terms struct {
	Name  string // what the session does there, for people; "" for nothing beside what it is called
	TTL   time.Duration
	Reads bool // others may read what the tab shows
}

// Lease keeps a tab for somebody's session, or changes the terms on which it does. It returns who has it
// now; that is another if the tab was not free, and nil if there is no room for one more lease.
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
		l = &lease{addr: addr, session: ses}
		ses.leases[l], tx.leases[addr] = true, l
		tx.mark(addr)
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
func (s *State) roomForLease(ses *session, addr spec.TabAddr) bool {
	if len(ses.leases) >= maxSessionTabs {
		return false
	}
	opened := func(addr spec.TabAddr) bool { by := s.rooms[addr]; return by != nil && by.id.Client == ses.id.Client }
	if opened(addr) {
		return true
	}
	has, left := 0, len(s.tabs)
	for addr, l := range s.leases {
		switch {
		case l.session.id.Client != ses.id.Client:
			left--
		case !opened(addr):
			has++
		}
	}
	return has < min(max(left/2, minLeases), maxSessionTabs)
}

// Release ends a session's lease of a tab, and reports whether it had one. The session's calls
// still prefer the tab.
func (tx *Tx) Release(id SessionID, addr spec.TabAddr) bool {
	l := tx.leases[addr]
	if l == nil || l.session.id != id {
		return false
	}
	tx.endLease(l)
	return true
}

// ReleaseAll ends the leases of a session, and returns of which tabs.
func (tx *Tx) ReleaseAll(id SessionID) (tabs []spec.TabAddr) {
	if ses := tx.sessions[id]; ses != nil {
		for l := range ses.leases {
			tabs = append(tabs, l.addr)
			tx.endLease(l)
		}
	}
	return tabs
}

// EndLease ends whosesoever lease of a tab, and returns who had it; nil: nobody.
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
	tx.mark(l.addr)
	tx.sessionChanged(l.session)
}

// Renew says that a session uses a tab otherwise than by a call, which renews its lease if it
// has one. stale says that the state should store that (Tx.SaveSession).
func (s *State) Renew(id SessionID, addr spec.TabAddr, now time.Time) (stale bool) {
	l := s.leases[addr]
	return l != nil && l.session.id == id && l.use(now, 0)
}
