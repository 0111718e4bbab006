package state

import (
	"slices"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/offer/item"
	"tabhub/spec"
)

// Opening is a tab that a browser is asked to open for a domain; calls that need it
// share it. What has become of it, State.Deadline says.
type Opening struct {
	Peer spec.PeerID // the browser
	URL  string
	By   agents.By // of the first that asked

	domain *domain
	addr   spec.TabAddr // once the browser has answered
	err    error        // of the browser
	until  time.Time
	began  uint64 // as a sequence number
}

// Known returns the item that a name stands for now, of a tab that has it or as closed ones
// left it; nil if the domain's catalog does not have it any more, or by sees none.
func (s *State) Known(r *Ref, by agents.By) *item.Item {
	if r.b.entry == nil {
		return nil
	}
	return r.b.entry.item(s, by)
}

// Opener says how somebody can have a tab for what a name stands for: url is where it would be opened. If
// one is being opened or a browser can open one, ready is true; away says that a
// browser which could is in its grace. only, if not "", is the one browser that may.
func (s *State) Opener(r *Ref, by agents.By, only spec.PeerID, now time.Time) (url string, ready, away bool) {
	d := s.domains[r.ID.Domain]
	if d == nil {
		return "", false, false
	}
	start := r.start()
	return d.openURL(s, start, by), d.openingAt(s, start, by, now) != nil || d.opener(s, start, by, only) != nil, openerAway(s, by, only)
}

// Open asks for a tab for what a name stands for, for somebody. If first is true, it is for the caller to ask the
// Opening's browser for it, and to tell Opened of the answer; else somebody did. It
// returns nil if no browser can open it.
func (tx *Tx) Open(r *Ref, by agents.By, only spec.PeerID) (o *Opening, first bool) {
	d, start := tx.domains[r.ID.Domain], r.start()
	if d == nil {
		return nil, false
	}
	if o := d.openingAt(tx.State, start, by, tx.now); o != nil {
		return o, false
	}
	p := d.opener(tx.State, start, by, only)
	if p == nil {
		return nil, false
	}
	o = &Opening{Peer: p.id, URL: d.openURL(tx.State, start, by), By: by, domain: d, began: tx.next(), until: tx.now.Add(spec.ControlTimeout + spec.OpenTabMaxWait)}
	d.openings = append(slices.DeleteFunc(d.openings, func(o *Opening) bool { return !tx.now.Before(o.until) }), o)
	return o, true
}

// Opened says that a browser has answered: with the tab's id, or err.
func (tx *Tx) Opened(o *Opening, tab int64, err error) {
	d := o.domain
	o.addr, o.err, o.until = spec.TabAddr{Peer: o.Peer, Tab: tab}, err, tx.now.Add(spec.OpenTabMaxWait)
	t := tx.tabs[o.addr]
	if err == nil {
		if t != nil && t.born < o.began { // it slept
			tx.ofAgents.Prefer(o.By, o.addr)
		} else {
			tx.ofAgents.Opened(o.By, o.addr)
		}
	}
	if err != nil || t != nil && t.domains[d.key] != nil {
		d.openings = slices.DeleteFunc(d.openings, func(other *Opening) bool { return other == o })
	}
}

// Deadline returns until when a call may wait for the tab that is being opened to register,
// or why there will be none.
func (s *State) Deadline(o *Opening) (until time.Time, err error) { return o.until, o.err }

// openingAt returns a tab that is being opened for the domain or, with start, there, if one is that by
// sees.
func (d *domain) openingAt(s *State, start *Start, by agents.By, now time.Time) *Opening {
	for _, o := range d.openings {
		if now.Before(o.until) && s.SeesPeer(by, o.Peer) && (start == nil || start.URL == o.URL) {
			return o
		}
	}
	return nil
}

// openURL returns where to open the domain: at the start, or the URL that a tab of it had or has which by
// sees of, or its origin.
func (d *domain) openURL(s *State, start *Start, by agents.By) string {
	if start != nil {
		return start.URL
	}
	if c := d.lastCache(s, by); c != nil && c.url != "" && item.OriginOf(c.url) == d.origin {
		return c.url
	}
	var newest *tab
	for _, t := range d.tabs {
		if item.OriginOf(t.url) == d.origin && t.seenBy(s, &by) && (newest == nil || t.updated.After(newest.updated)) {
			newest = t
		}
	}
	if newest != nil {
		return newest.url
	}
	return d.origin + "/"
}

// opener chooses the browser to open a tab in, of those that by sees: the one that last
// had the domain, else the one that was focused last. For a start, it knows packs.
func (d *domain) opener(s *State, start *Start, by agents.By, only spec.PeerID) *peer {
	var best *peer
	last := d.lastCache(s, by)
	for _, p := range s.peers {
		if !p.connected || !p.caps[spec.CapOpenTab] || start != nil && !p.caps[spec.CapPacks] || only != "" && p.id != only || !s.sees(&by, p.browser) {
			continue
		}
		if last != nil && p.id == last.peer {
			return p
		}
		if best == nil || p.focused > best.focused || p.focused == best.focused && p.id < best.id {
			best = p
		}
	}
	return best
}

// openerAway reports whether a browser that may open tabs for somebody is in its grace. Of one
// that has not been here since a restart it is not known whether it may.
func openerAway(s *State, by agents.By, only spec.PeerID) bool {
	for _, p := range s.peers {
		if p.browser != "" && !p.connected && (p.caps[spec.CapOpenTab] || p.connectedAt.IsZero()) && (only == "" || p.id == only) && s.sees(&by, p.browser) {
			return true
		}
	}
	return false
}
