package extension_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/tabtest"
)

// A store refuses a key in the manifest and a version that is not all numbers. A secret in
// what everybody downloads would be everybody's.
func TestForStore(t *testing.T) {
	all, err := extension.ForStore("1.2.0-rc.1")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := all["pairing.json"]; ok {
		t.Error("it is paired with a hub")
	}
	var got, want map[string]any
	if err := json.Unmarshal(all["manifest.json"], &got); err != nil {
		t.Fatal(err)
	}
	if _, ok := got["key"]; ok || got["version"] != "1.2.0" || got["version_name"] != "1.2.0-rc.1" {
		t.Errorf("the manifest is %s", all["manifest.json"])
	}
	dir := t.TempDir()
	if _, err := extension.Write(dir, tabtest.NewPairings(t).Ring, "ws://127.0.0.1:1/tabs"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []map[string]any{got, want} {
		delete(m, "key")
		delete(m, "version")
		delete(m, "version_name")
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the manifest has %v, the one that `tabhub extension` writes %v", got, want)
	}
	for _, version := range []string{"", "dev", "v1.2.0"} {
		if _, err := extension.ForStore(version); err == nil {
			t.Errorf("%q is taken for a version", version)
		}
	}
}
