package item

import (
	"strings"
	"testing"

	"tabhub/hub/offer/schema"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// Only the owner's browser says which tools are of a pack: a page that could say so had its tool run as
// one that the owner has added.
func TestOnlyAnAttestedBrowserOffersPacks(t *testing.T) {
	const tool = `{"name":"order","pack":{"name":"shop","hash":"4f"},"origin":"https://shop.com","frameId":3}`
	browser := &spec.Hello{BrowserID: "b1"}
	for name, c := range map[string]struct {
		conn tabtransport.Conn
		is   bool
	}{
		"paired browser": {tabtransport.Conn{Hello: browser, Attested: true}, true},
		"program":        {tabtransport.Conn{Hello: browser}, false},
		"tab.js":         {tabtransport.Conn{Origin: "https://shop.com"}, false},
		"widget":         {tabtransport.Conn{Origin: "https://relay.com", ClaimedOrigin: "https://shop.com"}, false},
		"page server":    {tabtransport.Conn{}, false},
	} {
		it, err := Parse(spec.KindTool, []byte(tool), new(schema.Cache), func(claimed Claim) (Provenance, error) {
			return ProvenanceOf(c.conn, "https://shop.com/cart", claimed)
		})
		switch {
		case c.is && (err != nil || it.Pack != spec.PackRef{Name: "shop", Hash: "4f"} || it.Key() != Key{"shop.com", "order", "shop"}):
			t.Errorf("%s: %+v, %v", name, it.Provenance, err)
		case !c.is && (err == nil || !strings.Contains(err.Error(), "only a paired browser")):
			t.Errorf("%s: %+v, %v", name, it.Provenance, err)
		}
	}
	for _, wrong := range []string{`"shop"`, `{}`, `{"name":"shop"}`, `{"name":"shop","hash":1}`, `{"name":"","hash":"4f"}`, `["shop"]`, `true`} {
		raw := strings.Replace(tool, `{"name":"shop","hash":"4f"}`, wrong, 1)
		if it, err := Parse(spec.KindTool, []byte(raw), new(schema.Cache), func(Claim) (Provenance, error) { return Provenance{}, nil }); err == nil {
			t.Errorf("%s: %+v", wrong, it.Provenance)
		}
	}
	if _, err := Parse(spec.KindPrompt, []byte(tool), new(schema.Cache), func(Claim) (Provenance, error) { return Provenance{}, nil }); err == nil {
		t.Error("a prompt of a pack")
	}
}
