package state

import (
	"slices"
	"time"

	"tabhub/hub/agents"
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
	Addr            spec.TabAddr
	Item            *item.Item
	Number          int
	URL             string
	Updated         time.Time
	Since           time.Time // when the hub saw the item's definition first; zero: before it started
	Active          bool
	Present         bool         // can be sent to now
	Departed        bool         // the tab is there, but its document has gone; the next one may have the item
	Asleep          bool         // the tab's page is not loaded; a call has it loaded
	Dialog          *spec.Dialog // that blocks the tab's page; nil: none is known
	Excluded        bool         // is not to be chosen
	agents.Standing              // of the session that calls

	tab    *tab
	domain *domain
}

// The reasons of Choose.
const (
	ReasonNamed   = "the call named this tab"
	ReasonHeld    = "the client leases this tab"
	ReasonKept    = "where the client's calls of this site go"
	ReasonOpened  = "opened by the client"
	ReasonOnly    = "the only tab that has it"
	ReasonActive  = "the active tab"
	ReasonLastURL = "at the URL of the last call"
	ReasonUpdated = "updated last"
	ReasonNone    = "no tab is open"
	ReasonLeased  = "other clients lease all tabs that have it"
)

// Choose returns the index of the best candidate and why it is the best; -1 if there
// is none (spec/PROTOCOL.md, "Routing"). The session's own tabs go before all others, and
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
		if !s.Named && !c.isFree() {
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
	case s.Candidates[best].Lease == agents.LeaseMine:
		return best, ReasonHeld
	case s.Candidates[best].Preferred > 0:
		return best, ReasonKept
	case s.Candidates[best].Group == agents.GroupMine:
		return best, ReasonOpened
	case n == 1:
		return best, ReasonOnly
	case s.Candidates[best].Active:
		return best, ReasonActive
	case s.Candidates[best].at(s.LastCall):
		return best, ReasonLastURL
	}
	return best, ReasonUpdated
}

// Leased returns the first tab that is left out because another session leases it.
func (s Snapshot) Leased() (addr spec.TabAddr, ok bool) {
	i := slices.IndexFunc(s.Candidates, func(c Candidate) bool { return !c.Excluded && !c.isFree() })
	if i < 0 {
		return addr, false
	}
	return s.Candidates[i].Addr, true
}

// Keeps reports whether the session's further calls are to go to the tab, once one does that
// something else than the session has chosen it for.
func (c *Candidate) Keeps() bool { return !c.Chosen() && c.Lease == agents.LeaseNone }

// isFree reports whether no other session's lease keeps the call from the tab.
func (c *Candidate) isFree() bool {
	return c.Lease <= agents.LeaseMine || c.Lease == agents.LeaseReadable && c.Reads()
}

// Reads reports whether the call only reads the tab.
func (c *Candidate) Reads() bool { return c.Item.Kind != spec.KindTool || c.Item.OnlyReads() }

// before reports whether c is better than b, of two of one rank: the session prefers it, or it
// was updated later.
func (c *Candidate) before(b *Candidate) bool {
	if c.Preferred != b.Preferred {
		return b.Preferred == 0 || 0 < c.Preferred && c.Preferred < b.Preferred
	}
	return c.Updated.After(b.Updated)
}

// rank is the higher the better, the domain's last call having gone to lastCall. Of a session's
// own tabs it does not matter what they show or whether they are there.
func (c *Candidate) rank(lastCall string) (rank int) {
	switch {
	case c.Lease == agents.LeaseMine:
		return 60
	case c.Preferred > 0:
		return 50
	case c.Group == agents.GroupMine:
		rank = 40
	case c.Lease == agents.LeaseReadable:
	case c.Group == agents.GroupOther:
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
func (s *State) Snapshot(r *Ref, by agents.By, excluded []spec.TabAddr, only spec.PeerID, room []Candidate) Snapshot {
	if r.matched != "" {
		r.rematch(s)
	}
	snap := Snapshot{Candidates: room[:0], Named: r.b.provider != nil, LastCall: r.b.domain.calledAt()}
	ses := s.agents.Session(by.Session)
	active := s.activeOf(by)
	switch e := r.b.entry; {
	case snap.Named && !r.b.provider.tab.seenBy(s, &by):
	case snap.Named:
		snap.Candidates = appendCandidate(s, snap.Candidates, r.b.provider, ses)
	case e != nil:
		// The domain's name stands for the tabs whose schemas are the newest's, and for the
		// session's own.
		newest := e.newest(s, by, true)
		for _, p := range e.providers {
			if !p.tab.seenBy(s, &by) {
				continue
			}
			if r.Tab != "" || newest != nil && p.item.Shape == newest.item.Shape || s.agents.Chose(ses, p.tab.addr) {
				snap.Candidates = appendCandidate(s, snap.Candidates, p, ses)
			}
		}
	}
	for i := range snap.Candidates {
		c := &snap.Candidates[i]
		c.Active = c.tab == active
		c.Excluded = only != "" && c.Addr.Peer != only || slices.Contains(excluded, c.Addr) ||
			r.Tab != "" && (c.Addr.Public() != r.Tab || c.Item.FrameID() != r.Frame)
	}
	return snap
}

// appendCandidate appends a candidate for a call of a session, nil for nobody's.
func appendCandidate(s *State, all []Candidate, p *provider, ses *agents.Session) []Candidate {
	t := p.tab
	connected, departed := p.connected(), t.departed(p.item)
	return append(all, Candidate{
		Addr: t.addr, Item: p.item, Number: p.number, URL: t.url, Updated: t.updated, Since: p.since,
		Present: connected && !departed, Departed: connected && departed, Asleep: t.discarded, Dialog: t.dialog,
		Standing: s.agents.Standing(ses, t.addr), tab: t, domain: p.entry.domain,
	})
}

// Begin counts a call that goes to the tab, until End, and returns how many there are. It
// renews the session's lease; stale says that a Tx should save the session.
func (c *Candidate) Begin(now time.Time) (calls int64, stale bool) {
	stale = c.Standing.Begin(now, &c.tab.addr)
	return c.tab.calls.Add(1), stale
}

// End says that a call has ended, which renews the lease, too.
func (c *Candidate) End(now time.Time) (stale bool) {
	c.tab.calls.Add(-1)
	return c.Standing.End(now)
}

// Site returns the user's settings for a domain.
func (s *State) Site(domain spec.Domain) storage.Site { return s.sites[domain] }

// Called says that a call goes to the tab at its URL, for the domain's calls that come after. Calls
// of several tabs in turn do so each time.
func (c *Candidate) Called() {
	url := c.URL
	c.domain.lastCall.Store(&url)
}
