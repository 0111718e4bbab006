package state

import (
	"testing"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/offer/item"
	"tabhub/hub/trust/policy"
	"tabhub/naming"
	"tabhub/spec"
)

func TestChoose(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 1, 2, 3, 4, s, 0, time.UTC) }
	older, newer := Candidate{Present: true, URL: "u1", Updated: at(1)}, Candidate{Present: true, URL: "u2", Updated: at(2)}
	with := func(c Candidate, set func(*Candidate)) Candidate { set(&c); return c }
	active := func(c *Candidate) { c.Active = true }
	away := func(c *Candidate) { c.Present = false }
	blocked := func(c *Candidate) { c.Dialog = &spec.Dialog{Type: "alert"} }
	excluded := func(c *Candidate) { c.Excluded = true }
	reading, writing := &item.Item{Kind: spec.KindTool, Class: policy.Read, Provenance: item.Provenance{Verified: true}}, &item.Item{Kind: spec.KindTool, Class: policy.Write}
	mine := func(c *Candidate) { c.Lease = agents.LeaseMine }
	leased := func(c *Candidate) { c.Lease = agents.LeaseOther }
	readable := func(it *item.Item) func(*Candidate) {
		return func(c *Candidate) { c.Lease, c.Item = agents.LeaseReadable, it }
	}
	kept := func(place int) func(*Candidate) { return func(c *Candidate) { c.Preferred = int64(place) } }
	opened := func(by agents.GroupState) func(*Candidate) { return func(c *Candidate) { c.Group = by } }
	for _, c := range []struct {
		s      Snapshot
		best   int
		reason string
	}{
		{Snapshot{}, -1, ReasonNone},
		{Snapshot{Candidates: []Candidate{with(older, excluded)}}, -1, ReasonNone},
		{Snapshot{Candidates: []Candidate{older}, Named: true}, 0, ReasonNamed},
		{Snapshot{Candidates: []Candidate{older}}, 0, ReasonOnly},
		{Snapshot{Candidates: []Candidate{older, with(newer, excluded)}}, 0, ReasonOnly},
		{Snapshot{Candidates: []Candidate{with(older, active), newer}, LastCall: "u2"}, 0, ReasonActive},
		{Snapshot{Candidates: []Candidate{older, newer}, LastCall: "u1"}, 0, ReasonLastURL},
		{Snapshot{Candidates: []Candidate{older, newer}, LastCall: "u3"}, 1, ReasonUpdated},
		{Snapshot{Candidates: []Candidate{newer, older}}, 0, ReasonUpdated},
		{Snapshot{Candidates: []Candidate{with(newer, active), older}}, 0, ReasonActive},
		// A tab that is there goes before one that is away.
		{Snapshot{Candidates: []Candidate{older, with(with(newer, active), away)}}, 0, ReasonUpdated},
		{Snapshot{Candidates: []Candidate{with(older, away), with(newer, away)}}, 1, ReasonUpdated},
		{Snapshot{Candidates: []Candidate{older, with(with(newer, active), blocked)}}, 0, ReasonUpdated},
		{Snapshot{Candidates: []Candidate{{Departed: true, Active: true, Updated: at(1)}, newer}}, 0, ReasonActive}, // it is being reloaded
		// A session stays with its tab, whatever the user looks at, and waits for it.
		{Snapshot{Candidates: []Candidate{with(older, kept(1)), with(newer, active)}, LastCall: "u2"}, 0, ReasonKept},
		{Snapshot{Candidates: []Candidate{with(with(older, kept(1)), away), with(newer, active)}}, 0, ReasonKept},
		{Snapshot{Candidates: []Candidate{with(older, kept(2)), with(newer, kept(1))}}, 1, ReasonKept},
		{Snapshot{Candidates: []Candidate{with(with(older, kept(2)), active), with(with(newer, kept(1)), away)}}, 1, ReasonKept},
		{Snapshot{Candidates: []Candidate{with(with(older, kept(1)), excluded), with(newer, active), older}}, 1, ReasonActive},
		// What it has leased goes before what it has only used, and both before what it has opened.
		{Snapshot{Candidates: []Candidate{with(older, kept(1)), with(with(newer, kept(2)), mine)}}, 1, ReasonHeld},
		{Snapshot{Candidates: []Candidate{with(with(older, kept(1)), mine), with(with(newer, kept(2)), mine)}}, 0, ReasonHeld},
		{Snapshot{Candidates: []Candidate{with(older, mine)}}, 0, ReasonHeld},
		{Snapshot{Candidates: []Candidate{with(older, opened(agents.GroupMine)), with(newer, active)}}, 0, ReasonOpened},
		{Snapshot{Candidates: []Candidate{with(older, opened(agents.GroupMine)), with(newer, kept(1))}}, 1, ReasonKept},
		// Another session's leased tab is none; one that it has opened is the last choice.
		{Snapshot{Candidates: []Candidate{with(older, active), with(newer, leased)}}, 0, ReasonOnly},
		{Snapshot{Candidates: []Candidate{with(with(older, active), leased), newer}}, 1, ReasonOnly},
		{Snapshot{Candidates: []Candidate{with(with(older, kept(1)), leased), newer}}, 1, ReasonOnly},
		{Snapshot{Candidates: []Candidate{with(older, leased)}}, -1, ReasonLeased},
		{Snapshot{Candidates: []Candidate{with(older, leased), with(newer, excluded)}}, -1, ReasonLeased},
		{Snapshot{Candidates: []Candidate{with(older, leased)}, Named: true}, 0, ReasonNamed},
		{Snapshot{Candidates: []Candidate{older, with(with(newer, active), opened(agents.GroupOther))}}, 0, ReasonUpdated},
		{Snapshot{Candidates: []Candidate{with(older, opened(agents.GroupOther))}}, 0, ReasonOnly},
		// One whose holder lets others read is the very last, for what only reads.
		{Snapshot{Candidates: []Candidate{with(older, readable(writing))}}, -1, ReasonLeased},
		{Snapshot{Candidates: []Candidate{with(older, readable(reading))}}, 0, ReasonOnly},
		{Snapshot{Candidates: []Candidate{with(with(older, active), readable(reading)), with(newer, opened(agents.GroupOther))}}, 1, ReasonUpdated},
		{Snapshot{Candidates: []Candidate{with(with(older, kept(1)), readable(reading)), newer}}, 0, ReasonKept},
	} {
		if best, reason := c.s.Choose(); best != c.best || reason != c.reason {
			t.Errorf("%+v: %d, %s; want %d, %s", c.s, best, reason, c.best, c.reason)
		}
	}
}

