package cluster

import (
	"bytes"
	"testing"
	"time"

	"tabhub/storage/jetstream/natstest"
)

// What NATS holds may be anybody's: nothing may be taken for a node that its secret has not
// signed, or break who reads it.
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

// A lease must be greater than all that its name had before, whatever the clocks say.
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

// Who can write to NATS, and has kept what nodes have written, can end no lease with it, and bring
// none back.
func TestReplay(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	nc := c.Conn(t)
	a, b := ready(t, nc, "a"), ready(t, nc, "b")
	until(t, a, "a knows b", func() bool { return a.Alive(b.ID()) })
	lease := func(name string) []byte {
		m, err := a.nodes.last(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return m.Data
	}
	replay := func(name string, data []byte) {
		t.Helper()
		ack, err := a.nodes.js.Publish(t.Context(), a.nodes.subject(name), data)
		if err != nil {
			t.Fatal(err)
		}
		until(t, a, "a has seen it, or what has taken its place", func() bool {
			a.mu.Lock()
			defer a.mu.Unlock()
			return a.seen >= ack.Sequence
		})
	}
	first := b.ID()
	before := lease("b")
	replay("b", bytes.Replace(before, []byte(`"ready"`), []byte(`"ended"`), 1)) // changed
	until(t, a, "b goes on, with this lease or the next", func() bool { return a.Alive(b.ID()) })
	leave(b)
	until(t, a, "b has left", func() bool { return !a.Alive(first) })
	replay("b", before) // what has ended stays ended
	if a.Alive(first) {
		t.Error("a lease that has ended is back")
	}
	last := ready(t, nc, "b")
	replay("b", before) // and what another has followed does not come back
	until(t, a, "the last b goes on, with this lease or the next", func() bool { return a.Alive(last.ID()) })
	if a.Alive(first) {
		t.Error("a lease that another has followed is back")
	}
	select {
	case <-last.Done():
		t.Error("the node has ended")
	default:
	}
}
