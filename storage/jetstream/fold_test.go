package jetstream

import (
	"testing"

	"github.com/nats-io/nats.go"

	"tabhub/storage"
)

// FuzzFold: any bytes in a journal give an error or a state, never a panic; and a snapshot of that
// state reads as the same state.
func FuzzFold(f *testing.F) {
	flush := string(storage.AppendEntry([]byte{formatVersion}, storage.EntryOf(storage.Name{Public: "n"})))
	f.Add(kindFlush, "0/1", "1", flush, kindSnapshot, "0/1", "2", flush)
	f.Add(kindSnapshot, "0/2", "7", flush[:3], kindSnapshot, "1/2", "2", flush[3:])
	f.Add(kindFlush, "0/2", "1", flush[:3], kindClaim, "", "2", "")
	f.Fuzz(func(t *testing.T, kind1, part1, after1, data1, kind2, part2, after2, data2 string) {
		var fold fold
		for i, m := range [][4]string{{kindClaim, "", "0", ""}, {kind1, part1, after1, data1}, {kind2, part2, after2, data2}} {
			h := nats.Header{}
			h.Set(headerKind, m[0])
			h.Set(headerPart, m[1])
			h.Set(headerEpoch, "1")
			h.Set(nats.ExpectedLastSubjSeqHdr, m[2])
			parsed, err := parse(uint64(i+1), h, []byte(m[3]))
			if err != nil {
				return
			}
			if err := fold.add(&parsed); err != nil {
				return
			}
		}
		state, err := fold.state()
		if err != nil {
			return
		}
		again := refold(t, &fold)
		if len(state.Tabs) != len(again.Tabs) || len(state.Names) != len(again.Names) || len(state.Documents) != len(again.Documents) {
			t.Errorf("got %+v from the snapshot of %+v", again, state)
		}
	})
}

func refold(t *testing.T, f *fold) *storage.State {
	t.Helper()
	again := fold{}
	must(t, again.add(&message{seq: 9, after: 8, kind: kindSnapshot, epoch: 1, of: 1, data: f.snapshot()}))
	if again.live != f.live {
		t.Errorf("%d bytes, want %d", again.live, f.live)
	}
	s, err := again.state()
	must(t, err)
	return s
}
