package state

import (
	"slices"
	"sync/atomic"
	"time"

	"tabhub/hub/item"
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
	Present  bool          // can be sent to now
	Departed bool          // the tab is there, but its document has gone; the next one may have the item
	Asleep   bool          // the tab's page is not loaded; a call has it loaded
	Excluded bool          // is not to be chosen
	Calls    *atomic.Int64 // to the tab, under way; the one thing that changes

	tab *tab
}

// The reasons of Choose.
const (
	ReasonNamed   = "the call named this tab"
	ReasonOnly    = "the only tab that has it"
	ReasonActive  = "the active tab"
	ReasonLastURL = "at the URL of the last call"
	ReasonUpdated = "updated last"
	ReasonNone    = "no tab is open"
)

// Choose returns the index of the best candidate and why it is the best; -1 if there
// is none (spec/docs/RULES.md, "Routing"). A tab that is there goes before one
// that is away or asleep.
func (s Snapshot) Choose() (best int, reason string) {
	best = -1
	n := 0
	for i := range s.Candidates {
		if s.Candidates[i].Excluded {
			continue
		}
		n++
		if best < 0 {
			best = i
			continue
		}
		c, b := &s.Candidates[i], &s.Candidates[best]
		if rc, rb := s.rank(c), s.rank(b); rc > rb || rc == rb && c.Updated.After(b.Updated) {
			best = i
		}
	}
	switch {
	case best < 0:
		return best, ReasonNone
	case s.Named:
		return best, ReasonNamed
	case n == 1:
		return best, ReasonOnly
	case s.Candidates[best].Active:
		return best, ReasonActive
	case s.Candidates[best].at(s.LastCall):
		return best, ReasonLastURL
	}
	return best, ReasonUpdated
}

func (s Snapshot) rank(c *Candidate) (rank int) {
	if (c.Present || c.Departed) && !c.Asleep {
		rank += 4
	}
	switch {
	case c.Active:
		rank += 2
	case c.at(s.LastCall):
		rank++
	}
	return rank
}

// at reports whether the tab is at a URL, if that is any.
func (c *Candidate) at(url string) bool { return url != "" && c.URL == url }

// Snapshot collects the candidates for a name that somebody calls. Those in excluded and, if
// only is not "", those of other peers are not to be chosen. room is used if it is large enough.
func (s *State) Snapshot(r *Ref, by By, excluded []spec.TabAddr, only spec.PeerID, room []Candidate) Snapshot {
	if r.matched != "" {
		s.rematch(r)
	}
	snap := Snapshot{Candidates: room[:0], Named: r.b.provider != nil, LastCall: r.b.domain.lastCall}
	switch e := r.b.entry; {
	case snap.Named:
		snap.Candidates = append(snap.Candidates, s.candidate(r.b.provider))
	case e != nil && len(e.providers) > 0:
		// The domain's name stands for the tabs whose schemas are the newest's.
		shape := e.newest(true).item.Shape
		for _, p := range e.providers {
			if p.item.Shape == shape {
				snap.Candidates = append(snap.Candidates, s.candidate(p))
			}
		}
	}
	for i := range snap.Candidates {
		c := &snap.Candidates[i]
		c.Excluded = only != "" && c.Addr.Peer != only || slices.Contains(excluded, c.Addr)
	}
	return snap
}

func (s *State) candidate(p *provider) Candidate {
	t := p.tab
	return Candidate{
		Addr: t.addr, Item: p.item, Number: p.number, URL: t.url, Updated: t.updated, Since: p.since,
		Active: t == s.active, Present: p.present(), Departed: p.departed(), Asleep: t.discarded,
		Calls: &t.calls, tab: t,
	}
}

// Site returns the user's settings for a domain.
func (s *State) Site(domain spec.Domain) storage.Site { return s.sites[domain] }

// CalledAt says that a call has gone to a domain's tab at url.
func (tx *Tx) CalledAt(domain spec.Domain, url string) {
	if d := tx.domains[domain]; d != nil {
		d.lastCall = url
	}
}
