package hub

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport/tabtest"
)

// wantCall calls a name and checks that the call reaches a page, as a tool.
func (w *world) wantCall(name string, page tabtest.End, tool string) {
	w.t.Helper()
	c := w.call(w.t.Context(), name)
	r := page.Next()
	if r.Call.ToolName != tool {
		w.t.Errorf("%s is the tool %q, want %s", name, r.Call.ToolName, tool)
	}
	answer(page, r, "answered by "+tool)
	c.want(w.t, "answered by "+tool)
}

func (w *world) wantUnknown(name string) {
	w.t.Helper()
	var unknown *UnknownError
	if _, err := w.hub.Call(w.t.Context(), Call{Name: "website_tool_" + name}); !errors.As(err, &unknown) {
		w.t.Errorf("%s: %v, want an unknown name", name, err)
	}
	if _, err := w.hub.Find(spec.KindTool, "website_tool_"+name); !errors.As(err, &unknown) {
		w.t.Errorf("%s is found: %v", name, err)
	}
}

// A call that is named for one bank must not go to another site, whichever came first.
func TestNameOfAnotherSite(t *testing.T) {
	for _, first := range []string{"https://bank.co", "https://bank.co.uk"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{})
			pages := map[string]tabtest.End{}
			join := func(origin, tool string) {
				pages[origin] = w.page(origin, "a")
				w.register(pages[origin], 0, tools("", tool))
			}
			if first == "https://bank.co" {
				join("https://bank.co", "uk_transfer")
				w.wantUnknown("bank_co_uk_transfer")
			}
			join("https://bank.co.uk", "transfer")
			if first != "https://bank.co" {
				join("https://bank.co", "uk_transfer")
			}
			w.wantNames("bank_co__uk_transfer bank_co_uk_transfer")
			w.wantCall("bank_co_uk_transfer", pages["https://bank.co.uk"], "transfer")
			w.wantCall("bank_co_uk_tab1_transfer", pages["https://bank.co.uk"], "transfer")
			w.wantCall("bank_co__uk_transfer", pages["https://bank.co"], "uk_transfer")
		})
	}
}

// earlierNames makes a store with names that a version before gave.
func earlierNames(t *testing.T, names ...storage.Name) *world {
	w := &world{t: t, store: &storage.Memory{}}
	var changes []storage.Change
	for _, n := range names {
		n.Kind, n.Public = spec.KindTool, "website_tool_"+n.Public
		changes = append(changes, n)
	}
	storagetest.Write(t, w.store, spec.LocalUser, changes...)
	return w
}

// What a model, a prompt or a client's settings remember of an earlier version works
// on, over restarts too; only the new name is listed.
func TestEarlierNamesWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const long = "a_tool_with_quite_a_long_name_for_a_shop"
		w := earlierNames(t,
			storage.Name{Public: "e_com_search_all", Domain: "e.com", Item: "search_all"},
			storage.Name{Public: "e_com_tab2_search_all", Domain: "e.com", Tab: 2, Item: "search_all"},
			storage.Name{Public: "e_com_" + long, Domain: "e.com", Item: long},
			storage.Name{Public: "e_com_gone", Domain: "e.com", Item: "gone"},
		)
		for range 3 {
			w.start(Options{})
			a, b := w.page("https://e.com", "a"), w.page("https://e.com", "b")
			w.register(a, 0, tools("", "search_all"))
			w.register(b, 0, tools("", "search_all", long))
			b.Notify(0, &spec.TabState{Visible: ptr(true)})
			synctest.Wait()
			names := w.names()
			if !strings.HasPrefix(names, "e_com_a_tool_with_quite_a_") || !strings.HasSuffix(names, " e_com__search_all e_com__tab1_search_all e_com__tab2_search_all") {
				t.Errorf("listed %q", names)
			}
			w.wantCall("e_com_search_all", b, "search_all")
			w.wantCall("e_com_tab2_search_all", b, "search_all")
			w.wantCall("e_com_"+long, b, long)
			w.wantUnknown("e_com_gone")
			if it, err := w.hub.Find(spec.KindTool, "website_tool_e_com_search_all"); err != nil || it.Name != "website_tool_e_com__search_all" {
				t.Errorf("found %q, %v", it.Name, err)
			}
			w.check()
			w.hub.Close(t.Context())
		}
	})
}

// A name that an earlier version gave to another site than the one that it names is
// neither listed nor called for it, whether the site that it names is there or not.
func TestEarlierNameOfAnotherSite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := earlierNames(t,
			storage.Name{Public: "bank_co_uk_transfer", Domain: "bank.co", Item: "uk_transfer"},
			storage.Name{Public: "bank_co_uk_transfer_abcd0123", Domain: "bank.co.uk", Item: "transfer"},
			storage.Name{Public: "e_com_part__x", Domain: "e.com", Item: "part__x"},
		)
		for range 2 {
			w.start(Options{})
			other, e := w.page("https://bank.co", "a"), w.page("https://e.com", "a")
			w.register(other, 0, tools("", "uk_transfer"))
			w.register(e, 0, tools("", "part__x"))
			w.wantNames("bank_co__uk_transfer e_com__part__x")
			w.wantUnknown("bank_co_uk_transfer")
			w.wantCall("bank_co__uk_transfer", other, "uk_transfer")
			w.wantCall("e_com_part__x", e, "part__x") // no site that anybody knows
			w.check()
			w.hub.Close(t.Context())
		}
		for range 2 {
			w.start(Options{})
			other, bank := w.page("https://bank.co", "a"), w.page("https://bank.co.uk", "a")
			e, part := w.page("https://e.com", "a"), w.page("https://e.com.part", "a")
			w.register(other, 0, tools("", "uk_transfer"))
			w.register(bank, 0, tools("", "transfer"))
			w.register(e, 0, tools("", "part__x"))
			w.register(part, 0, tools("", "x"))
			w.wantNames("bank_co__uk_transfer bank_co_uk_transfer e_com__part__x e_com_part__x")
			w.wantCall("bank_co_uk_transfer", bank, "transfer")
			w.wantCall("bank_co_uk_transfer_abcd0123", bank, "transfer")
			w.wantCall("bank_co__uk_transfer", other, "uk_transfer")
			w.wantCall("e_com_part__x", part, "x")
			w.wantCall("e_com__part__x", e, "part__x")
			w.check()
			w.hub.Close(t.Context())
		}
	})
}
