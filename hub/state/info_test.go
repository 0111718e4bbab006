package state

import (
	"slices"
	"testing"
	"time"

	"tabhub/hub/agents"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// The tab that the owner has just left is at the top of a long list.
func TestTabsBeginWithThoseUsedLast(t *testing.T) {
	f := newFixture(t)
	f.chrome("b1", "s1", 1)
	f.chrome("b2", "s2", 1)
	tab := func(browser string, id int64) spec.TabAddr {
		return spec.TabAddr{Peer: spec.PeerID("browser:" + browser), Tab: id}
	}
	for _, at := range []spec.TabAddr{tab("b1", 1), tab("b1", 2), tab("b1", 3), tab("b2", 1)} {
		f.tools(at, "https://e.com/", "t")
	}
	for _, at := range []spec.TabAddr{tab("b2", 1), tab("b1", 3), tab("b1", 2)} {
		f.tabState(at, &spec.TabState{Active: new(true), WindowFocused: new(true)})
	}
	want := func(want ...spec.TabAddr) {
		t.Helper()
		var got []spec.TabAddr
		for _, info := range f.Tabs(agents.By{}) {
			got = append(got, info.Addr)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the tabs are %v, want %v", got, want)
		}
	}
	want(tab("b1", 2), tab("b1", 3), tab("b2", 1), tab("b1", 1))
	f.tools(tab("b1", 1), "https://e.com/", "t", "another") // nobody looks at it
	want(tab("b1", 2), tab("b1", 3), tab("b2", 1), tab("b1", 1))
	f.disconnect(tab("b1", 2))
	want(tab("b2", 1), tab("b1", 2), tab("b1", 3), tab("b1", 1))
}

// A user with one browser must not read of three: whatever joins is counted as what it is.
func TestCounts(t *testing.T) {
	f := newFixture(t)
	f.chrome("b1", "s1", 1)
	b := func(tab int64) spec.TabAddr { return spec.TabAddr{Peer: "browser:b1", Tab: tab} }
	f.tools(b(1), "https://e.com/", `kept:"annotations":{"cache":true}`, "plain")
	f.tools(b(2), "https://e.com/2", "plain")
	f.page("https://p.com", "k")
	f.connect(tabtransport.Conn{Hello: &spec.Hello{BrowserID: "x"}})
	if got, want := f.Count(), (Counts{Browsers: 2, Pages: 1, Tabs: 2, Domains: 1, Tools: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	f.closeTab(b(1))
	f.disconnect(b(2))
	f.pass(time.Second)
	if got, want := f.Count(), (Counts{Browsers: 1, Pages: 1, Tabs: 1, Domains: 1, Tools: 1, Cached: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	f.tools(b(3), "https://e.com/3", `kept:"annotations":{"cache":true}`)
	if got, want := f.Count(), (Counts{Browsers: 1, Pages: 1, Tabs: 2, Domains: 1, Tools: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
