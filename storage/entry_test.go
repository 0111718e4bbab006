package storage

import (
	"reflect"
	"testing"
)

// A batch is read as it was written: what is deleted stays deleted, what is empty is there.
func TestEntries(t *testing.T) {
	want := []Entry{
		EntryOf(Tab{Domain: "d", Key: "k", Title: "t"}),
		EntryOf(DeleteTab{Domain: "d", Key: "gone"}),
		{Bucket: BucketSettings, Key: "empty", Value: []byte{}},
	}
	var batch []byte
	for _, e := range want {
		batch = AppendEntry(batch, e)
	}
	var got []Entry
	for e, err := range Entries(batch) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if want[1].Value != nil || want[0].Value == nil {
		t.Error("a deletion has a value, or a value none")
	}
}

// FuzzEntries: damaged bytes are an error or other entries, never a panic, and no entry is
// larger than its input.
func FuzzEntries(f *testing.F) {
	f.Add(AppendEntry(AppendEntry(nil, EntryOf(Name{Public: "n"})), EntryOf(DeleteName{Public: "n"})))
	f.Add([]byte{255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, batch []byte) {
		n := 0
		for e, err := range Entries(batch) {
			if err != nil {
				continue
			}
			n += len(e.Bucket) + len(e.Key) + len(e.Value)
		}
		if n > len(batch) {
			t.Errorf("%d bytes of %d", n, len(batch))
		}
	})
}
