package hub

import (
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/lists"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
)

// A list is encoded for each client that asks if those that may see the same do not share it, and
// a client may see for good what is hidden from it if what was made before is not given up.
func TestClientsShareTheirList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		w.register(w.page("https://e.com", "a"), 0, tools("https://e.com/", "x"))
		w.register(w.page("https://f.com", "b"), 0, tools("https://f.com/", "y"))
		edit := func(f func(*policy.Document)) {
			t.Helper()
			if err := w.hub.Rules.EditPolicy("test", func(doc *policy.Document) error { f(doc); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		limited := consent.As(&policy.Principal{ID: "limited", Name: "Limited"})
		other := consent.As(&policy.Principal{ID: "other", Name: "Other"})
		list := func(by *consent.Caller, want int) *lists.Listing {
			t.Helper()
			l := w.hub.Lists.ListFor(by, lists.ListTools)
			if len(l.Items) != want || w.hub.Lists.ListFor(by, lists.ListTools) != l {
				t.Errorf("%s is listed %d tools, want %d, in the same list twice", by.Principal.Name, len(l.Items), want)
			}
			return l
		}
		renders := 0
		render := func(l *lists.Listing, by any) {
			l.Rendered(by, func() []byte { renders++; return nil })
		}

		rule := policy.Rule{ID: "no", Client: "limited", Site: "f.com", Effect: policy.Deny}
		edit(func(doc *policy.Document) { doc.Put(rule, time.Now()) })
		all := list(other, 2)
		if all != w.hub.Lists.List(lists.ListTools) {
			t.Error("a client from which nothing is hidden has a list of its own")
		}
		render(all, "all")
		render(list(other, 2), "all")
		if part := list(limited, 1); part == all || renders != 1 {
			t.Errorf("%d lists were made", renders)
		}
		edit(func(doc *policy.Document) { *doc = policy.Document{} })
		render(list(limited, 2), "all")
		render(all, "fewer")
		render(all, "all") // the two take turns
		if renders != 2 {
			t.Errorf("%d lists were made", renders)
		}

		edit(func(doc *policy.Document) { doc.Put(rule, time.Now()) })
		list(limited, 1)
		w.register(w.page("https://e.com", "c"), 0, tools("https://e.com/", "z"))
		list(limited, 2)
		list(other, 3)
	})
}
