package state

import (
	"time"

	"tabhub/hub/item"
	"tabhub/spec"
)

// Opening is a tab that a browser is asked to open for a domain; calls that need it
// share it. What has become of it, State.Deadline says.
type Opening struct {
	Peer spec.PeerID // the browser
	URL  string
	By   By // who asked first

	domain *domain
	addr   spec.TabAddr // once the browser has answered
	err    error        // of the browser
	until  time.Time
	began  uint64 // as a sequence number
}

// Known returns the item that a name stands for now, of a tab that has it or as closed ones
// left it; nil if the domain's catalog does not have it any more.
func (s *State) Known(r *Ref) *item.Item {
	if r.b.entry == nil {
		return nil
	}
	return r.b.entry.item()
}

// Opener says how somebody can have a tab of a domain: url is where it would be opened. If
// one is being opened or a browser can open one, ready is true; away says that a
// browser which could is in its grace. only, if not "", is the one browser that may.
func (s *State) Opener(domain spec.Domain, by By, only spec.PeerID, now time.Time) (url string, ready, away bool) {
	d := s.domains[domain]
	if d == nil {
		return "", false, false
	}
	return d.openURL(), d.openingAt(now) != nil || s.opener(d, only) != nil, s.openerAway(only)
}

// Open asks for a tab of a domain for somebody. If first is true, it is for the caller to ask the
// Opening's browser for it, and to tell Opened of the answer; else somebody did. It
// returns nil if no browser can open it.
func (tx *Tx) Open(domain spec.Domain, by By, only spec.PeerID) (o *Opening, first bool) {
	d := tx.domains[domain]
	if d == nil {
		return nil, false
	}
	if o := d.openingAt(tx.now); o != nil {
		return o, false
	}
	p := tx.opener(d, only)
	if p == nil {
		return nil, false
	}
	d.opening = &Opening{Peer: p.id, URL: d.openURL(), By: by, domain: d, began: tx.next(), until: tx.now.Add(spec.ControlTimeout + spec.OpenTabMaxWait)}
	return d.opening, true
}

// Opened says that a browser has answered: with the tab's id, or err.
func (tx *Tx) Opened(o *Opening, tab int64, err error) {
	d := o.domain
	o.addr, o.err, o.until = spec.TabAddr{Peer: o.Peer, Tab: tab}, err, tx.now.Add(spec.OpenTabMaxWait)
	t := tx.tabs[o.addr]
	if err == nil {
		if t != nil && t.born < o.began { // it slept
			tx.Prefer(o.By, o.addr)
		} else {
			tx.Opens(o.By, o.addr)
		}
	}
	if d.opening == o && (err != nil || t != nil && t.domains[d.key] != nil) {
		d.opening = nil
	}
}

// Deadline returns until when a call may wait for the tab that is being opened to register,
// or why there will be none.
func (s *State) Deadline(o *Opening) (until time.Time, err error) { return o.until, o.err }

// openingAt returns the tab that is being opened for the domain, if one is.
func (d *domain) openingAt(now time.Time) *Opening {
	if d.opening != nil && now.Before(d.opening.until) {
		return d.opening
	}
	return nil
}

// openURL returns where to open the domain: the URL that a tab of it had or has, or its
// origin.
func (d *domain) openURL() string {
	if d.cache.url != "" && item.OriginOf(d.cache.url) == d.origin {
		return d.cache.url
	}
	var newest *tab
	for _, t := range d.tabs {
		if item.OriginOf(t.url) == d.origin && (newest == nil || t.updated.After(newest.updated)) {
			newest = t
		}
	}
	if newest != nil {
		return newest.url
	}
	return d.origin + "/"
}

// opener chooses the browser to open a tab in: the one that last had the domain, else
// the one that was focused last.
func (s *State) opener(d *domain, only spec.PeerID) *peer {
	var best *peer
	for _, p := range s.peers {
		if !p.connected || !p.caps[spec.CapOpenTab] || only != "" && p.id != only {
			continue
		}
		if p.id == d.cache.peer {
			return p
		}
		if best == nil || p.focused > best.focused || p.focused == best.focused && p.id < best.id {
			best = p
		}
	}
	return best
}

// openerAway reports whether a browser that may open tabs is in its grace. Of one that
// has not been here since a restart it is not known whether it may.
func (s *State) openerAway(only spec.PeerID) bool {
	for _, p := range s.peers {
		if p.browser != "" && !p.connected && (p.caps[spec.CapOpenTab] || p.connectedAt.IsZero()) && (only == "" || p.id == only) {
			return true
		}
	}
	return false
}
