package packcli

import (
	"encoding/json"
	"os"
	"testing"

	"tabhub/hub/offer/pack"
	"tabhub/spec"
)

// An author changes a pack until what its examples give is there. The dashboard says the same.
func TestMissing(t *testing.T) {
	b, err := os.ReadFile("../../../../hub/face/admin/dashboard/testdata/gives.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Gives, Has json.RawMessage
		Words      string
	}
	if err := json.Unmarshal(b, &cases); err != nil || len(cases) < 5 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for _, c := range cases {
		if words := missing(c.Gives, c.Has); words != c.Words {
			t.Errorf("%s of %s: %q, not %q", c.Gives, c.Has, words, c.Words)
		}
	}
}

// An example's page is at the site of the pack, or of --at: a copy of the site, or another port.
func TestWhereAnExampleIsTried(t *testing.T) {
	shop, any := pack.Pack{Pack: spec.Pack{Match: []string{"https://*.example/*", "https://shop.example.com/a/*"}}}, pack.Pack{Pack: spec.Pack{Match: []string{"https://*.example.com/*"}}}
	for _, c := range []struct {
		p        *pack.Pack
		given    string // --at
		at, want string
	}{
		{&shop, "", "", ""},
		{&shop, "", "/cart?x=1", "https://shop.example.com/cart?x=1"},
		{&shop, "", "https://b.example/x", "https://b.example/x"},
		{&shop, "http://localhost:5173/shop?y#z", "", "http://localhost:5173/shop?y#z"},
		{&shop, "http://localhost:5173/shop?y#z", "/cart?x=1", "http://localhost:5173/cart?x=1"},
		{&shop, "http://localhost:5173", "https://shop.example.com/a%2Fb", "http://localhost:5173/a%2Fb"},
		{&any, "", "", ""},
		{&any, "", "/cart", "error"},
		{&any, "https://a.example.com", "/cart", "https://a.example.com/cart"},
	} {
		got, err := (&packTest{at: c.given, pack: c.p}).exampleURL(c.at)
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("--at %q, an example at %q: %q, not %q", c.given, c.at, got, c.want)
		}
	}
}
