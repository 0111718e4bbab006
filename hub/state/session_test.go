package state

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
)

// agent is a session of a client of its own.
func agent(id string) By { return By{Session: SessionID{"c-" + id, id}, Label: strings.ToUpper(id)} }

// routed returns where a call of a session goes, and why.
func (f *fixture) routed(by By, public string) (spec.TabAddr, string) {
	f.t.Helper()
	r, ok := f.Lookup(By{}, spec.KindTool, "website_tool_"+public)
	if !ok {
		f.t.Fatalf("%s is nobody's", public)
	}
	s := f.Snapshot(&r, by, nil, "", nil)
	best, reason := s.Choose()
	if best < 0 {
		return spec.TabAddr{}, reason
	}
	return s.Candidates[best].Addr, reason
}

// goes checks where a call of a session goes, and why.
func (f *fixture) goes(by By, public string, want spec.TabAddr, why string) {
	f.t.Helper()
	if got, reason := f.routed(by, public); got != want || reason != why {
		f.t.Errorf("%s's call of %s goes to %q: %s; want %q: %s", by.Label, public, got, reason, want, why)
	}
}

// called has a call of a session go where it goes, as package hub does.
func (f *fixture) called(by By, public string) (at spec.TabAddr) {
	f.t.Helper()
	r, _ := f.Lookup(By{}, spec.KindTool, "website_tool_"+public)
	s := f.Snapshot(&r, by, nil, "", nil)
	best, _ := s.Choose()
	c := s.Candidates[best]
	_, stale := c.Begin(f.now)
	f.change(func(tx *Tx) {
		if !s.Named && c.Keeps() {
			tx.Keep(by, c.Addr)
		}
		if stale {
			tx.SaveSession(by.Session)
		}
	})
	if c.End(f.now) {
		f.change(func(tx *Tx) { tx.SaveSession(by.Session) })
	}
	return c.Addr
}

func (f *fixture) lease(by By, addr spec.TabAddr, t Terms) *Holder {
	f.t.Helper()
	var holder *Holder
	f.change(func(tx *Tx) { holder = tx.Lease(by, addr, t) })
	return holder
}

func (f *fixture) came(by By) { f.t.Helper(); f.change(func(tx *Tx) { tx.Came(by) }) }
func (f *fixture) went(by By, final bool) {
	f.t.Helper()
	f.change(func(tx *Tx) { tx.Went(by.Session, final) })
}

// tabs connects a browser with so many tabs of e.com that have the tool x.
func (f *fixture) eTabs(n int64) (tabs []spec.TabAddr) {
	f.t.Helper()
	for i := range n {
		at := spec.TabAddr{Peer: "browser:b1", Tab: i + 1}
		if i == 0 {
			at = f.chrome("b1", "s1", 1)
		}
		f.tools(at, "https://e.com/", "x")
		tabs = append(tabs, at)
	}
	return tabs
}

func (f *fixture) look(at spec.TabAddr) {
	f.t.Helper()
	f.tabState(at, &spec.TabState{WindowID: new(int64(1)), Active: new(true), WindowFocused: new(true)})
}

const tenMinutes = 10 * time.Minute

// Agents that share a site stay each in its tab, whatever the user looks at.
func TestSessionKeepsItsTab(t *testing.T) {
	f := newFixture(t)
	tabs := f.eTabs(4)
	var agents []By
	for i, at := range tabs {
		agents = append(agents, agent(fmt.Sprint("a", i)))
		f.came(agents[i])
		f.look(at)
		f.called(agents[i], "e_com_x")
	}
	for i := range 1000 {
		f.look(tabs[i*7%len(tabs)])
		for j, by := range agents {
			if got, reason := f.routed(by, "e_com_x"); got != tabs[j] || reason != ReasonKept {
				t.Fatalf("after %d moves of the focus %s goes to %s: %s", i, by.Label, got, reason)
			}
		}
	}
	f.goes(By{}, "e_com_x", tabs[999*7%4], ReasonActive)
	f.goes(agent("new"), "e_com_x", tabs[999*7%4], ReasonActive)

	// Named calls keep nothing, and go where they are told to.
	f.goes(agents[0], "e_com_tab2_x", tabs[1], ReasonNamed)
	f.called(agents[0], "e_com_tab2_x")
	f.goes(agents[0], "e_com_x", tabs[0], ReasonKept)

	// Another page in the tab, or the same again, changes nothing; the tab's end does.
	f.tools(tabs[0], "https://e.com/other", "x")
	f.goes(agents[0], "e_com_x", tabs[0], ReasonKept)
	f.look(tabs[3])
	f.closeTab(tabs[0])
	f.goes(agents[0], "e_com_x", tabs[3], ReasonActive)
	f.change(func(tx *Tx) { tx.Prefer(agents[1], tabs[2]) })
	f.goes(agents[1], "e_com_x", tabs[2], ReasonKept)
}

