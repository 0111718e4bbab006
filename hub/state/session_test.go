package state

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"tabhub/hub/agents"
	"tabhub/spec"
)

// agent is a session of a client of its own.
func agent(id string) agents.By {
	return agents.By{Session: agents.SessionID{Client: "c-" + id, ID: id}, Label: strings.ToUpper(id)}
}

// routed returns where a call of a session goes, and why.
func (f *fixture) routed(by agents.By, public string) (spec.TabAddr, string) {
	f.t.Helper()
	r, ok := f.Lookup(agents.By{}, spec.KindTool, "website_tool_"+public)
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
func (f *fixture) goes(by agents.By, public string, want spec.TabAddr, why string) {
	f.t.Helper()
	if got, reason := f.routed(by, public); got != want || reason != why {
		f.t.Errorf("%s's call of %s goes to %q: %s; want %q: %s", by.Label, public, got, reason, want, why)
	}
}

// called has a call of a session go where it goes, as package hub does.
func (f *fixture) called(by agents.By, public string) (at spec.TabAddr) {
	f.t.Helper()
	r, _ := f.Lookup(agents.By{}, spec.KindTool, "website_tool_"+public)
	s := f.Snapshot(&r, by, nil, "", nil)
	best, _ := s.Choose()
	c := s.Candidates[best]
	_, stale := c.Begin(f.now)
	f.change(func(tx *Tx) {
		if !s.Named && c.Keeps() {
			tx.Agents().Remember(by, c.Addr)
		}
		if stale {
			tx.Agents().Save(by.Session)
		}
	})
	if c.End(f.now) {
		f.change(func(tx *Tx) { tx.Agents().Save(by.Session) })
	}
	return c.Addr
}

func (f *fixture) lease(by agents.By, addr spec.TabAddr, t agents.Terms) *agents.Holder {
	f.t.Helper()
	var holder *agents.Holder
	f.change(func(tx *Tx) { holder = tx.Agents().Lease(by, addr, t) })
	return holder
}

func (f *fixture) came(by agents.By) {
	f.t.Helper()
	f.change(func(tx *Tx) { tx.Agents().Connect(by) })
}
func (f *fixture) went(by agents.By, final bool) {
	f.t.Helper()
	f.change(func(tx *Tx) { tx.Agents().Disconnect(by.Session, final) })
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
	var clients []agents.By
	for i, at := range tabs {
		clients = append(clients, agent(fmt.Sprint("a", i)))
		f.came(clients[i])
		f.look(at)
		f.called(clients[i], "e_com_x")
	}
	for i := range 1000 {
		f.look(tabs[i*7%len(tabs)])
		for j, by := range clients {
			if got, reason := f.routed(by, "e_com_x"); got != tabs[j] || reason != ReasonKept {
				t.Fatalf("after %d moves of the focus %s goes to %s: %s", i, by.Label, got, reason)
			}
		}
	}
	f.goes(agents.By{}, "e_com_x", tabs[999*7%4], ReasonActive)
	f.goes(agent("new"), "e_com_x", tabs[999*7%4], ReasonActive)

	// Named calls keep nothing, and go where they are told to.
	f.goes(clients[0], "e_com_tab2_x", tabs[1], ReasonNamed)
	f.called(clients[0], "e_com_tab2_x")
	f.goes(clients[0], "e_com_x", tabs[0], ReasonKept)

	// Another page in the tab, or the same again, changes nothing; the tab's end does.
	f.tools(tabs[0], "https://e.com/other", "x")
	f.goes(clients[0], "e_com_x", tabs[0], ReasonKept)
	f.look(tabs[3])
	f.closeTab(tabs[0])
	f.goes(clients[0], "e_com_x", tabs[3], ReasonActive)
	f.change(func(tx *Tx) { tx.Agents().Prefer(clients[1], tabs[2]) })
	f.goes(clients[1], "e_com_x", tabs[2], ReasonKept)
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
		if got, ok := f.Agents().Preferred(a.Session); got != want || ok != (want != spec.TabAddr{}) {
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
	f.change(func(tx *Tx) { tx.Agents().Prefer(a, tabs[2]) })
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
	f.lease(b, tabs[1], agents.Terms{TTL: tenMinutes})
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
	if infos, _ := f.Agents().Sessions("", "", 0, -1); f.Agents().Holder(leased) != nil || len(infos) != 2 || len(infos[0].Tabs)+len(infos[1].Tabs) != 0 {
		t.Errorf("of tabs of the browser's run before there is %+v", infos)
	}
	f.goes(a, "e_com_x", is, ReasonOnly)
}

// A leased tab is its holder's alone: it is no candidate of others, and theirs by number is
// refused, until the lease ends.
func TestLease(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(f *fixture, by agents.By, at spec.TabAddr)
	}{
		{"released", func(f *fixture, by agents.By, at spec.TabAddr) {
			f.change(func(tx *Tx) {
				if tx.Agents().Release(agent("b").Session, at) != nil || tx.Agents().Release(by.Session, at) == nil {
					f.t.Error("a session without the lease ends it, or the one with it cannot")
				}
			})
		}},
		{"all released", func(f *fixture, by agents.By, at spec.TabAddr) {
			f.change(func(tx *Tx) { tx.Agents().Release(by.Session, spec.TabAddr{}) })
		}},
		{"ended by the owner", func(f *fixture, _ agents.By, at spec.TabAddr) {
			f.change(func(tx *Tx) {
				if was := tx.Agents().EndLease(at); was == nil || was.Name != "A (shopping)" {
					f.t.Errorf("ended that of %v", was)
				}
			})
		}},
		{"its time is over", func(f *fixture, _ agents.By, _ spec.TabAddr) { f.pass(tenMinutes) }},
		{"its client has gone for good", func(f *fixture, by agents.By, _ spec.TabAddr) { f.went(by, true) }},
		{"its client has not come back", func(f *fixture, by agents.By, _ spec.TabAddr) {
			f.went(by, false)
			f.pass(spec.SessionGrace - 1)
			if f.Agents().Holder(spec.TabAddr{Peer: "browser:b1", Tab: 1}) == nil {
				f.t.Error("a client that has lost its connection has lost its tab")
			}
			f.pass(1)
		}},
		{"nor after a restart", func(f *fixture, by agents.By, _ spec.TabAddr) {
			f.restart()
			f.eTabs(2)
			f.pass(spec.SessionGrace)
		}},
		{"its tab is closed", func(f *fixture, _ agents.By, at spec.TabAddr) {
			f.closeTab(at)
			f.tools(at, "https://e.com/", "x")
		}},
		{"its browser has gone", func(f *fixture, _ agents.By, at spec.TabAddr) {
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
			holder := f.lease(a, tabs[0], agents.Terms{Name: "shopping", TTL: tenMinutes})
			if holder == nil || holder.Session != a.Session || holder.Client != "c-a" || holder.String() != "leased by A (shopping) until 03:14:05 UTC" {
				t.Fatalf("leased to %+v", holder)
			}
			if other := f.lease(b, tabs[0], agents.Terms{TTL: time.Hour}); other.Session != a.Session {
				t.Errorf("two have leased the tab: %+v", other)
			}
			f.goes(a, "e_com_x", tabs[0], ReasonHeld)
			f.goes(b, "e_com_x", tabs[1], ReasonOnly)
			f.goes(agents.By{}, "e_com_x", tabs[1], ReasonOnly)
			if f.Agents().Bars(tabs[0], a.Session, false) != nil || f.Agents().Bars(tabs[0], b.Session, true) == nil || f.Agents().Bars(tabs[0], agents.SessionID{}, true) == nil || f.Agents().Bars(tabs[1], b.Session, false) != nil {
				t.Error("the lease keeps its holder away, or others not, or from other tabs")
			}
			e, _ := f.Explain("website_tool_e_com_x", b, f.now)
			if note := e.Candidates[0].Note; note != "leased by A (shopping) until 03:14:05 UTC" {
				t.Errorf("of the leased tab explain says %q", note)
			}
			c.end(f, a, tabs[0])
			f.goes(b, "e_com_tab1_x", tabs[0], ReasonNamed)
			if holder := f.Agents().Holder(tabs[0]); holder != nil || f.Agents().Bars(tabs[0], b.Session, false) != nil {
				t.Errorf("the tab is still leased by %+v", holder)
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
	f.lease(a, at, agents.Terms{TTL: time.Minute})
	for range 10 {
		f.pass(50 * time.Second)
		f.called(a, "e_com_x")
	}
	r, _ := f.Lookup(agents.By{}, spec.KindTool, "website_tool_e_com_x")
	s := f.Snapshot(&r, a, nil, "", nil)
	s.Candidates[0].Begin(f.now)
	f.pass(time.Hour)
	if f.Agents().Holder(at) == nil {
		t.Fatal("a lease ended under a call of its holder")
	}
	if !s.Candidates[0].End(f.now) {
		t.Error("the end of a long call is not to be stored")
	}
	f.change(func(tx *Tx) { tx.Agents().Save(a.Session) })
	if until := f.Agents().Holder(at).Until; !until.Equal(f.now.Add(time.Minute)) {
		t.Errorf("held until %v at %v", until, f.now)
	}
	// What is stored is not much older than what is.
	f.pass(16 * time.Second)
	f.called(a, "e_com_x")
	f.pass(time.Second)
	f.restart()
	if until := f.Agents().Holder(at).Until; until.Before(f.now.Add(44 * time.Second)) {
		t.Errorf("after a restart held until %v at %v", until, f.now)
	}
	f.pass(time.Minute)
	if f.Agents().Holder(at) != nil {
		t.Error("the lease has no end")
	}
}

// A tab that offers nothing can be leased, and what others may read is said by its holder.
func TestLeaseOfTabWithoutTools(t *testing.T) {
	f := newFixture(t)
	at := f.eTabs(1)[0]
	bare := spec.TabAddr{Peer: at.Peer, Tab: 9}
	a, b := agent("a"), agent("b")
	f.lease(a, bare, agents.Terms{TTL: tenMinutes, Reads: true})
	if f.Agents().Bars(bare, b.Session, true) != nil || f.Agents().Bars(bare, b.Session, false) == nil {
		t.Error("others may not read, or may write")
	}
	f.tools(bare, "https://e.com/", `x:"annotations":{"readOnlyHint":true}`, "y")
	f.goes(a, "e_com_y", bare, ReasonHeld)
	f.goes(b, "e_com_y", spec.TabAddr{}, ReasonLeased)
	f.closeTab(at)
	f.goes(b, "e_com_x", bare, ReasonOnly)
}

// Tabs of other agents are left alone while there are others, and an agent's own go first.
func TestTabGroup(t *testing.T) {
	f := newFixture(t)
	tabs := f.eTabs(2)
	a, b := agent("a"), agent("b")
	f.change(func(tx *Tx) { tx.Agents().Opened(a, tabs[1]) })
	f.look(tabs[1])
	f.goes(a, "e_com_x", tabs[1], ReasonKept)
	f.goes(b, "e_com_x", tabs[0], ReasonUpdated)
	if info := f.tabs[tabs[1]].tabInfo(f.State); info.OpenedBy != "A" {
		t.Errorf("the tab was opened by %q", info.OpenedBy)
	}
	f.closeTab(tabs[0])
	f.goes(b, "e_com_x", tabs[1], ReasonOnly)
	tx := f.Begin(f.now)
	tx.Agents().Disconnect(a.Session, true)
	work := tx.End()
	f.write(work.Writes)
	if ended := work.Ended; len(ended) != 1 || ended[0].Label != "A" || len(ended[0].Group) != 1 || ended[0].Group[0] != tabs[1] {
		t.Errorf("ended: %+v", ended)
	}
}

// A client whose requests stand alone stays for half an hour after its last.
func TestSessionAlone(t *testing.T) {
	f := newFixture(t)
	tabs := f.eTabs(2)
	a := agents.By{Session: agents.SessionID{Client: "c", ID: "=1"}, Label: "A"}
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
	f.lease(a, tabs[0], agents.Terms{TTL: 24 * time.Hour})
	r, _ := f.Lookup(agents.By{}, spec.KindTool, "website_tool_e_com_x")
	s := f.Snapshot(&r, a, nil, "", nil)
	best, _ := s.Choose()
	s.Candidates[best].Begin(f.now)
	f.pass(3 * time.Hour)
	if f.Agents().Holder(tabs[0]) == nil {
		t.Error("the session ended under a call in a tab that it holds")
	}
	s.Candidates[best].End(f.now)
	f.pass(31 * time.Minute)
	if f.Agents().Holder(tabs[0]) != nil {
		t.Error("the session has no end")
	}
}

// A client that makes up ever new sessions has as many as there is room for, and takes nothing
// A client that leases whatever there is, with ever new sessions, leaves others half of it.
func TestClientLeavesTabsToOthers(t *testing.T) {
	f := newFixture(t)
	tabs := f.eTabs(40)
	of := func(client string, i int) agents.By {
		return agents.By{Session: agents.SessionID{Client: client, ID: fmt.Sprint("=", i)}}
	}
	leased := func(client string) (n int) {
		f.change(func(tx *Tx) {
			for i, at := range tabs {
				if h := tx.Agents().Lease(of(client, i), at, agents.Terms{TTL: time.Hour}); h != nil && h.Client == client {
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
		tx.Agents().Opened(of("a", 99), own)
		if h := tx.Agents().Lease(of("a", 99), own, agents.Terms{TTL: time.Hour}); h == nil || h.Client != "a" {
			t.Errorf("a tab that the client has opened: %v", h)
		}
	})
}

// A browser that opens a tab for a call takes none that sleeps where another agent holds one.
func TestOpeningWakesNoLeasedTab(t *testing.T) {
	f := newFixture(t)
	tabs := f.eTabs(1)
	a, b := agent("a"), agent("b")
	wakes := func(by agents.By) (wakes bool) {
		t.Helper()
		f.change(func(tx *Tx) {
			o, _ := tx.Open(at("e.com"), by, "")
			wakes = tx.Wakes(o)
			tx.Opened(o, 0, errors.New("no"))
		})
		return wakes
	}
	f.tabState(tabs[0], &spec.TabState{Discarded: new(true)})
	if !wakes(b) {
		t.Error("a tab that is free is not woken")
	}
	f.lease(a, tabs[0], agents.Terms{TTL: time.Hour})
	if wakes(b) || !wakes(a) {
		t.Error("a leased tab is its holder's to wake")
	}
	f.tabState(tabs[0], &spec.TabState{Discarded: new(false)})
	if !wakes(b) {
		t.Error("a leased tab that does not sleep keeps others from being woken")
	}
	f.lease(a, spec.TabAddr{Peer: tabs[0].Peer, Tab: 99}, agents.Terms{TTL: time.Hour})
	if wakes(b) {
		t.Error("what a leased tab without tools shows is not known")
	}
}

// A page, or a browser that does not look for its owner's input, cannot keep agents from tabs by
// saying that the owner uses them.
func TestForgedUserInput(t *testing.T) {
	f := newFixture(t)
	tabs := f.eTabs(1)
	f.lease(agent("a"), tabs[0], agents.Terms{TTL: time.Hour})
	inUse := func(addr spec.TabAddr) bool {
		f.tabState(addr, &spec.TabState{InUse: new(true)})
		return f.Agents().InUse(addr, agent("a").Session)
	}
	if inUse(tabs[0]) {
		t.Error("a tab is in use, of a browser that does not look for its owner's input")
	}
	f.peers[tabs[0].Peer].caps[spec.CapHold] = true
	free := spec.TabAddr{Peer: tabs[0].Peer, Tab: 77}
	if !inUse(tabs[0]) || inUse(free) {
		t.Error("a leased tab is not in use, or a free one is")
	}
	f.lease(agent("a"), free, agents.Terms{TTL: time.Hour})
	if f.Agents().InUse(free, agent("a").Session) {
		t.Error("what was said of a free tab was kept")
	}
}

// With a client's credential goes what it holds; and of a session that has ended nothing is stored.
func TestEndClient(t *testing.T) {
	f := newFixture(t)
	tabs := f.eTabs(2)
	one, other, bob := agents.By{Session: agents.SessionID{Client: "c", ID: "1"}}, agents.By{Session: agents.SessionID{Client: "c", ID: "=2"}}, agent("bob")
	for _, by := range []agents.By{one, other} {
		f.came(by)
	}
	f.lease(one, tabs[0], agents.Terms{TTL: 24 * time.Hour})
	f.lease(bob, tabs[1], agents.Terms{TTL: 24 * time.Hour})
	f.change(func(tx *Tx) { tx.Agents().Remember(other, tabs[0]) })
	f.change(func(tx *Tx) { tx.Agents().EndClient("c") })
	if got := f.Agents().Holder(tabs[1]).String(); got != "leased by BOB until Jan 3 03:04 UTC" {
		t.Errorf("a lease of a day is %s", got)
	}
	if left, n := f.Agents().Sessions("", "", 0, -1); f.Agents().Holder(tabs[0]) != nil || n != 1 {
		t.Errorf("left are %+v", left)
	}
	if docs := f.load().Documents; len(docs) != 1 {
		t.Errorf("stored are %d documents, of one session", len(docs))
	}
}
