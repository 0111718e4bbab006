package state

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tabhub/hub/agents"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/storage"
)

// many returns n simple tools with names of their own.
func many(n int, name, extra string) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprint(name, i, extra))
	}
	return names
}

// A site that has used up its names must not be able to bring the hub down, nor to
// keep it from starting again.
func TestSiteOutOfNames(t *testing.T) {
	f := newFixture(t)
	b := f.chrome("b1", "s1", 1)
	f.tools(b, "https://e.com/", `first:"annotations":{"cache":true}`)
	const taken = maxNames - 3
	d := f.domains["e.com"]
	f.pretend(func() { d.names += taken }, func() {
		// The domain's own name is the last one; the tab gets none.
		if out := f.tools(b, "https://e.com/", "first", "second"); out.Answer.Accepted != 1 || len(out.Rejected) != 1 {
			t.Errorf("registered %+v", out)
		}
	}, func() { d.names -= taken })
	if _, ok := f.Lookup(agents.By{}, spec.KindResource, "tabhub://e.com/unknown"); ok {
		t.Error("an unknown resource was found")
	}
	for _, l := range f.List(nil, agents.By{}, "e.com", spec.KindTool, false) {
		if _, ok := f.Find(agents.By{}, spec.KindTool, l.Public); !ok {
			t.Errorf("%s is listed and not found", l.Public)
		}
	}
	f.wantUnknown("e_com_second")
}

// A hub that is full must take updates of what it holds, and forget a tab wholly
// when it goes.
func TestUpdateInAFullHub(t *testing.T) {
	f := newFixture(t)
	b := f.chrome("b1", "s1", 1)
	f.tools(b, "https://e.com/", "x")
	f.pretend(func() { f.all.counts[0] += spec.MaxToolsPerHub }, func() {
		if out := f.tools(b, "https://e.com/", `x:"title":"new"`); out.Answer.Accepted != 1 {
			t.Errorf("an update of a tool was refused: %+v", out)
		}
	}, func() { f.all.counts[0] -= spec.MaxToolsPerHub })
	// One that makes it larger than a full hub may be is refused, and the tool is gone.
	f.pretend(func() { f.all.bytes += maxBytes }, func() {
		if out := f.tools(b, "https://e.com/", `x:"title":"newer"`); out.Answer.Accepted != 0 {
			t.Errorf("a full hub took %+v", out)
		}
	}, func() { f.all.bytes -= maxBytes })
	f.wantTools("")
	f.closeTab(b)
	f.wantTools("")
}

// Of what a site kept in its best days nothing may keep the hub from starting.
func TestRestartOutOfNames(t *testing.T) {
	var stored []storage.Change
	for i := range maxNames {
		id := naming.Identity{Kind: spec.KindTool, Domain: "e.com", Item: fmt.Sprint("t", i)}
		stored = append(stored, storage.Name{Public: naming.ToolNamer{}.Name(id, nil), Kind: id.Kind, Domain: id.Domain, Item: id.Item})
	}
	stored = append(stored, storage.Tab{
		Domain: "e.com", Key: "browser:b1/s1/1", Addr: spec.TabAddr{Peer: "browser:b1", Tab: 1}, Browser: "b1", Origin: "https://e.com",
		URL: "https://e.com/", LastUpdated: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Verified: true, Index: 1,
		Tools: []json.RawMessage{json.RawMessage(`{"name":"other","annotations":{"cache":true}}`)},
	})
	f := newFixture(t, stored...)
	f.wantTools("e_com_other")
}

// One site, whatever number of tabs and subdomains it has, must leave room for others,
// and so must several.
func TestSiteHasAShareOfTheHub(t *testing.T) {
	f := newFixture(t)
	b := f.chrome("b1", "s1", 1)
	// fill registers from ever new tabs of a site until one is refused.
	fill := func(site string) (accepted int, reason string) {
		for n := 0; reason == ""; n++ {
			b.Tab++
			out := f.tools(b, fmt.Sprintf("https://s%d.%s/", n, site), many(1000, "t", "")...)
			accepted += out.Answer.Accepted
			if len(out.Rejected) > 0 {
				reason = out.Rejected[0].Reason
			}
		}
		return accepted, reason
	}
	for _, end := range []struct {
		site string
		n    int
	}{{"hog.com", 10_000}, {"second.com", 5000}, {"third.com", 2500}} {
		n, reason := fill(end.site)
		if want := fmt.Sprintf("%s has %d already, half of what other sites leave of the hub's 20000", end.site, n); n != end.n || reason != want {
			t.Errorf("%s may have %d: %s", end.site, n, reason)
		}
	}
	b.Tab++
	if out := f.tools(b, "https://small.org/", "x"); out.Answer.Accepted != 1 {
		t.Errorf("a small site: %+v", out)
	}
	// The same of bytes.
	weigh := func(n int) { f.change(func(tx *Tx) { f.domains["s0.hog.com"].weigh(tx, n) }) }
	f.pretend(func() { weigh(maxBytes / 2) }, func() {
		for url, accepted := range map[string]int{"https://s0.hog.com/": 0, "https://new.hog.com/": 0, "https://small.org/": 1} {
			b.Tab++
			out := f.register(b, spec.KindPrompt, url, `{"name":"x"}`)
			if out.Answer.Accepted != accepted || accepted == 0 && !strings.Contains(out.Rejected[0].Reason, "half of what other sites leave") {
				t.Errorf("%s: %+v", url, out)
			}
		}
	}, func() { weigh(-maxBytes / 2) })
}