// A session that names no tab means that of its latest call, or the one that it has chosen since.
func TestPreferredTab(t *testing.T) {
	f := newFixture(t)
	tabs := f.eTabs(3)
	other := spec.TabAddr{Peer: tabs[0].Peer, Tab: 9}
	f.tools(other, "https://other.com/", "y")
	a := agent("a")
	f.came(a)
	means := func(want spec.TabAddr) {
		t.Helper()
		if got, ok := f.Preferred(a.Session); got != want || ok != (want != spec.TabAddr{}) {
			t.Errorf("it means %v, want %v", got, want)
		}
	}
	means(spec.TabAddr{})
	f.look(tabs[0])
	f.called(a, "e_com_x")
	means(tabs[0])
	f.called(a, "other_com_y")
	means(other)
	f.called(a, "e_com_tab2_x") // by a number, which is for that call alone
	means(tabs[0])
	f.change(func(tx *Tx) { tx.Prefer(a, tabs[2]) })
	means(tabs[2])
	f.called(a, "other_com_y")
	is := spec.TabAddr{Peer: other.Peer, Tab: 40}
	f.tabState(is, &spec.TabState{Replaces: other.Tab})
	means(is)
	f.closeTab(is)
	means(tabs[2])
}

// A tab keeps its session under another address, and in a hub that is started anew; not in
// another run of its browser, where its number is another tab's.
func TestSessionFollowsItsTab(t *testing.T) {
	f := newFixture(t)
	tabs := f.eTabs(3)
	a, b := agent("a"), agent("b")
	f.came(a)
	f.look(tabs[0])
	f.called(a, "e_com_x")
	f.lease(b, tabs[1], Terms{TTL: tenMinutes})
	f.look(tabs[2])
	is := spec.TabAddr{Peer: tabs[0].Peer, Tab: 40}
	f.tabState(is, &spec.TabState{Replaces: tabs[0].Tab})
	f.goes(a, "e_com_x", is, ReasonKept)
	leased := spec.TabAddr{Peer: tabs[0].Peer, Tab: 41}
	f.tabState(leased, &spec.TabState{Replaces: tabs[1].Tab})
	f.goes(b, "e_com_x", leased, ReasonHeld)

	f.close()
	f.restart()
	f.goes(a, "e_com_x", is, ReasonKept) // a call waits for it
	f.chrome("b1", "s1", 1)
	for _, at := range []spec.TabAddr{is, leased, tabs[2]} {
		f.tools(at, "https://e.com/", "x")
	}
	f.look(tabs[2])
	f.goes(a, "e_com_x", is, ReasonKept)
	f.goes(b, "e_com_x", leased, ReasonHeld)

	f.restart()
	f.chrome("b1", "s2", 1)
	f.tools(is, "https://e.com/", "x")
	if infos, _ := f.Sessions("", "", 0, -1); f.Holder(leased) != nil || len(infos) != 2 || len(infos[0].Tabs)+len(infos[1].Tabs) != 0 {
		t.Errorf("of tabs of the browser's run before there is %+v", infos)
	}
	f.goes(a, "e_com_x", is, ReasonOnly)
}

