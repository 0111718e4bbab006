package record

import (
	"fmt"
	"testing"

	"tabhub/hub/broadcast"
)

// A view sees each line once, as it stands in the files, counts those that came too fast, and none
// from before.
func TestSince(t *testing.T) {
	var changed broadcast.Signal
	f := Open(t.TempDir()+"/record", Options{User: "ann", Changed: &changed})
	defer f.Close()
	f.Append(entry("before"))
	f.flush(t.Context())
	_, _, n := f.Since(0)
	want := func(missed uint64, first, last string) []Line {
		t.Helper()
		f.flush(t.Context())
		lines, m, next := f.Since(n)
		got := " "
		if len(lines) > 0 {
			got = lines[0].Tool + " " + lines[len(lines)-1].Tool
		}
		if m != missed || got != first+" "+last {
			t.Errorf("%d missed, %d lines, %s; want %d missed, %s to %s", m, len(lines), got, missed, first, last)
		}
		n = next
		return lines
	}
	want(0, "", "")
	written := changed.Wait()
	f.Append(entry("one"))
	<-written
	f.Append(Entry{Time: now, Event: Call, Tool: "two", Args: []byte(`{"secret":1}`)})
	lines := want(0, "one", "two")
	if l := lines[1]; l.Args != nil || l.Digest == "" || l.N != lines[0].N+1 {
		t.Errorf("%+v", l)
	}
	want(0, "", "")
	for i := range maxLatest + 10 {
		f.Append(entry(fmt.Sprint("many", i)))
	}
	want(10, "many10", fmt.Sprint("many", maxLatest+9))
	want(0, "", "")
}
