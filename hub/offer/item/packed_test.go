package item

import (
	"encoding/json"
	"strings"
	"testing"

	"tabhub/hub/offer/schema"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// registered is an item as a paired browser registers it.
func registered(t *testing.T, raw string) *Item {
	t.Helper()
	it, err := Parse(spec.KindTool, json.RawMessage(raw), new(schema.Cache), func(claimed Claim) (Provenance, error) {
		return Provenance{Domain: "shop.com", Origin: claimed.Origin, Verified: true, Pack: claimed.Pack}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return it
}

// The owner has read the pack's document: what a browser adds to a tool of it does not count, nor does a
// hint.
func TestPacked(t *testing.T) {
	it := registered(t, `{"name":"order","description":"Harmless","annotations":{"readOnlyHint":true},"departed":true,`+
		`"pack":{"name":"shop","hash":"4f"},"origin":"https://shop.com","frameId":3}`)
	by := Packed{Definition: json.RawMessage(`{"name":"order","description":"Orders the cart","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false}}`), Class: policy.Write, Digest: "d"}
	for range 2 { // again when it was stored
		packed, err := it.Packed(by)
		if err != nil {
			t.Fatal(err)
		}
		if list := string(packed.AppendJSON(nil, "p", "")); strings.Contains(list, "Harmless") || !strings.Contains(list, `"title":"order (pack shop)"`) || strings.Contains(list, "4f") {
			t.Error(list)
		}
		if packed.Class != policy.Write || packed.Repeatable || packed.FrameID() != 3 || packed.Origin != "https://shop.com" || packed.Pack != it.Pack || !packed.Departed {
			t.Errorf("%+v", packed)
		}
		departed := packed.Departed
		it = registered(t, string(packed.Raw))
		it.Departed = departed
	}
}

// A script says what it likes about its tools.
func TestPackedByScript(t *testing.T) {
	for hints, class := range map[string]policy.Class{
		`{"readOnlyHint":true,"idempotentHint":true}`: policy.Write,
		`{"destructiveHint":true}`:                    policy.Destructive,
		`7`:                                           policy.Write,
	} {
		it := registered(t, `{"name":"order","title":"Order","annotations":`+hints+`,"pack":{"name":"shop","hash":"4f"},"origin":"https://shop.com"}`)
		for range 2 {
			packed, err := it.Packed(Packed{Class: policy.Write, Digest: "d"})
			if err != nil {
				t.Fatal(err)
			}
			if list := string(packed.AppendJSON(nil, "p", "")); packed.Class != class || packed.Repeatable || strings.Contains(list, "readOnlyHint") || !strings.Contains(list, `"title":"Order (pack shop)"`) {
				t.Errorf("%s: class %v, %s", hints, packed.Class, list)
			}
			it = registered(t, string(packed.Raw))
		}
	}
}

// An answer for what a pack's tool does is none for other steps, for another pack or for the page.
func TestPinOfPack(t *testing.T) {
	pin := func(pack, digest string) policy.Pin {
		t.Helper()
		it := registered(t, `{"name":"order","pack":{"name":"`+pack+`","hash":"4f"},"origin":"https://shop.com"}`)
		packed, err := it.Packed(Packed{Definition: json.RawMessage(`{"name":"order","title":"Order"}`), Digest: digest})
		if err != nil {
			t.Fatal(err)
		}
		return packed.Pin()
	}
	if again := pin("shop", "d"); again != pin("shop", "d") {
		t.Error("the same tool has another pin")
	}
	own := registered(t, `{"name":"order","title":"Order (pack shop)","origin":"https://shop.com"}`)
	if p := pin("shop", "d"); p == pin("shop", "e") || p == pin("shop-2", "d") || p == own.Pin() {
		t.Error("another tool has the same pin")
	}
}
