package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/tabtest/chromium"
)

// fromStore writes the extension to a directory as a store hands it out, with the store's
// additions to the manifest.
func fromStore(t testing.TB) string {
	t.Helper()
	all, err := extension.ForStore("1.2.0")
	if err != nil {
		t.Fatal(err)
	}
	var manifest, source map[string]any
	text, err := os.ReadFile(filepath.FromSlash("../../../tabtransport/extension/manifest.json"))
	if err := errors.Join(err, json.Unmarshal(all["manifest.json"], &manifest), json.Unmarshal(text, &source)); err != nil {
		t.Fatal(err)
	}
	manifest["key"] = source["key"]
	manifest["update_url"] = "https://clients2.google.com/service/update2/crx"
	if all["manifest.json"], err = json.Marshal(manifest); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range all {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Who has the extension from a store has nothing to do but to pair it, once.
func TestPairFromStore(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	b := chromium.Start(t, chromium.Options{Extension: fromStore(t), WebMCP: true})
	if b.ExtensionID != extension.ID {
		t.Fatalf("its id is %s, not %s, which hubs know", b.ExtensionID, extension.ID)
	}
	b.Open(website(t) + "/?1")
	command := p.startPairing()
	b.Open(command.link)
	window := b.Window("invite.html")
	window.WaitFor(fmt.Sprintf("document.querySelector('#code').textContent === %q", command.code))
	window.ClickLast("#accept")
	command.awaitPaired("Chrom")
	c := p.stdio()
	list := c.awaitTools("the shop's tools are listed", func(l tools) bool { return len(l.names()) == 4 })
	if a := c.call(list.named("_buy"), `{"n":1}`); a.outcome() != "ok" {
		t.Errorf("buy: %s", a.outcome())
	}
}
