package flow

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// Bounds of a Tracker.
const (
	lifetime   = 12 * time.Hour // after a site's last answer
	maxClients = 4096
	maxSites   = 256     // of a client
	maxForgot  = 64      // sites that are forgotten at once when there are more, so that few calls search
	maxTexts   = 1 << 20 // bytes of a client's texts
	maxAll     = 32 << 20
	textSize   = 128 // bytes that a text takes beside its own
)

// Tracker knows what the clients of one tenant have read. It is safe for concurrent use. Only the
// comparisons of texts block, for tens of milliseconds. A client is the ID of a principal, so it has
// still read a site after it reconnects, or begins another session.
type Tracker struct {
	comparing sync.Mutex // held while texts are compared, so that this takes one core at most

	mu      sync.Mutex // guards what follows, and is not held while texts are read
	clients map[string]*client
	bytes   int // of all clients' texts
}

// client is what a Tracker knows of one client.
type client struct {
	sites map[spec.Domain]time.Time // the last answer of each
	used  time.Time

	watched []spec.Domain // the sites that rules watch; immutable
	rules   *policy.Set   // of watched; nil: it is out of date, as it is after until
	until   time.Time

	texts []text // the oldest first
	bytes int    // in texts
}

// text is a text that a site has returned, or a client has sent.
type text struct {
	from spec.Domain // "": the client
	to   spec.Domain // where it went
	call string      // the id of the call that has sent it
	at   time.Time
	data json.RawMessage
}

// New returns a Tracker.
func New() *Tracker { return &Tracker{clients: map[string]*client{}} }

// Forget forgets what a client has read.
func (t *Tracker) Forget(who string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forgetLocked(who)
}

func (t *Tracker) forgetLocked(who string) {
	if c := t.clients[who]; c != nil {
		t.bytes -= c.bytes
		delete(t.clients, who)
	}
}

// Returned notes what a site returns to a client, before the client has it. data is valid JSON that is
// not changed later; nil if it is of no use for comparisons. The Tracker keeps it if rules may ask
// about the client. Without a site Returned does nothing.
func (t *Tracker) Returned(who *policy.Principal, from spec.Domain, rules *policy.Set, data json.RawMessage) {
	if from == "" {
		return
	}
	now, keep := time.Now(), rules.Traces(who)
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.clientLocked(who.ID, now)
	last, known := c.sites[from]
	if !known || now.Sub(last) >= lifetime {
		c.rules = nil
	}
	if !known && len(c.sites) >= maxSites {
		c.makeRoom(rules, now)
	}
	c.sites[from] = now
	t.keepLocked(c, keep, text{from: from, at: now, data: data})
}

// Sent notes what a client has sent to a site with a call. The Tracker keeps it if rules may ask about
// the client.
func (t *Tracker) Sent(who *policy.Principal, to spec.Domain, rules *policy.Set, call string, data json.RawMessage) {
	if !rules.Traces(who) {
		return
	}
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keepLocked(t.clientLocked(who.ID, now), true, text{to: to, call: call, at: now, data: data})
}

func (t *Tracker) clientLocked(who string, now time.Time) *client {
	c := t.clients[who]
	if c == nil {
		if len(t.clients) >= maxClients {
			t.forgetLocked(t.leastRecentLocked(func(*client) bool { return true }))
		}
		c = &client{sites: map[spec.Domain]time.Time{}}
		t.clients[who] = c
	}
	c.used = now
	return c
}

// leastRecentLocked returns the client of that kind that has been idle longest, "" if there is none.
func (t *Tracker) leastRecentLocked(is func(*client) bool) (who string) {
	for id, c := range t.clients {
		if is(c) && (who == "" || c.used.Before(t.clients[who].used)) {
			who = id
		}
	}
	return who
}

// makeRoom forgets the sites with the oldest answers: several that rules do not watch or, if there are
// none, one that they watch.
func (c *client) makeRoom(rules *policy.Set, now time.Time) {
	var watched, others []spec.Domain
	for d, last := range c.sites {
		switch {
		case now.Sub(last) < lifetime && rules.Watches(d):
			watched = append(watched, d)
		default:
			others = append(others, d)
		}
	}
	oldest := func(a, b spec.Domain) int { return c.sites[a].Compare(c.sites[b]) }
	if len(others) == 0 {
		delete(c.sites, slices.MinFunc(watched, oldest))
		return
	}
	slices.SortFunc(others, oldest)
	for _, d := range others[:min(len(others), maxForgot)] {
		delete(c.sites, d)
	}
}

// keepLocked adds a text to those of a client, in place of the oldest, or drops all of them.
func (t *Tracker) keepLocked(c *client, keep bool, s text) {
	size := len(s.data) + textSize
	switch {
	case !keep:
		t.dropLocked(c, len(c.texts))
		return
	case len(s.data) == 0 || size > maxTexts:
		return
	}
	n, left := 0, c.bytes
	for n < len(c.texts) && (left+size > maxTexts || s.at.Sub(c.texts[n].at) >= lifetime) {
		left -= len(c.texts[n].data) + textSize
		n++
	}
	t.dropLocked(c, n)
	for t.bytes+size > maxAll {
		t.dropLocked(t.clients[t.leastRecentLocked(func(c *client) bool { return c.bytes > 0 })], maxTexts)
	}
	c.texts = append(c.texts, s)
	c.bytes += size
	t.bytes += size
}

// dropLocked drops the n oldest texts of a client.
func (t *Tracker) dropLocked(c *client, n int) {
	n = min(n, len(c.texts))
	for _, s := range c.texts[:n] {
		c.bytes -= len(s.data) + textSize
		t.bytes -= len(s.data) + textSize
	}
	clear(c.texts[:n])
	if c.texts = c.texts[n:]; len(c.texts) == 0 {
		c.texts = nil
	}
}

// Read returns the sites that a client has read and that rules watch, for policy.Action.Read.
// The list must not be changed.
func (t *Tracker) Read(who string, rules *policy.Set) []spec.Domain {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.clients[who]
	if c == nil {
		return nil
	}
	if now := time.Now(); c.rules != rules || now.After(c.until) {
		c.watch(rules, now)
	}
	return c.watched
}

// watch makes the list of watched sites.
func (c *client) watch(rules *policy.Set, now time.Time) {
	c.watched, c.rules, c.until = nil, rules, now.Add(lifetime)
	for d, last := range c.sites {
		ends := last.Add(lifetime)
		switch {
		case !ends.After(now):
			delete(c.sites, d)
		case rules.Watches(d):
			c.watched = append(c.watched, d)
			if ends.Before(c.until) {
				c.until = ends
			}
		}
	}
	slices.Sort(c.watched)
}
