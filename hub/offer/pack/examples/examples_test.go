// Package examples has packs for sites that many know: one whose tools ask the site's API, one that
// reads lists and clicks, and one that fills in a form and reads a table. They are data: `tabhub pack
// add hub/offer/pack/examples/wikipedia.json` adds one.
package examples

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tabhub/hub/offer/pack"
	"tabhub/tabtransport/tabtest/packpages"
)

// An example that is refused, or says nothing of its results, teaches nobody.
func TestExamplesArePacks(t *testing.T) {
	files, err := filepath.Glob("*.json")
	if err != nil || len(files) != 3 {
		t.Fatalf("examples %q, %v", files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := pack.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, tool := range p.Pack.Tools {
			if tool.OutputSchema == nil {
				t.Errorf("%s: %s does not say what its result is", name, tool.Name)
			}
		}
	}
}

// The packs for the tests' pages have 20 tools with an example each.
func TestPacksOfPages(t *testing.T) {
	tools := 0
	packs := packpages.Packs(t)
	for _, name := range slices.Sorted(maps.Keys(packs)) {
		p, err := pack.Parse(packs[name])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, tool := range p.Pack.Tools {
			tools++
			if len(tool.Examples) != 1 || tool.Examples[0].Gives == nil || tool.OutputSchema == nil {
				t.Errorf("%s: %s has no example with a result, or no schema for it", name, tool.Name)
			}
		}
	}
	if tools != 20 {
		t.Errorf("%d tools, want 20", tools)
	}
}