// A leased tab is its holder's alone: it is no candidate of others, and theirs by number is
// refused, until the lease ends.
func TestLease(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(f *fixture, by By, at spec.TabAddr)
	}{
		{"released", func(f *fixture, by By, at spec.TabAddr) {
			f.change(func(tx *Tx) {
				if tx.Release(agent("b").Session, at) || !tx.Release(by.Session, at) {
					f.t.Error("who does not hold the tab releases it, or who does cannot")
				}
			})
		}},
		{"all released", func(f *fixture, by By, at spec.TabAddr) { f.change(func(tx *Tx) { tx.ReleaseAll(by.Session) }) }},
		{"ended by the owner", func(f *fixture, _ By, at spec.TabAddr) {
			f.change(func(tx *Tx) {
				if was := tx.EndLease(at); was == nil || was.Name != "A (shopping)" {
					f.t.Errorf("ended that of %v", was)
				}
			})
		}},
		{"its time is over", func(f *fixture, _ By, _ spec.TabAddr) { f.pass(tenMinutes) }},
		{"its client has gone for good", func(f *fixture, by By, _ spec.TabAddr) { f.went(by, true) }},
		{"its client has not come back", func(f *fixture, by By, _ spec.TabAddr) {
			f.went(by, false)
			f.pass(spec.SessionGrace - 1)
			if f.Holder(spec.TabAddr{Peer: "browser:b1", Tab: 1}) == nil {
				f.t.Error("a client that has lost its connection has lost its tab")
			}
			f.pass(1)
		}},
		{"nor after a restart", func(f *fixture, by By, _ spec.TabAddr) {
			f.restart()
			f.eTabs(2)
			f.pass(spec.SessionGrace)
		}},
		{"its tab is closed", func(f *fixture, _ By, at spec.TabAddr) {
			f.closeTab(at)
			f.tools(at, "https://e.com/", "x")
		}},
		{"its browser has gone", func(f *fixture, _ By, at spec.TabAddr) {
			f.disconnect(at)
			f.pass(spec.BrowserGrace)
			f.eTabs(2)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			tabs := f.eTabs(2)
			a, b := agent("a"), agent("b")
			f.came(a)
			f.look(tabs[0])
			holder := f.lease(a, tabs[0], Terms{Name: "shopping", TTL: tenMinutes})
			if holder == nil || holder.Session != a.Session || holder.Client != "c-a" || holder.String() != "held by A (shopping) until 03:14:05 UTC" {
				t.Fatalf("leased to %+v", holder)
			}
			if other := f.lease(b, tabs[0], Terms{TTL: time.Hour}); other.Session != a.Session {
				t.Errorf("two have leased the tab: %+v", other)
			}
			f.goes(a, "e_com_x", tabs[0], ReasonHeld)
			f.goes(b, "e_com_x", tabs[1], ReasonOnly)
			f.goes(By{}, "e_com_x", tabs[1], ReasonOnly)
			if f.Held(tabs[0], a.Session, false) != nil || f.Held(tabs[0], b.Session, true) == nil || f.Held(tabs[0], SessionID{}, true) == nil || f.Held(tabs[1], b.Session, false) != nil {
				t.Error("the lease keeps its holder away, or others not, or from other tabs")
			}
			e, _ := f.Explain("website_tool_e_com_x", b, f.now)
			if note := e.Candidates[0].Note; note != "held by A (shopping) until 03:14:05 UTC" {
				t.Errorf("of the leased tab explain says %q", note)
			}
			c.end(f, a, tabs[0])
			f.goes(b, "e_com_tab1_x", tabs[0], ReasonNamed)
			if holder := f.Holder(tabs[0]); holder != nil || f.Held(tabs[0], b.Session, false) != nil {
				t.Errorf("the tab is held by %+v still", holder)
			}
		})
	}
}

// Calls of the holder renew its lease, and one that takes long keeps it.
func TestLeaseIsRenewed(t *testing.T) {
	f := newFixture(t)
	at := f.eTabs(1)[0]
	a := agent("a")
	f.came(a)
	f.lease(a, at, Terms{TTL: time.Minute})
	for range 10 {
		f.pass(50 * time.Second)
		f.called(a, "e_com_x")
	}
	r, _ := f.Lookup(By{}, spec.KindTool, "website_tool_e_com_x")
	s := f.Snapshot(&r, a, nil, "", nil)
	s.Candidates[0].Begin(f.now)
	f.pass(time.Hour)
	if f.Holder(at) == nil {
		t.Fatal("a lease ended under a call of its holder")
	}
	if !s.Candidates[0].End(f.now) {
		t.Error("the end of a long call is not to be stored")
	}
	f.change(func(tx *Tx) { tx.SaveSession(a.Session) })
	if until := f.Holder(at).Until; !until.Equal(f.now.Add(time.Minute)) {
		t.Errorf("held until %v at %v", until, f.now)
	}
	// What is stored is not much older than what is.
	f.pass(16 * time.Second)
	f.called(a, "e_com_x")
	f.pass(time.Second)
	f.restart()
	if until := f.Holder(at).Until; until.Before(f.now.Add(44 * time.Second)) {
		t.Errorf("after a restart held until %v at %v", until, f.now)
	}
	f.pass(time.Minute)
	if f.Holder(at) != nil {
		t.Error("the lease has no end")
	}
}

// A tab that offers nothing can be leased, and what others may read is said by its holder.
func TestLeaseOfTabWithoutTools(t *testing.T) {
	f := newFixture(t)
	at := f.eTabs(1)[0]
	bare := spec.TabAddr{Peer: at.Peer, Tab: 9}
	a, b := agent("a"), agent("b")
	f.lease(a, bare, Terms{TTL: tenMinutes, Reads: true})
	if f.Held(bare, b.Session, true) != nil || f.Held(bare, b.Session, false) == nil {
		t.Error("others may not read, or may write")
	}
	f.tools(bare, "https://e.com/", `x:"annotations":{"readOnlyHint":true}`, "y")
	f.goes(a, "e_com_y", bare, ReasonHeld)
	f.goes(b, "e_com_y", spec.TabAddr{}, ReasonLeased)
	f.closeTab(at)
	f.goes(b, "e_com_x", bare, ReasonOnly)
}

