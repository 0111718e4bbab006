package state

import (
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// A user with one browser must not read of three: whatever joins is counted as what it is.
func TestCounts(t *testing.T) {
	f := newFixture(t)
	f.chrome("b1", "s1", 1)
	b := func(tab int64) spec.TabAddr { return spec.TabAddr{Peer: "browser:b1", Tab: tab} }
	f.tools(b(1), "https://e.com/", `kept:"annotations":{"cache":true}`, "plain")
	f.tools(b(2), "https://e.com/2", "plain")
	f.page("https://p.com", "k")
	f.connect(tabtransport.Conn{Known: true, Hello: &spec.Hello{BrowserID: "x"}})
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