// The active tab is that of the last focused window of the last focused browser.
func TestActiveTab(t *testing.T) {
	f := newFixture(t)
	for _, tab := range []spec.TabAddr{f.chrome("b1", "s1", 1), f.chrome("b1", "s1", 2), f.chrome("b1", "s1", 3), f.chrome("b2", "s1", 1)} {
		f.tools(tab, "https://e.com/", "x")
	}
	b1 := func(tab int64) spec.TabAddr { return spec.TabAddr{Peer: "browser:b1", Tab: tab} }
	b2 := spec.TabAddr{Peer: "browser:b2", Tab: 1}
	for _, step := range []struct {
		what   string
		tab    spec.TabAddr
		m      spec.TabState
		active spec.TabAddr
	}{
		{"the first window", b1(1), spec.TabState{WindowID: new(int64(1)), Active: new(true), WindowFocused: new(true)}, b1(1)},
		{"another tab in it", b1(2), spec.TabState{WindowID: new(int64(1)), Active: new(true)}, b1(2)},
		{"another window, behind it", b1(3), spec.TabState{WindowID: new(int64(2)), Active: new(true)}, b1(2)},
		{"which gets the focus", b1(3), spec.TabState{WindowFocused: new(true)}, b1(3)},
		{"another browser", b2, spec.TabState{WindowID: new(int64(1)), Active: new(true), WindowFocused: new(true)}, b2},
	} {
		f.tabState(step.tab, &step.m)
		if got := f.active.addr; got != step.active {
			t.Errorf("%s: %s is active, want %s", step.what, got, step.active)
		}
		f.wantTarget("e_com_x", step.active, "x")
	}
	f.closeTab(b2)
	f.wantTarget("e_com_x", b1(3), "x")
}

// at is what is called at a domain, wherever a tab of it is opened.
func at(domain spec.Domain) *Ref {
	return &Ref{ID: naming.Identity{Domain: domain}, b: &binding{}}
}

// Calls that find no tab share the one that is opened for them, until it is there or does
// not come.
func TestOpening(t *testing.T) {
	f := newFixture(t)
	b := f.chrome("b1", "s1", 1)
	f.tools(b, "https://e.com/deep", `x:"annotations":{"cache":true}`)
	f.closeTab(b)
	open := func() (o *Opening, first bool) {
		f.change(func(tx *Tx) { o, first = tx.Open(at("e.com"), agents.By{}, "") })
		return o, first
	}
	o, first := open()
	if !first || o.Peer != b.Peer || o.URL != "https://e.com/deep" {
		t.Fatalf("opening %+v, first %t", o, first)
	}
	if same, first := open(); same != o || first {
		t.Error("two calls open two tabs")
	}
	f.change(func(tx *Tx) { tx.Opened(o, 9, nil) })
	if until, err := f.Deadline(o); err != nil || !until.Equal(f.now.Add(spec.OpenTabMaxWait)) {
		t.Errorf("wait until %v, %v", until, err)
	}
	opened := spec.TabAddr{Peer: b.Peer, Tab: 9}
	f.tools(opened, "https://e.com/deep", `x:"annotations":{"cache":true}`)
	f.closeTab(opened)
	next, first := open()
	if !first || next == o {
		t.Error("the tab that was opened and closed is waited for")
	}
	f.pass(spec.ControlTimeout + spec.OpenTabMaxWait)
	if late, first := open(); !first || late == next {
		t.Error("a tab that never came is waited for")
	}
	f.pass(spec.ControlTimeout + spec.OpenTabMaxWait)
	f.disconnect(b)
	if o, _ := open(); o != nil {
		t.Error("a browser that is away is asked")
	}
	if _, ready, away := f.Opener(at("e.com"), agents.By{}, "", f.now.Add(time.Hour)); ready || !away {
		t.Errorf("ready %t, away %t", ready, away)
	}
}
