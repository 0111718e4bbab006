package cluster

import (
	"bytes"
	"testing"
	"time"
)

// Any program may write to NATS: a record that is not signed with the secret is not a node, and must
// not crash a reader.
func FuzzRecord(f *testing.F) {
	key := []byte("key")
	r := record{Member: Member{Name: "a", Incarnation: incarnationAt(time.Unix(1, 0), ""), URL: "https://a:1", State: Ready}}
	f.Add(r.encode(key))
	f.Add(bytes.Replace(r.encode(key), []byte("https://a:1"), []byte("https://b:1"), 1))
	f.Add([]byte(`{"record":{"name":"a","fingerprint":"00"}}`))
	f.Add(bytes.Replace(r.encode(key), []byte("ready"), []byte("ended"), 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := decodeRecord("a", b, key)
		if err == nil && (got != r) {
			t.Errorf("%+v", got)
		}
	})
}

// A lease's incarnation is greater than all earlier ones of the name, whatever the clocks say.
func TestIncarnation(t *testing.T) {
	now := time.Now()
	first := incarnationAt(now, "")
	second := incarnationAt(now.Add(-time.Hour), first) // on a machine whose clock is behind
	third := incarnationAt(now.Add(time.Second), second)
	if !(first < second && second < third) || len(third) != incarnationLen {
		t.Error(first, second, third)
	}
	id := (&Member{Name: "node-1.example.com", Incarnation: second}).ID()
	if name, incarnation, err := splitID(id); name != "node-1.example.com" || incarnation != second || err != nil {
		t.Error(id, name, incarnation, err)
	}
}
