package state

import (
	"slices"
	"time"

	"tabhub/hub/offer/item"
	"tabhub/spec"
	"tabhub/storage"
)

// Snapshot is what the choice of a tab depends on, and nothing else.
type Snapshot struct {
	Candidates []Candidate // by tab number
	Named      bool        // the call named the tab
	LastCall   string      // URL of the tab that the domain's last call went to
}

// Candidate is a tab that a call could go to, as it was when the call looked.
type Candidate struct {
	Addr     spec.TabAddr
	Item     *item.Item
	Number   int
	URL      string
	Updated  time.Time
	Since    time.Time // when the hub saw the item's definition first; zero: before it started
	Active   bool
	Present  bool         // can be sent to now
	Departed bool         // the tab is there, but its document has gone; the next one may have the item
	Asleep   bool         // the tab's page is not loaded; a call has it loaded
	Dialog   *spec.Dialog // that blocks the tab's page; nil: none is known
	Excluded bool         // is not to be chosen
	InUse    bool         // the session holds the tab, and the owner uses it by hand
	Lease    LeaseState   // of the tab, for the session that calls
	Room     RoomState
	Kept     int64 // its rank among the tabs that the session prefers, the lower the better; 0: none

	tab     *tab
	domain  *domain
	session *session // that calls; nil for nobody's
	lease   *lease   // of the tab
}

// RoomState says who has opened a tab.
type RoomState int8

// The states of a tab's room.
const (
	RoomNone  RoomState = iota // no session
	RoomMine                   // the one that calls
	RoomOther                  // another
)

// The reasons of Choose.
const (
	ReasonNamed   = "the call named this tab"
	ReasonHeld    = "the client holds this tab"
	ReasonKept    = "where the client's calls of this site go"
	ReasonRoom    = "opened by the client"
	ReasonOnly    = "the only tab that has it"
	ReasonActive  = "the active tab"
	ReasonLastURL = "at the URL of the last call"
	ReasonUpdated = "updated last"
	ReasonNone    = "no tab is open"
	ReasonLeased  = "other clients hold all tabs that have it"
)

// Choose returns the index of the best candidate and why it is the best; -1 if there
// is none (spec/docs/RULES.md, "Routing"). The session's own tabs go before all others, and
// its calls wait for one that is away. Of others, a tab that is there goes before one that is
// away or asleep, or that a dialog of its page blocks.
func (s Snapshot) Choose() (best int, reason string) {
	best = -1
	n, highest, leased := 0, 0, false
	for i := range s.Candidates {
		c := &s.Candidates[i]
		if c.Excluded {
			continue
		}
		if !s.Named && !c.Free() {
			leased = true
			continue
		}
		n++
		rank := c.rank(s.LastCall)
		if best < 0 || rank > highest || rank == highest && c.before(&s.Candidates[best]) {
			best, highest = i, rank
		}
	}
	switch {
	case best < 0 && leased:
		return best, ReasonLeased
	case best < 0:
		return best, ReasonNone
	case s.Named:
		return best, ReasonNamed
	case s.Candidates[best].Lease == LeaseMine:
		return best, ReasonHeld
	case s.Candidates[best].Kept > 0:
		return best, ReasonKept
	case s.Candidates[best].Room == RoomMine:
		return best, ReasonRoom
	case n == 1:
		return best, ReasonOnly
	case s.Candidates[best].Active:
		return best, ReasonActive
	case s.Candidates[best].at(s.LastCall):
		return best, ReasonLastURL
	}
	return best, ReasonUpdated
}

// Leased returns the first tab that is left out because another session holds it.
func (s Snapshot) Leased() (addr spec.TabAddr, ok bool) {
	i := slices.IndexFunc(s.Candidates, func(c Candidate) bool { return !c.Excluded && !c.Free() })
	if i < 0 {
		return addr, false
	}
	return s.Candidates[i].Addr, true
}

// Keeps reports whether the session's further calls are to go to the tab, once one does that
// something else than the session has chosen it for.
func (c *Candidate) Keeps() bool { return !c.Own() && c.Lease == LeaseNone }

// Free reports whether no other session's lease keeps the call from the tab.
func (c *Candidate) Free() bool {
	return c.Lease <= LeaseMine || c.Lease == LeaseReadable && c.Reads()
}

// Reads reports whether the call only reads the tab.
func (c *Candidate) Reads() bool { return c.Item.Kind != spec.KindTool || c.Item.OnlyReads() }

// Own reports whether the session that calls has chosen the tab before.
func (c *Candidate) Own() bool { return c.Lease == LeaseMine || c.Kept > 0 }

// before reports whether c is better than b, of two of one rank: the session prefers it, or it
// was updated later.
func (c *Candidate) before(b *Candidate) bool {
	if c.Kept != b.Kept {
		return b.Kept == 0 || 0 < c.Kept && c.Kept < b.Kept
	}
	return c.Updated.After(b.Updated)
}

