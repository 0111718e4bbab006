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

// A name that another site than the one that it names has from when the public suffix list was
// another is neither listed nor called for it, whether the site that it names is there or not.
func TestStoredNameOfAnotherSite(t *testing.T) {
	f := newFixture(t, storage.Name{Kind: spec.KindTool, Public: "website_tool_bank_co_uk_transfer", Domain: "bank.co", Item: "uk_transfer"})
	for range 2 {
		other := f.page("https://bank.co", "a")
		f.tools(other, "", "uk_transfer")
		f.wantTools("bank_co__uk_transfer")
		f.wantUnknown("bank_co_uk_transfer")
		f.wantTarget("bank_co__uk_transfer", other, "uk_transfer")
		f.close()
		f.restart()
	}
	bank, other := f.page("https://bank.co.uk", "a"), f.page("https://bank.co", "a")
	f.tools(bank, "", "transfer")
	f.tools(other, "", "uk_transfer")
	f.wantTools("bank_co__uk_transfer bank_co_uk_transfer")
	f.wantTarget("bank_co_uk_transfer", bank, "transfer")
	f.wantTarget("bank_co__uk_transfer", other, "uk_transfer")
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
	if _, ok := f.Lookup(By{}, spec.KindResource, "tabhub://e.com/tab1/xyz"); ok {
		t.Error("looked up in a tab that has no such template")
	}
	if _, ok := f.Find(By{}, spec.KindResource, "tabhub://e.com/tab1/xyz"); ok {
		t.Error("found in a tab that has no such template")
	}
	r, ok := f.Lookup(By{}, spec.KindResource, "tabhub://e.com/tab2/xyz")
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