// Tabs of other agents are left alone while there are others, and an agent's own go first.
func TestRoom(t *testing.T) {
	f := newFixture(t)
	tabs := f.eTabs(2)
	a, b := agent("a"), agent("b")
	f.change(func(tx *Tx) { tx.Opens(a, tabs[1]) })
	f.look(tabs[1])
	f.goes(a, "e_com_x", tabs[1], ReasonKept)
	f.goes(b, "e_com_x", tabs[0], ReasonUpdated)
	if info := f.tabInfo(f.tabs[tabs[1]]); info.OpenedBy != "A" {
		t.Errorf("the tab was opened by %q", info.OpenedBy)
	}
	f.closeTab(tabs[0])
	f.goes(b, "e_com_x", tabs[1], ReasonOnly)
	var ended []EndedSession
	c := f.Begin(f.now)
	c.Went(a.Session, true)
	work := c.End()
	f.write(work.Writes)
	ended = work.Ended
	if len(ended) != 1 || ended[0].Label != "A" || len(ended[0].Room) != 1 || ended[0].Room[0] != tabs[1] {
		t.Errorf("ended: %+v", ended)
	}
}

// A client whose requests stand alone stays for half an hour after its last.
func TestSessionAlone(t *testing.T) {
	f := newFixture(t)
	tabs := f.eTabs(2)
	a := By{Session: SessionID{"c", "=1"}, Label: "A"}
	f.look(tabs[0])
	f.called(a, "e_com_x")
	f.look(tabs[1])
	f.pass(29 * time.Minute)
	f.called(a, "e_com_x")
	f.pass(29 * time.Minute)
	f.goes(a, "e_com_x", tabs[0], ReasonKept)
	f.pass(2 * time.Minute)
	f.goes(a, "e_com_x", tabs[1], ReasonActive)

	// A task may take a day: nobody gets its tab meanwhile, though its client says nothing.
	f.lease(a, tabs[0], Terms{TTL: 24 * time.Hour})
	r, _ := f.Lookup(By{}, spec.KindTool, "website_tool_e_com_x")
	s := f.Snapshot(&r, a, nil, "", nil)
	best, _ := s.Choose()
	s.Candidates[best].Begin(f.now)
	f.pass(3 * time.Hour)
	if f.Holder(tabs[0]) == nil {
		t.Error("the session ended under a call in a tab that it holds")
	}
	s.Candidates[best].End(f.now)
	f.pass(31 * time.Minute)
	if f.Holder(tabs[0]) != nil {
		t.Error("the session has no end")
	}
}

// A client that makes up ever new sessions has as many as there is room for, and takes nothing
// from those that hold tabs.
func TestSessionsAreBounded(t *testing.T) {
	f := newFixture(t)
	at := f.eTabs(1)[0]
	holder := agent("holder")
	f.lease(holder, at, Terms{TTL: time.Hour})
	for i := range maxClientSessions + 50 {
		f.change(func(tx *Tx) {
			tx.Came(agent(fmt.Sprint("connected", i)))
			tx.Keep(By{Session: SessionID{"flood", fmt.Sprint("=", i)}}, at)
		})
		f.now = f.now.Add(time.Millisecond)
	}
	n := 0
	for id := range f.sessions {
		if id.Client == "flood" {
			n++
		}
	}
	if n != maxClientSessions || f.Holder(at) == nil || f.sessions[SessionID{"flood", fmt.Sprint("=", maxClientSessions+49)}] == nil {
		t.Errorf("%d sessions of one client, %v", n, f.Holder(at))
	}
	for i := range int64(maxSessionTabs + 10) {
		f.change(func(tx *Tx) {
			tx.Prefer(holder, spec.TabAddr{Peer: at.Peer, Tab: 100 + i})
			tx.Opens(holder, spec.TabAddr{Peer: at.Peer, Tab: 200 + i})
			if h := tx.Lease(holder, spec.TabAddr{Peer: at.Peer, Tab: 200 + i}, Terms{TTL: time.Hour}); (h == nil) != (i >= maxSessionTabs-1) {
				t.Errorf("lease %d: %v", i, h)
			}
		})
	}
}

