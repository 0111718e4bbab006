package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tabhub/hub/agents"
	"tabhub/naming"
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
		if got := f.Nearest(agents.By{}, spec.KindTool, asked); len(got) == 0 || got[0] != "website_tool_e_com__search_all" {
			t.Errorf("%s: %q", asked, got)
		}
	}
	if got := f.Nearest(agents.By{}, spec.KindTool, strings.Repeat("x", naming.MaxDistance+1)); got != nil {
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

// Of the tabs that come and go a domain remembers few, with their names, and gives none of their
// numbers to another; nor after a restart. One that was forgotten has another number when it
// comes back.
func TestNumbersAreBounded(t *testing.T) {
	f := newFixture(t)
	const tabs = 10 * maxClosed
	for i := range tabs {
		addr := f.page("https://e.com", fmt.Sprint("k", i))
		f.tools(addr, "", "x")
		f.wantTarget(fmt.Sprintf("e_com_tab%d_x", i+1), addr, "x")
		f.closeTab(addr)
		f.pass(time.Second)
	}
	if d := f.domains["e.com"]; len(d.numbers) > 2*maxClosed || len(f.names) > 2*maxClosed {
		t.Errorf("%d numbers and %d names are left of %d tabs", len(d.numbers), len(f.names), tabs)
	}
	f.restart()
	for i, key := range []string{fmt.Sprint("k", tabs-1), "k0", "new"} {
		addr := f.page("https://e.com", key)
		f.tools(addr, "", "x")
		f.wantTarget(fmt.Sprintf("e_com_tab%d_x", tabs+i), addr, "x")
	}
}

// Of the sites that nobody has open any more few are remembered. One site with ever new
// subdomains does not have others forgotten.
func TestEmptyDomainsAreBounded(t *testing.T) {
	f := newFixture(t)
	visit := func(host string) {
		addr := f.page("https://"+host, "k")
		f.tools(addr, "", "x")
		f.closeTab(addr)
		f.pass(time.Second)
	}
	const others = maxEmpty / 2
	for i := range others {
		visit(fmt.Sprintf("site%d.example", i))
	}
	for i := range 2 * maxEmpty {
		visit(fmt.Sprintf("a%d.evil.com", i))
	}
	n := 0
	for key := range f.domains {
		if strings.HasPrefix(string(key), "site") {
			n++
		}
	}
	if n != others || len(f.domains) > 2*maxEmpty || len(f.order) != len(f.domains) || len(f.names) > 4*maxEmpty || len(f.shares) != others+1 {
		t.Errorf("%d domains, %d of them of others, %d names and %d shares are left", len(f.domains), n, len(f.names), len(f.shares))
	}
	f.pass(emptyHeld)
	f.tools(f.page("https://e.com", "k"), "", "x")
	if len(f.domains) != 1 {
		t.Errorf("%d domains are left after %s", len(f.domains), emptyHeld)
	}
}

// One tab's resource may be another's template.
func TestTemplateAndResourceOfOneName(t *testing.T) {
	f := newFixture(t)
	a, b := f.page("https://e.com", "a"), f.page("https://e.com", "b")
	f.register(a, spec.KindResource, "", `{"uri":"x{y}"}`)
	f.register(b, spec.KindResource, "", `{"uriTemplate":"x{y}"}`)
	if _, ok := f.Lookup(agents.By{}, spec.KindResource, "tabhub://e.com/tab1/xyz"); ok {
		t.Error("looked up in a tab that has no such template")
	}
	if _, ok := f.Find(agents.By{}, spec.KindResource, "tabhub://e.com/tab1/xyz"); ok {
		t.Error("found in a tab that has no such template")
	}
	r, ok := f.Lookup(agents.By{}, spec.KindResource, "tabhub://e.com/tab2/xyz")
	if !ok || r.Page != "xyz" || r.ID.Tab != 2 {
		t.Fatalf("looked up %+v, %t", r, ok)
	}
	// What a template stood for is looked at anew each time.
	if s := f.Snapshot(&r, agents.By{}, nil, "", nil); len(s.Candidates) != 1 || s.Candidates[0].Addr != b {
		t.Errorf("candidates %+v", s.Candidates)
	}
	f.closeTab(b)
	if s := f.Snapshot(&r, agents.By{}, nil, "", nil); len(s.Candidates) != 0 || slices.Contains(f.Peers(), "") {
		t.Errorf("candidates of a tab that is gone: %+v", s.Candidates)
	}
}
