package item

import (
	"encoding/json"
	"testing"

	"tabhub/hub/offer/schema"
	"tabhub/spec"
)

// An item that has departed is the same item: lists and store see no change.
func TestDeparted(t *testing.T) {
	parse := func(raw string) *Item {
		t.Helper()
		it, err := Parse(spec.KindTool, json.RawMessage(raw), &schema.Cache{}, func(claimed Claim) (Provenance, error) {
			return Provenance{Domain: "e.com", Origin: claimed.Origin, Verified: true}, nil
		})
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		return it
	}
	here := parse(`{"name":"x","inputSchema":{"type": "object"},"frameId":0,"origin":"https://e.com"}`)
	gone := parse(`{"name":"x","inputSchema":{"type": "object"},"frameId":0,"origin":"https://e.com","departed":true}`)
	if here.Departed || !gone.Departed {
		t.Errorf("departed: %v, %v; want false, true", here.Departed, gone.Departed)
	}
	if !here.Equal(gone) || here.Sum("x") != gone.Sum("x") {
		t.Errorf("%s differs from %s", gone.Raw, here.Raw)
	}
}

// What a page keeps for its app, such as what its user confirms there, no model is to call.
func TestToolsOfAppsAreSetAside(t *testing.T) {
	for meta, taken := range map[string]bool{
		`{"ui":{"visibility":["app"]}}`: false, `{"ui":{"visibility":["model","app"]}}`: true, `{"ui":{"visibility":[]}}`: true, `{"ui":{"resourceUri":"ui://cart"}}`: true,
	} {
		_, err := Parse(spec.KindTool, json.RawMessage(`{"name":"n","_meta":`+meta+`}`), &schema.Cache{}, func(Claim) (Provenance, error) { return Provenance{Domain: "e.com"}, nil })
		if (err == nil) != taken {
			t.Errorf("%s: %v", meta, err)
		}
	}
}
