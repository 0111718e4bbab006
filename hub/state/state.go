package state

import (
	"time"

	"tabhub/naming"
	"tabhub/spec"
	"tabhub/storage"
)

// State is what a hub knows of one user. Its zero value is not usable; see New.
type State struct {
	namer naming.ToolNamer

	peers       map[spec.PeerID]*peer
	tabs        map[spec.TabAddr]*tab
	reading     map[spec.TabAddr]*Registration // that have begun and not ended
	active      *tab                           // what the user looks at; nil if no tab that is known
	domains     map[spec.Domain]*domain
	order       []*domain // by key
	names       map[publicName]*binding
	shares      map[string]*share // by site
	all         share             // of all sites together
	cachedItems int               // of all domains
	browsers    map[spec.BrowserID]storage.Browser
	sites       map[spec.Domain]storage.Site
	subs        map[string]*Subscription // by public URI

	sequence   uint64    // of registrations, connections and focus: the later the higher
	generation uint64    // of the lists
	seen       time.Time // when what is open was stored as seen
}

// New returns a State that knows nothing. Items are named by namer.
func New(namer naming.ToolNamer) *State {
	return &State{
		namer:    namer,
		peers:    map[spec.PeerID]*peer{},
		tabs:     map[spec.TabAddr]*tab{},
		reading:  map[spec.TabAddr]*Registration{},
		domains:  map[spec.Domain]*domain{},
		names:    map[publicName]*binding{},
		shares:   map[string]*share{},
		browsers: map[spec.BrowserID]storage.Browser{},
		sites:    map[spec.Domain]storage.Site{},
		subs:     map[string]*Subscription{},
	}
}

// Change is a transaction on a State, which it can be asked as well. It ends with End.
type Change struct {
	*State
	now    time.Time
	work   Work
	caches map[*domain]bool // whose cached items are to be saved at the end
}

// Work is what is to be done after a Change, when no lock is held, in any order but
// for the Writes, which are to be written in the order in which the Changes were made.
type Work struct {
	Writes      []storage.Change
	Disconnects []Disconnect
	Timers      []Timer
	Listed      bool // a list may have changed
}

// Disconnect is a tab, or for Tab 0 a peer, that is gone: what is asked of it is to be
// given up, and its connection, if it has one, closed.
type Disconnect struct {
	Addr   spec.TabAddr
	Code   spec.CloseCode
	Reason string
}

// Timer asks for a call of Change.TimerOver when After has passed. It need not be
// stopped: a timer that has been overtaken does nothing.
type Timer struct {
	Peer  spec.PeerID
	After time.Duration
	id    uint64
}

// seenEvery is how often, as things happen, what is open is stored as seen, so that
// after a crash it counts as nearly as old as it is.
const seenEvery = spec.StaleTab / 4

// Begin starts a change, which happens now.
func (s *State) Begin(now time.Time) *Change { return &Change{State: s, now: now} }

// End ends the change and returns what is left to do. The Change is not to be used
// after it.
func (c *Change) End() Work {
	if c.now.Sub(c.seen) > seenEvery {
		c.SaveSeen()
	}
	for d := range c.caches {
		c.saveCache(d)
	}
	return c.work
}

// SaveSeen stores the tabs that are open, and their numbers, as seen now.
func (c *Change) SaveSeen() {
	c.seen = c.now
	for _, t := range c.tabs {
		if !t.hidden {
			c.saveTab(t)
		}
	}
	for _, d := range c.order {
		for _, t := range d.tabs {
			c.saveNumber(d, t)
		}
	}
}

// write adds to what is to be written to the store.
func (c *Change) write(w storage.Change) { c.work.Writes = append(c.work.Writes, w) }

func (c *Change) disconnect(a spec.TabAddr, code spec.CloseCode, reason string) {
	c.work.Disconnects = append(c.work.Disconnects, Disconnect{a, code, reason})
}

// startTimer starts the timer of a peer, in place of one that is running.
func (c *Change) startTimer(p *peer, after time.Duration) {
	p.timer = c.next()
	c.work.Timers = append(c.work.Timers, Timer{Peer: p.id, After: after, id: p.timer})
}

// next returns the next sequence number.
func (c *Change) next() uint64 {
	c.sequence++
	return c.sequence
}

// relist says that what the lists show of a domain has changed.
func (c *Change) relist(d *domain) {
	c.generation++
	d.generation = c.generation
	c.work.Listed = true
}
