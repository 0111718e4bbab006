package state

import (
	"time"

	"tabhub/hub/agents"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/storage"
)

// State is what a hub knows of one user. Its zero value is not usable; see New.
type State struct {
	namer naming.ToolNamer

	peers    map[spec.PeerID]*peer
	tabs     map[spec.TabAddr]*tab
	reading  map[spec.TabAddr]*Registration // that have begun and not ended
	active   *tab                           // what the user looks at; nil if no tab that is known
	domains  map[spec.Domain]*domain
	order    []*domain // by key
	names    map[publicName]*binding
	shares   map[string]*share // by site
	all      share             // of all sites together
	browsers map[spec.BrowserID]storage.Browser
	sites    map[spec.Domain]storage.Site
	agents   *agents.Agents

	sequence   uint64    // of registrations, connections and focus: the later the higher
	generation uint64    // of the lists
	seen       time.Time // when what is open was stored as seen

	tx Tx // that is open; the zero value if none is
}

// New returns a State that knows nothing. Items are named by namer.
func New(namer naming.ToolNamer) *State {
	s := &State{
		namer:    namer,
		peers:    map[spec.PeerID]*peer{},
		tabs:     map[spec.TabAddr]*tab{},
		reading:  map[spec.TabAddr]*Registration{},
		domains:  map[spec.Domain]*domain{},
		names:    map[publicName]*binding{},
		shares:   map[string]*share{},
		browsers: map[spec.BrowserID]storage.Browser{},
		sites:    map[spec.Domain]storage.Site{},
	}
	s.agents = agents.New((*tabs)(s))
	return s
}

// Tx is a transaction on a State: it changes the state, and can be asked what State can.
// It ends with End.
type Tx struct {
	*State
	now      time.Time
	work     Work
	ofAgents agents.Tx
	caches   map[*cache]bool // whose items are to be saved at the end
}

// Work is what is to be done after a transaction, when no lock is held, in any order but
// for the Writes, which are to be written in the order of the transactions.
type Work struct {
	Writes      []storage.Change
	Disconnects []Disconnect
	Gone        []Gone
	Timers      []Timer
	Ended       []agents.Ended // sessions that had opened tabs
	Listed      bool           // a list may have changed
	Leased      bool           // leases have changed
}

// Disconnect is a tab, or for Tab 0 a peer, that is gone: what is asked of it is to be
// given up, and its connection, if it has one, closed.
type Disconnect struct {
	Addr   spec.TabAddr
	Code   spec.CloseCode
	Reason string
}

// Gone is a tab's part in a domain that has ended: the tab is closed, or given up.
type Gone struct {
	Addr   spec.TabAddr
	Domain spec.Domain
	Items  int // that it offered there
}

// Timer asks for a call of Tx.TimerOver when After has passed. It need not be
// stopped: a timer that has been overtaken does nothing.
type Timer struct {
	Peer  spec.PeerID // "" for agents
	After time.Duration
	id    uint64
}

// seenEvery is how often, as things happen, what is open is stored as seen, so that
// after a crash it counts as nearly as old as it is.
const seenEvery = spec.StaleTab / 4

// Begin starts a transaction, which happens now. It panics if one is open.
func (s *State) Begin(now time.Time) *Tx {
	if s.tx.State != nil {
		panic("state: a transaction is under way")
	}
	s.tx = Tx{State: s, now: now, ofAgents: s.agents.Begin(now)}
	return &s.tx
}

// End ends the transaction and returns what is left to do. The Tx must not be used
// after it.
func (tx *Tx) End() Work {
	if tx.now.Sub(tx.seen) > seenEvery {
		tx.SaveSeen()
	}
	for c := range tx.caches {
		c.saveCache(tx)
	}
	of := tx.ofAgents.End()
	work := tx.work
	work.Writes, work.Ended, work.Leased = append(work.Writes, of.Writes...), of.Ended, of.Leased
	if of.WakeID != 0 {
		work.Timers = append(work.Timers, Timer{After: of.Wake, id: of.WakeID})
	}
	*tx = Tx{}
	return work
}

// SaveSeen stores the tabs that are open, and their numbers, as seen now.
func (tx *Tx) SaveSeen() {
	tx.seen = tx.now
	for _, t := range tx.tabs {
		if !t.hidden {
			t.saveTab(tx)
		}
	}
	for _, d := range tx.order {
		for _, t := range d.tabs {
			d.saveNumber(tx, t)
		}
	}
	tx.boundDomains(maxEmpty)
}

// write adds to what is to be written to the store.
func (tx *Tx) write(w storage.Change) { tx.work.Writes = append(tx.work.Writes, w) }

func (tx *Tx) disconnect(a spec.TabAddr, code spec.CloseCode, reason string) {
	tx.work.Disconnects = append(tx.work.Disconnects, Disconnect{a, code, reason})
}

// startTimer starts the timer of a peer, in place of one that is running.
func (p *peer) startTimer(tx *Tx, after time.Duration) {
	p.timer = tx.next()
	tx.work.Timers = append(tx.work.Timers, Timer{Peer: p.id, After: after, id: p.timer})
}

// next returns the next sequence number.
func (tx *Tx) next() uint64 {
	tx.sequence++
	return tx.sequence
}

// relist says that what the lists show of a domain has changed.
func (d *domain) relist(tx *Tx) {
	tx.generation++
	d.generation = tx.generation
	tx.work.Listed = true
}
