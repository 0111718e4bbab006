package agents

import (
	"time"

	"tabhub/spec"
)

// Standing is what a session has of a tab, as it was when it was asked for.
type Standing struct {
	Lease     LeaseState
	Group     GroupState
	Preferred int64 // its rank among the tabs that the session prefers, the lower the better; 0: none
	InUse     bool  // the session has leased the tab, and the owner uses it

	session *Session // nil: none
	lease   *lease
}

// LeaseState is what the lease of a tab means for one session.
type LeaseState int8

// The states of a tab's lease.
const (
	LeaseNone     LeaseState = iota
	LeaseMine                // the session has leased it
	LeaseReadable            // another session has, and lets others read
	LeaseOther               // another session has
)

// GroupState says which session has opened a tab.
type GroupState int8

// The states of a tab's group.
const (
	GroupNone  GroupState = iota // no session has
	GroupMine                    // the one that asks
	GroupOther                   // another one
)

// Session returns a session; nil: there is none of that ID.
func (a *Agents) Session(id SessionID) *Session {
	if id == (SessionID{}) {
		return nil
	}
	return a.sessions[id]
}

// Standing returns what a session, nil for none, has of a tab.
func (a *Agents) Standing(ses *Session, addr spec.TabAddr) Standing {
	st := Standing{session: ses, lease: a.leases[addr]}
	if st.Lease = st.lease.stateFor(ses); st.Lease == LeaseMine {
		st.InUse = a.inUse[addr]
	}
	if ses != nil {
		st.Preferred = ses.preferred[addr]
	}
	switch a.groups[addr] {
	case nil:
	case ses:
		st.Group = GroupMine
	default:
		st.Group = GroupOther
	}
	return st
}

// Chosen reports whether the session has chosen the tab before.
func (st *Standing) Chosen() bool { return st.Lease == LeaseMine || st.Preferred > 0 }

// Free reports whether no other session's lease keeps the session from the tab; reads is for
// what only reads it.
func (st *Standing) Free(reads bool) bool {
	return st.Lease <= LeaseMine || st.Lease == LeaseReadable && reads
}

// Holder returns the holder of the tab's lease; nil: there is none.
func (st *Standing) Holder() *Holder {
	if st.lease == nil {
		return nil
	}
	return st.lease.holder()
}

// Begin counts a call in the tab, until End, and renews the session's lease. addr is the tab's
// and must not be nil, unless the call is one of an earlier process. stale says that a Tx should
// save the session.
func (st *Standing) Begin(now time.Time, addr *spec.TabAddr) (stale bool) {
	stale = st.use(now, 1)
	if st.session != nil && addr != nil {
		st.session.latest.Store(addr)
	}
	return stale
}

// End says that a call has ended, which renews the lease, too.
func (st *Standing) End(now time.Time) (stale bool) { return st.use(now, -1) }

// use notes that the session uses the tab, with so many calls more.
func (st *Standing) use(now time.Time, calls int64) (stale bool) {
	if st.session == nil {
		return false
	}
	st.session.used.Store(now.UnixNano())
	return st.Lease == LeaseMine && st.lease.use(now, calls)
}

// Chose reports whether a session, nil for none, has chosen a tab before.
func (a *Agents) Chose(ses *Session, addr spec.TabAddr) bool {
	return ses != nil && (ses.preferred[addr] != 0 || a.leases[addr].stateFor(ses) == LeaseMine)
}

// Seen is what sessions have of a tab, as one of them sees it.
type Seen struct {
	HeldBy   *Holder // the lease's; nil: there is none
	Mine     bool    // the lease is of the session that asks
	OpenedBy string  // the session that has opened the tab, for people; "" for none
}

// See returns what sessions have of a tab, as one of them sees it.
func (a *Agents) See(addr spec.TabAddr, by SessionID) Seen {
	h := a.Holder(addr)
	return Seen{HeldBy: h, Mine: h != nil && h.Session == by, OpenedBy: a.OpenedBy(addr)}
}
