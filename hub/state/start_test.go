package state

import (
	"encoding/json"
	"testing"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/offer/item"
	"tabhub/spec"
)

// A client must find the tool of a pack before any tab shows the site, and its call opens the page where
// the tool is, not where the owner was last.
func TestStart(t *testing.T) {
	f := newFixture(t)
	p := item.Provenance{Domain: "e.com", Origin: "https://e.com", Verified: true, Pack: spec.PackRef{Name: "shop", Hash: "1"}}
	start := Start{f.parse(spec.KindTool, json.RawMessage(`{"name":"find","pack":{"name":"shop","hash":"1"}}`), p, nil), "https://e.com/start"}
	set := func(starts ...Start) {
		t.Helper()
		f.change(func(tx *Tx) { tx.SetStarts(starts) })
	}
	listed := func(want int) {
		t.Helper()
		if got := f.List(nil, agents.By{}, "e.com", spec.KindTool, false); len(got) != want {
			t.Errorf("%d tools are listed, want %d: %+v", len(got), want, got)
		}
	}
	set(start)
	listed(1)
	name := f.PublicName(f.domains["e.com"].entries[keyOf(start.Item)].id)
	ref, ok := f.Lookup(agents.By{}, spec.KindTool, name)
	if !ok || f.Known(&ref, agents.By{}) != start.Item {
		t.Fatalf("%s is not known", name)
	}

	old := f.chrome("b1", "s1", 1)
	f.tools(old, "https://e.com/deep", "x")
	if _, ready, _ := f.Opener(&ref, agents.By{}, "", f.now); ready {
		t.Error("a browser that knows no packs is asked to open its page")
	}
	var joined *Opening
	f.change(func(tx *Tx) { joined, _ = tx.Open(at("e.com"), agents.By{}, "") })
	b := f.chrome("b2", "s1", 1, spec.CapPacks)
	var o *Opening
	var first bool
	f.change(func(tx *Tx) { o, first = tx.Open(&ref, agents.By{}, "") })
	if o == joined || !first || o.Peer != b.Peer || o.URL != start.URL {
		t.Errorf("opening %+v, first %t", o, first)
	}

	// A tab has it, and goes.
	opened := spec.TabAddr{Peer: b.Peer, Tab: 7}
	f.tools(opened, "https://e.com/start", `find:"pack":{"name":"shop","hash":"1"}`)
	listed(4) // with x, and each under its tab's name, too
	if got := f.domains["e.com"].entries[keyOf(start.Item)].providers[0].since; got != (time.Time{}) {
		t.Errorf("the tool was seen first at %v, after it was listed", got)
	}
	f.closeTab(old)
	f.closeTab(opened)
	listed(1)

	// Of another version the name stays, and of none nothing does.
	start.Item = f.parse(spec.KindTool, json.RawMessage(`{"name":"find","title":"T","pack":{"name":"shop","hash":"2"}}`), p, nil)
	set(start)
	if l, ok := f.Find(agents.By{}, spec.KindTool, name); !ok || l.Item != start.Item {
		t.Errorf("found %+v", l)
	}
	set()
	listed(0)
}
