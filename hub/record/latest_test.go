package record

import (
	"fmt"
	"testing"

	"tabhub/hub/live"
)

// Who looks must see each entry once, those that came too fast counted, and none from before.
func TestSince(t *testing.T) {
	var bell live.Bell
	f := Open(t.TempDir(), Options{User: "ann", Bell: &bell})
	defer f.Close()
	f.Append(entry("before"))
	rung, stop := bell.Listen()
	defer stop()
	_, _, n := f.Since(0)
	want := func(missed uint64, first, last string) {
		t.Helper()
		entries, m, next := f.Since(n)
		got := ""
		if len(entries) > 0 {
			got = entries[0].Tool + " " + entries[len(entries)-1].Tool
		}
		if m != missed || got != first+" "+last && first != "" || first == "" && got != "" {
			t.Errorf("%d missed, %d entries, %s; want %d missed, %s to %s", m, len(entries), got, missed, first, last)
		}
		n = next
	}
	want(0, "", "")
	f.Append(entry("one"))
	<-rung
	f.Append(Entry{Time: now, Event: Call, Tool: "two", Args: []byte(`{"secret":1}`)})
	entries, _, _ := f.Since(n)
	if entries[1].Args != nil {
		t.Errorf("arguments are kept: %s", entries[1].Args)
	}
	want(0, "one", "two")
	want(0, "", "")
	for i := range MaxLatest + 10 {
		f.Append(entry(fmt.Sprint("many", i)))
	}
	want(10, "many10", fmt.Sprint("many", MaxLatest+9))
	want(0, "", "")
	stop()
	f.Append(entry("after"))
	want(0, "", "")
}
