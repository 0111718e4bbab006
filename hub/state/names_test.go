package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/storage"
)

// A call that is named for one bank must not go to another site, whichever came first.
func TestNameOfAnotherSite(t *testing.T) {
	for _, first := range []string{"https://bank.co", "https://bank.co.uk"} {
		f := newFixture(t)
		pages := map[string]spec.TabAddr{}
		join := func(origin, tool string) {
			pages[origin] = f.page(origin, "a")
			f.tools(pages[origin], "", tool)
		}
		if first == "https://bank.co" {
			join("https://bank.co", "uk_transfer")
			f.wantUnknown("bank_co_uk_transfer")
		}
		join("https://bank.co.uk", "transfer")
		if first != "https://bank.co" {
			join("https://bank.co", "uk_transfer")
		}
		f.wantTools("bank_co__uk_transfer bank_co_uk_transfer")
		f.wantTarget("bank_co_uk_transfer", pages["https://bank.co.uk"], "transfer")
		f.wantTarget("bank_co_uk_tab1_transfer", pages["https://bank.co.uk"], "transfer")
		f.wantTarget("bank_co__uk_transfer", pages["https://bank.co"], "uk_transfer")
	}
}

// earlierNames are stored names that a version before gave.
func earlierNames(names ...storage.Name) (changes []storage.Change) {
	for _, n := range names {
		n.Kind, n.Public = spec.KindTool, "website_tool_"+n.Public
		changes = append(changes, n)
	}
	return changes
}

// What a model, a prompt or a client's settings remember of an earlier version works
// on, over restarts too; only the new name is listed.
func TestEarlierNamesWork(t *testing.T) {
	const long = "a_tool_with_quite_a_long_name_for_a_shop"
	f := newFixture(t, earlierNames(
		storage.Name{Public: "e_com_search_all", Domain: "e.com", Item: "search_all"},
		storage.Name{Public: "e_com_tab2_search_all", Domain: "e.com", Tab: 2, Item: "search_all"},
		storage.Name{Public: "e_com_" + long, Domain: "e.com", Item: long},
		storage.Name{Public: "e_com_gone", Domain: "e.com", Item: "gone"},
	)...)
	for range 3 {
		a, b := f.page("https://e.com", "a"), f.page("https://e.com", "b")
		f.tools(a, "", "search_all")
		f.tools(b, "", "search_all", long)
		f.tabState(b, &spec.TabState{Visible: new(true)})
		names := f.listed(spec.KindTool, false)
		if !strings.HasPrefix(names, "e_com_a_tool_with_quite_a_") || !strings.HasSuffix(names, " e_com__search_all e_com__tab1_search_all e_com__tab2_search_all") {
			t.Errorf("listed %q", names)
		}
		f.wantTarget("e_com_search_all", b, "search_all")
		f.wantTarget("e_com_tab2_search_all", b, "search_all")
		f.wantTarget("e_com_"+long, b, long)
		f.wantUnknown("e_com_gone")
		if l, ok := f.Find(By{}, spec.KindTool, "website_tool_e_com_search_all"); !ok || l.Public != "website_tool_e_com__search_all" {
			t.Errorf("found %q, %t", l.Public, ok)
		}
		f.close()
		f.restart()
	}
}

// A name that an earlier version gave to another site than the one that it names is
// neither listed nor called for it, whether the site that it names is there or not.
func TestEarlierNameOfAnotherSite(t *testing.T) {
	f := newFixture(t, earlierNames(
		storage.Name{Public: "bank_co_uk_transfer", Domain: "bank.co", Item: "uk_transfer"},
		storage.Name{Public: "bank_co_uk_transfer_abcd0123", Domain: "bank.co.uk", Item: "transfer"},
		storage.Name{Public: "e_com_part__x", Domain: "e.com", Item: "part__x"},
	)...)
	for range 2 {
		other, e := f.page("https://bank.co", "a"), f.page("https://e.com", "a")
		f.tools(other, "", "uk_transfer")
		f.tools(e, "", "part__x")
		f.wantTools("bank_co__uk_transfer e_com__part__x")
		f.wantUnknown("bank_co_uk_transfer")
		f.wantTarget("bank_co__uk_transfer", other, "uk_transfer")
		f.wantTarget("e_com_part__x", e, "part__x") // no site that anybody knows
		f.close()
		f.restart()
	}
	for range 2 {
		other, bank := f.page("https://bank.co", "a"), f.page("https://bank.co.uk", "a")
		e, part := f.page("https://e.com", "a"), f.page("https://e.com.part", "a")
		f.tools(other, "", "uk_transfer")
		f.tools(bank, "", "transfer")
		f.tools(e, "", "part__x")
		f.tools(part, "", "x")
		f.wantTools("bank_co__uk_transfer bank_co_uk_transfer e_com__part__x e_com_part__x")
		f.wantTarget("bank_co_uk_transfer", bank, "transfer")
		f.wantTarget("bank_co_uk_transfer_abcd0123", bank, "transfer")
		f.wantTarget("bank_co__uk_transfer", other, "uk_transfer")
		f.wantTarget("e_com_part__x", part, "x")
		f.wantTarget("e_com__part__x", e, "part__x")
		f.close()
		f.restart()
	}
}

