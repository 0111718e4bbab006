package packcli

import (
	"encoding/json"
	"os"
	"testing"
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
