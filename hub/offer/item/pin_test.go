package item

import (
	"strings"
	"testing"

	"tabhub/hub/offer/schema"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// What the owner has allowed must not become something else unseen, and must stay allowed
// when a page only writes it down in another way.
func TestPin(t *testing.T) {
	const tool = `{"name":"pay","description":"Pays","inputSchema":{"type":"object","properties":{"to":{"type":"string"},"sum":{"type":"number"}}},"annotations":{"destructiveHint":true}}`
	pin := func(raw, origin string, verified bool) policy.Pin {
		t.Helper()
		it, err := Parse(spec.KindTool, []byte(raw), new(schema.Cache), func(Claim) (Provenance, error) {
			return Provenance{Domain: "shop.com", Origin: origin, Verified: verified}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return it.Pin()
	}
	want := pin(tool, "https://shop.com", true)
	for name, same := range map[string]string{
		"spaces":      strings.ReplaceAll(tool, ":", " : "),
		"escapes":     strings.ReplaceAll(tool, "Pays", `\u0050ays`),
		"other order": `{"annotations":{"destructiveHint":true},"inputSchema":{"properties":{"sum":{"type":"number"},"to":{"type":"string"}},"type":"object"},"description":"Pays","name":"pay"}`,
		"unknown":     strings.Replace(tool, `"name"`, `"x":1,"name"`, 1),
	} {
		if pin(same, "https://shop.com", true) != want {
			t.Errorf("%s: another pin", name)
		}
	}
	for name, other := range map[string]string{
		"description": strings.Replace(tool, "Pays", "Pays!", 1),
		"name":        strings.Replace(tool, "pay", "pai", 1),
		"schema":      strings.Replace(tool, "number", "string", 1),
		"hints":       strings.Replace(tool, "true", "false", 1),
		"title":       strings.Replace(tool, `"name"`, `"title":"T","name"`, 1),
		"frame":       strings.Replace(tool, `"name"`, `"frameId":7,"name"`, 1),
		"output":      strings.Replace(tool, `"name"`, `"outputSchema":{"type":"object"},"name"`, 1),
	} {
		if pin(other, "https://shop.com", true) == want {
			t.Errorf("%s: the same pin", name)
		}
	}
	if pin(tool, "http://shop.com", true) == want {
		t.Error("another origin: the same pin")
	}
}
