//go:build nightly

package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
)

// A site whose tabs have had ever new names may go on with new ones: those that
// nobody has any more make room.
func TestNamesOfTheGoneMakeRoom(t *testing.T) {
	f := newFixture(t)
	b := f.chrome("b1", "s1", 1)
	for round := range maxNames/spec.MaxToolsPerTab/2 + 2 {
		if out := f.tools(b, "https://e.com/", many(spec.MaxToolsPerTab, fmt.Sprint("r", round, "t"), "")...); len(out.Rejected) > 0 {
			t.Fatalf("round %d: %+v", round, out.Rejected[0])
		}
	}
	f.restart()
}

// What sites leave behind must not grow without an end.
func TestCacheIsBounded(t *testing.T) {
	f := newFixture(t)
	b := f.chrome("b1", "s1", 1)
	const each = 1000
	for i := range maxAllCached.items/each + 2 {
		f.tools(b, fmt.Sprintf("https://s%d.com/", i), many(each, "t", `:"annotations":{"cache":true}`)...)
		f.closeTab(b)
		f.pass(time.Second)
	}
	names := strings.Fields(f.listed(spec.KindTool, false))
	if len(names) > maxAllCached.items {
		t.Errorf("%d are cached", len(names))
	}
	if !slices.Contains(names, "s21_com_t0") || slices.Contains(names, "s0_com_t0") {
		t.Error("not the oldest went")
	}
}