// A client that leases whatever there is, with ever new sessions, leaves others half of it.
func TestClientLeavesTabsToOthers(t *testing.T) {
	f := newFixture(t)
	tabs := f.eTabs(40)
	of := func(client string, i int) By { return By{Session: SessionID{client, fmt.Sprint("=", i)}} }
	leased := func(client string) (n int) {
		f.change(func(tx *Tx) {
			for i, at := range tabs {
				if h := tx.Lease(of(client, i), at, Terms{TTL: time.Hour}); h != nil && h.Client == client {
					n++
				}
			}
		})
		return n
	}
	if a, b, c := leased("a"), leased("b"), leased("c"); a != 20 || b != 10 || c != 5 {
		t.Errorf("leased %d, %d, %d of %d", a, b, c, len(tabs))
	}
	// What it has opened itself is not the owner's.
	f.change(func(tx *Tx) {
		own := tabs[39]
		tx.Opens(of("a", 99), own)
		if h := tx.Lease(of("a", 99), own, Terms{TTL: time.Hour}); h == nil || h.Client != "a" {
			t.Errorf("a tab that the client has opened: %v", h)
		}
	})
}

// A browser that opens a tab for a call takes none that sleeps where another agent holds one.
func TestOpeningWakesNoLeasedTab(t *testing.T) {
	f := newFixture(t)
	tabs := f.eTabs(1)
	a, b := agent("a"), agent("b")
	wakes := func(by By) (wakes bool) {
		t.Helper()
		f.change(func(tx *Tx) {
			o, _ := tx.Open("e.com", by, "")
			wakes = tx.Wakes(o)
			tx.Opened(o, 0, errors.New("no"))
		})
		return wakes
	}
	f.tabState(tabs[0], &spec.TabState{Discarded: new(true)})
	if !wakes(b) {
		t.Error("a tab that is free is not woken")
	}
	f.lease(a, tabs[0], Terms{TTL: time.Hour})
	if wakes(b) || !wakes(a) {
		t.Error("a leased tab is its holder's to wake")
	}
	f.tabState(tabs[0], &spec.TabState{Discarded: new(false)})
	if !wakes(b) {
		t.Error("a leased tab that does not sleep keeps others from being woken")
	}
	f.lease(a, spec.TabAddr{Peer: tabs[0].Peer, Tab: 99}, Terms{TTL: time.Hour})
	if wakes(b) {
		t.Error("what a leased tab without tools shows is not known")
	}
}

// What is said of the owner's hand counts in tabs that are held, and of browsers that look for it.
func TestForgedHand(t *testing.T) {
	f := newFixture(t)
	tabs := f.eTabs(1)
	f.lease(agent("a"), tabs[0], Terms{TTL: time.Hour})
	for i := range int64(100) {
		f.tabState(spec.TabAddr{Peer: tabs[0].Peer, Tab: i + 1}, &spec.TabState{InUse: new(true)})
	}
	if len(f.inUse) != 0 {
		t.Errorf("%d tabs are in use, of a browser that does not look for its owner's hand", len(f.inUse))
	}
	f.peers[tabs[0].Peer].caps[spec.CapHold] = true
	for i := range int64(100) {
		f.tabState(spec.TabAddr{Peer: tabs[0].Peer, Tab: i + 1}, &spec.TabState{InUse: new(true)})
	}
	if len(f.inUse) != 1 || !f.inUse[tabs[0]] {
		t.Errorf("in use: %v", f.inUse)
	}
}

// With a client's credential goes what it holds; and of a session that has ended nothing is stored.
func TestEndClient(t *testing.T) {
	f := newFixture(t)
	tabs := f.eTabs(2)
	one, other, bob := By{Session: SessionID{"c", "1"}}, By{Session: SessionID{"c", "=2"}}, agent("bob")
	for _, by := range []By{one, other} {
		f.came(by)
	}
	f.lease(one, tabs[0], Terms{TTL: 24 * time.Hour})
	f.lease(bob, tabs[1], Terms{TTL: 24 * time.Hour})
	f.change(func(tx *Tx) { tx.Keep(other, tabs[0]) })
	f.change(func(tx *Tx) { tx.EndClient("c") })
	if got := f.Holder(tabs[1]).String(); got != "held by BOB until Jan 3 03:04 UTC" {
		t.Errorf("a lease of a day is %s", got)
	}
	if f.Holder(tabs[0]) != nil || len(f.sessions) != 1 {
		t.Errorf("left are %+v", f.sessions)
	}
	if docs := f.load().Documents; len(docs) != 1 {
		t.Errorf("stored are %d documents, of one session", len(docs))
	}
}
