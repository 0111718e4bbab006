package item

import (
	"encoding/json"
	"testing"

	"tabhub/hub/offer/schema"
	"tabhub/spec"
)

// A search finds an item by its name, title and description, and by nothing else.
func TestSays(t *testing.T) {
	raw := json.RawMessage(`{"name":"addToCart","title":"Größer \u00c4rger","description":"Puts \"it\" in","inputSchema":{"type":"object","properties":{"secretive":{"type":"string"}}}}`)
	it, err := Parse(spec.KindTool, raw, &schema.Cache{}, func(Claim) (Provenance, error) { return Provenance{Domain: "e.com"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]bool{
		"addtocart": true, "ärger": true, `puts "it"`: true, "": true,
		"secretive": false, "object": false, "AddToCart": false, "cart\nputs": false,
	} {
		for range 2 { // collected, then kept
			if got := it.Says(word); got != want {
				t.Errorf("%q: %t, want %t", word, got, want)
			}
		}
	}
}