// A model that cuts a name short, mistypes it or leaves the site out is told which
// it may have meant.
func TestNearest(t *testing.T) {
	f := newFixture(t)
	f.tools(f.page("https://e.com", "a"), "", "search_all", "pay")
	for _, asked := range []string{"website_tool_e_com__search", "website_tool_e_com_serch_al", "website_tool_e_com_search_all", "search_all"} {
		if got := f.Nearest(By{}, spec.KindTool, asked); len(got) == 0 || got[0] != "website_tool_e_com__search_all" {
			t.Errorf("%s: %q", asked, got)
		}
	}
	if got := f.Nearest(By{}, spec.KindTool, strings.Repeat("x", maxSuggest+1)); got != nil {
		t.Errorf("a name that is too long is near %q", got)
	}
}

// Numbers tell the tabs of a domain apart for a model that remembers them: no new tab
// gets one that another had within a day.
func TestNumbers(t *testing.T) {
	f := newFixture(t)
	a, b := f.page("https://e.com", "a"), f.page("https://e.com", "b")
	f.tools(a, "https://e.com/1", "x")
	f.wantTools("e_com_x")
	f.tools(b, "https://e.com/2", "x")
	f.wantTools("e_com_x e_com_tab1_x e_com_tab2_x")
	f.closeTab(a)
	f.wantTools("e_com_x")
	c := f.page("https://e.com", "c")
	f.tools(c, "https://e.com/3", "x")
	f.wantTools("e_com_x e_com_tab2_x e_com_tab3_x")
	f.wantTarget("e_com_tab1_x", spec.TabAddr{}, "x") // it is known, and goes nowhere
	f.close()
	f.restart()
	a = f.page("https://e.com", "a")
	f.tools(a, "https://e.com/1", "x")
	f.wantTarget("e_com_tab1_x", a, "x")
	f.closeTab(a)
	f.pass(spec.TabNumberHeld)
	d := f.page("https://e.com", "d")
	f.tools(d, "https://e.com/4", "x")
	f.wantTarget("e_com_tab1_x", d, "x")
}

// A domain remembers a bounded number of tabs: the one that went first makes room.
func TestNumbersAreBounded(t *testing.T) {
	var stored []storage.Change
	for i := range maxNumbers {
		seen := time.Date(2026, 1, 2, 3, 0, 0, i, time.UTC)
		stored = append(stored, storage.Number{Domain: "e.com", Key: fmt.Sprint("k", i), Index: i + 1, LastSeen: seen})
	}
	f := newFixture(t, stored...)
	f.tools(f.page("https://e.com", "a"), "", "x")
	numbers := f.domains["e.com"].numbers
	if _, ok := numbers["k0"]; len(numbers) > maxNumbers || ok {
		t.Errorf("%d numbers, the oldest among them: %t", len(numbers), ok)
	}
}

// One tab's resource may be another's template.
func TestTemplateAndResourceOfOneName(t *testing.T) {
	f := newFixture(t)
	a, b := f.page("https://e.com", "a"), f.page("https://e.com", "b")
	f.register(a, spec.KindResource, "", `{"uri":"x{y}"}`)
	f.register(b, spec.KindResource, "", `{"uriTemplate":"x{y}"}`)
	if _, ok := f.Lookup(spec.KindResource, "tabhub://e.com/tab1/xyz"); ok {
		t.Error("looked up in a tab that has no such template")
	}
	if _, ok := f.Find(By{}, spec.KindResource, "tabhub://e.com/tab1/xyz"); ok {
		t.Error("found in a tab that has no such template")
	}
	r, ok := f.Lookup(spec.KindResource, "tabhub://e.com/tab2/xyz")
	if !ok || r.Page != "xyz" || r.ID.Tab != 2 {
		t.Fatalf("looked up %+v, %t", r, ok)
	}
	// What a template stood for is looked at anew each time.
	if s := f.Snapshot(&r, By{}, nil, "", nil); len(s.Candidates) != 1 || s.Candidates[0].Addr != b {
		t.Errorf("candidates %+v", s.Candidates)
	}
	f.closeTab(b)
	if s := f.Snapshot(&r, By{}, nil, "", nil); len(s.Candidates) != 0 || slices.Contains(f.Peers(), "") {
		t.Errorf("candidates of a tab that is gone: %+v", s.Candidates)
	}
}