// rank is the higher the better, the domain's last call having gone to lastCall. Of a session's
// own tabs it does not matter what they show or whether they are there.
func (c *Candidate) rank(lastCall string) (rank int) {
	switch {
	case c.Lease == LeaseMine:
		return 60
	case c.Kept > 0:
		return 50
	case c.Room == RoomMine:
		rank = 40
	case c.Lease == LeaseReadable:
	case c.Room == RoomOther:
		rank = 10
	default:
		rank = 20
	}
	if (c.Present || c.Departed) && !c.Asleep && c.Dialog == nil {
		rank += 4
	}
	switch {
	case c.Active:
		rank += 2
	case c.at(lastCall):
		rank++
	}
	return rank
}

// at reports whether the tab is at a URL, if that is any.
func (c *Candidate) at(url string) bool { return url != "" && c.URL == url }

// Snapshot collects the candidates for a name that somebody calls. Those in excluded, those that
// are not where r says and, if only is not "", those of other peers are not to be chosen. room is
// used if it is large enough.
func (s *State) Snapshot(r *Ref, by By, excluded []spec.TabAddr, only spec.PeerID, room []Candidate) Snapshot {
	if r.matched != "" {
		s.rematch(r)
	}
	snap := Snapshot{Candidates: room[:0], Named: r.b.provider != nil, LastCall: r.b.domain.calledAt()}
	var ses *session
	if by.Session != (SessionID{}) {
		ses = s.sessions[by.Session]
	}
	active := s.activeOf(by)
	switch e := r.b.entry; {
	case snap.Named && !s.knowsTab(&by, r.b.provider.tab):
	case snap.Named:
		snap.Candidates = appendCandidate(snap.Candidates, r.b.provider, ses)
	case e != nil:
		// The domain's name stands for the tabs whose schemas are the newest's, and for the
		// session's own.
		newest := s.newest(e, by, true)
		for _, p := range e.providers {
			if s.knowsTab(&by, p.tab) && (r.Tab != "" || newest != nil && p.item.Shape == newest.item.Shape || ses.owns(p.tab)) {
				snap.Candidates = appendCandidate(snap.Candidates, p, ses)
			}
		}
	}
	for i := range snap.Candidates {
		c := &snap.Candidates[i]
		c.Active = c.tab == active
		c.InUse = len(s.inUse) > 0 && c.Lease == LeaseMine && s.inUse[c.Addr]
		c.Excluded = only != "" && c.Addr.Peer != only || slices.Contains(excluded, c.Addr) ||
			r.Tab != "" && (c.Addr.Public() != r.Tab || c.Item.FrameID() != r.Frame)
	}
	return snap
}

// appendCandidate appends a candidate for a call of a session, nil for nobody's.
func appendCandidate(all []Candidate, p *provider, ses *session) []Candidate {
	t := p.tab
	connected, departed := p.connected(), t.departed(p.item)
	all = append(all, Candidate{
		Addr: t.addr, Item: p.item, Number: p.number, URL: t.url, Updated: t.updated, Since: p.since,
		Present: connected && !departed, Departed: connected && departed, Asleep: t.discarded, Dialog: t.dialog,
		Lease: t.lease.held(ses), tab: t, domain: p.entry.domain, session: ses, lease: t.lease,
	})
	c := &all[len(all)-1]
	if ses != nil {
		c.Kept = ses.tabs[t.addr]
	}
	switch t.room {
	case nil:
	case ses:
		c.Room = RoomMine
	default:
		c.Room = RoomOther
	}
	return all
}

// Begin counts a call that goes to the tab, until End, and returns how many there are. It
// renews the session's lease; stale says that the state should store that (Tx.SaveSession).
func (c *Candidate) Begin(now time.Time) (calls int64, stale bool) {
	stale = c.use(now, 1)
	if c.session != nil {
		c.session.latest.Store(&c.tab.addr)
	}
	return c.tab.calls.Add(1), stale
}

// Resume is Begin for a call that an earlier process has sent to a tab; end is for its End.
func (s *State) Resume(id SessionID, addr spec.TabAddr, now time.Time) (end func(now time.Time) (stale bool)) {
	c := Candidate{Addr: addr, session: s.sessions[id], lease: s.leases[addr]}
	c.Lease = c.lease.held(c.session)
	c.use(now, 1)
	return func(now time.Time) bool { return c.use(now, -1) }
}

// End says that a call has ended, which renews the lease, too.
func (c *Candidate) End(now time.Time) (stale bool) {
	c.tab.calls.Add(-1)
	return c.use(now, -1)
}

// use notes that the session uses the tab, with so many calls more.
func (c *Candidate) use(now time.Time, calls int64) (stale bool) {
	if c.session == nil {
		return false
	}
	c.session.used.Store(now.UnixNano())
	if c.Lease != LeaseMine {
		return false
	}
	return c.lease.use(now, calls)
}

// Site returns the user's settings for a domain.
func (s *State) Site(domain spec.Domain) storage.Site { return s.sites[domain] }

// Called says that a call goes to the tab at its URL, for the domain's calls that come after. Calls
// of several tabs in turn do so each time.
func (c *Candidate) Called() {
	url := c.URL
	c.domain.lastCall.Store(&url)
}
