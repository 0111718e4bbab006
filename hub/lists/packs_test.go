package lists

import (
	"encoding/json"
	"strings"
	"testing"

	"tabhub/describe"
	"tabhub/hub/offer/item"
	"tabhub/hub/offer/schema"
	"tabhub/hub/state"
	"tabhub/spec"
)

// A model that is offered two tools of one name at a site takes either; the site's own is the one to take
// while a tab that is open has it.
func TestOwnToolIsListedInsteadOfThePacks(t *testing.T) {
	// listed is an element: its name, "@" before that of a pack's tool, "?" before that of a cached one.
	listed := func(name string) state.Listed {
		t.Helper()
		source := strings.TrimLeft(name, "@?")
		it, err := item.Parse(spec.KindTool, json.RawMessage(`{"name":"`+source+`"}`), new(schema.Cache), func(item.Claim) (item.Provenance, error) {
			p := item.Provenance{Domain: "shop.com", Origin: "https://shop.com", Verified: true}
			if strings.Contains(name, "@") {
				p.Pack = spec.PackRef{Name: "shop", Hash: "4f"}
			}
			return p, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return state.Listed{Public: name, Item: it, Place: describe.Place{Domain: "shop.com", Cached: strings.Contains(name, "?")}}
	}
	for all, want := range map[string]string{
		"find order":              "find order",
		"@find order":             "@find order",
		"@find find @order order": "find order",
		"@order @order order":     "order",
		"@order ?order":           "@order ?order", // no tab has the site's own
		"?@order order":           "order",
	} {
		var in []state.Listed
		for name := range strings.FieldsSeq(all) {
			in = append(in, listed(name))
		}
		var got []string
		for _, l := range ownWins(in) {
			got = append(got, l.Public)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("of %q there are listed %q, want %q", all, got, want)
		}
	}
	if got := prefix(listed("@find")) + " " + prefix(listed("find")); got != "[shop.com, pack shop] [shop.com]" {
		t.Error(got)
	}
}
