package flow

import (
	"time"

	"tabhub/spec"
)

// Bounds of what is kept.
const (
	lifetime     = 12 * time.Hour // after the latest result of a site
	maxSites     = 64             // of a client
	maxValues    = 65536          // of a client
	quota        = 8192           // of a site, and of what the client has sent
	quotaPrivate = 32768          // of a private site
)

// table has the values that one client has seen, or sent.
type table struct {
	values map[uint64]origin
	sites  [own + 1]*site // by number
}

// origin has the numbers of those who have returned a value, the first one first.
type origin struct{ first, second uint8 }

// Numbers of sites go up from 1.
const (
	nobody = 0
	own    = maxSites + 1 // the client itself, which has sent the value before
	many   = own + 1      // as the second: two sites or more
)

// site is what has returned values.
type site struct {
	domain  spec.Domain
	private bool      // when it returned the latest
	last    time.Time // when that was
	unseen  bool      // it has returned more than is kept
	ring    []uint64  // the values that it was the first to return
	oldest  int       // in ring, once the quota is reached
}

// number returns the number of a site, nobody if it has none.
func (t *table) number(d spec.Domain) uint8 {
	for n := uint8(1); n <= maxSites; n++ {
		if s := t.sites[n]; s != nil && s.domain == d {
			return n
		}
	}
	return nobody
}

// returned notes that a site returns something now, and returns its number.
func (t *table) returned(d spec.Domain, private bool, now time.Time) uint8 {
	n := t.number(d)
	for i := uint8(1); n == nobody && i <= maxSites; i++ {
		if t.sites[i] == nil {
			n = i
		}
	}
	if n == nobody {
		if n = t.leastRecent(nobody, false); n == nobody {
			n = t.leastRecent(nobody, true)
		}
		t.forget(n)
	}
	s := t.sites[n]
	if s == nil {
		s = &site{domain: d}
		t.sites[n] = s
	}
	s.private, s.last = private, now
	return n
}

// learn adds what a site has returned, or the client sent.
func (t *table) learn(n uint8, values []value) {
	for _, v := range values {
		o, known := t.values[v.hash]
		switch {
		case !known:
			t.add(n, v.hash)
		case n == own || o.first == own || o.first == n || o.second == n || o.second == many:
		case o.second == nobody:
			t.values[v.hash] = origin{o.first, n}
		default:
			t.values[v.hash] = origin{o.first, many}
		}
	}
}

// add adds a new value in place of another one, if there is no room: of a site that is not
// private and has long returned nothing, or of the same site.
func (t *table) add(n uint8, hash uint64) {
	s := t.sites[n]
	limit := quota
	if s.private {
		limit = quotaPrivate
	}
	full := len(s.ring) >= limit
	if !full && len(t.values) >= maxValues {
		if other := t.leastRecent(n, false); other != nobody {
			t.forget(other)
		} else {
			full = true
		}
	}
	switch {
	case !full:
		s.ring = append(s.ring, hash)
	case len(s.ring) == 0:
		s.unseen = true
		return
	default:
		s.unseen = true
		if second := t.values[s.ring[s.oldest]].second; second != nobody && second != many {
			t.sites[second].unseen = true
		}
		delete(t.values, s.ring[s.oldest])
		s.ring[s.oldest] = hash
		s.oldest = (s.oldest + 1) % len(s.ring)
	}
	t.values[hash] = origin{first: n}
}

// leastRecent returns the number of the site that has returned nothing for the longest time
// and is neither n nor, unless private is set, private; nobody if there is none.
func (t *table) leastRecent(n uint8, private bool) (least uint8) {
	for i := uint8(1); i <= maxSites; i++ {
		if s := t.sites[i]; s != nil && i != n && (private || !s.private) && (least == nobody || s.last.Before(t.sites[least].last)) {
			least = i
		}
	}
	return least
}

// forget drops a site and its values.
func (t *table) forget(n uint8) {
	t.sites[n] = nil
	for hash, o := range t.values {
		switch {
		case o.first == n:
			delete(t.values, hash)
		case o.second == n:
			t.values[hash] = origin{first: o.first}
		}
	}
}

// forgetOld drops the sites that have returned nothing since then, private ones only if
// private is set.
func (t *table) forgetOld(since time.Time, private bool) {
	for n := uint8(1); n <= maxSites; n++ {
		if s := t.sites[n]; s != nil && s.last.Before(since) && (private || !s.private) {
			t.forget(n)
		}
	}
}
