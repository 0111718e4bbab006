package cluster

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tabhub/storage/jetstream/natstest"
)

// A journal may name a lease that NATS does not know any more. The cluster must not lose its user,
// nor take the user from a node that is alive.
func TestEndedOfUnknown(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a, b := ready(t, c.Conn(t), "a"), ready(t, c.Conn(t), "b")

	// A lease too young to be known.
	until(t, a, "a knows b", func() bool { return a.Alive(b.ID()) })
	a.mu.Lock()
	delete(a.entries, "b")
	a.mu.Unlock()
	if ended, err := a.Ended(t.Context(), b.ID()); ended || err != nil {
		t.Error(ended, err)
	}

	// An old lease: if a person has deleted the key, its node may still hold it.
	id := (&Member{Name: "gone", Incarnation: incarnationAt(time.Now(), "")}).ID()
	began := time.Now()
	results := make(chan error, 2)
	for _, n := range []*Node{a, b} {
		go func() {
			ended, err := n.Ended(t.Context(), id)
			if !ended && err == nil {
				t.Error("it has not ended")
			}
			results <- err
		}()
	}
	for range 2 {
		if err := <-results; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < short.ttl {
			t.Errorf("known after %v, with a lease of %v", took, short.ttl)
		}
	}
	began = time.Now()
	if ended, err := a.Ended(t.Context(), id); !ended || err != nil || time.Since(began) > short.ttl/2 {
		t.Error("after the end was learned:", ended, err, time.Since(began))
	}
	if len(a.Members()) != 2 {
		t.Error(a.Members())
	}

	// The name can be taken as any other.
	gone := ready(t, c.Conn(t), "gone")
	if gone.ID() <= id {
		t.Errorf("%s after %s", gone.ID(), id)
	}

	for _, id := range []string{"", "a", "a/", "/0000000000000000", "a/x", "a/000000000000000", "a b/0000000000000000"} {
		if ended, err := a.Ended(t.Context(), id); ended || err == nil {
			t.Errorf("%q: %v, %v", id, ended, err)
		}
		if a.Alive(id) {
			t.Errorf("%q is alive", id)
		}
	}
}

// A journal may name a lease that is newer than what NATS has of the node, after a backup was
// restored: the user must not be lost.
func TestEndedAfterRestore(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a, b, d := ready(t, c.Conn(t), "a"), ready(t, c.Conn(t), "b"), ready(t, c.Conn(t), "d")
	next := func(n *Node) string {
		m := n.Self()
		m.Incarnation = incarnationAt(time.Now(), m.Incarnation)
		return m.ID()
	}
	ofLeft, ofLive := next(b), next(d)
	if err := b.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, a, "b has left", func() bool { return !a.Alive(b.ID()) })
	began := time.Now()
	if ended, err := a.Ended(t.Context(), ofLeft); !ended || err != nil {
		t.Error(ended, err)
	}
	if took := time.Since(began); took < short.ttl {
		t.Errorf("known after %v, with a lease of %v", took, short.ttl)
	}

	until(t, a, "a knows d", func() bool { return a.Alive(d.ID()) })
	ended := make(chan error, 1)
	go func() {
		is, err := a.Ended(t.Context(), ofLive)
		if !is && err == nil {
			err = errors.New("it has not ended")
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Fatalf("while an older lease is held: %v", err)
	case <-time.After(2 * short.ttl):
	}
	if !d.Lease().Held() {
		t.Error("a question about a lease has ended a live one")
	}
	crash(d)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Without NATS a node must not take an unknown lease for ended.
func TestEndedWithoutNATS(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	proxy := natstest.NewProxy(t, c.URL(0))
	a := ready(t, c.ConnTo(t, proxy.URL()), "a")
	b := ready(t, c.Conn(t), "b")
	until(t, a, "a knows b", func() bool { m, _ := a.Member(b.ID()); return m.State == Ready })
	proxy.Cut()
	defer proxy.Mend()
	ctx, cancel := context.WithTimeout(t.Context(), 2*short.ttl)
	defer cancel()
	if ended, err := a.Ended(ctx, "gone/0000000000000001"); ended || err == nil {
		t.Error(ended, err)
	}
	if ended, err := a.Ended(t.Context(), b.ID()); ended || err != nil || !a.Alive(b.ID()) {
		t.Error(ended, err)
	}
}

// declareAbsent writes into the key of a node that a lease has ended, as if there were none.
func declareAbsent(n *Node, name, incarnation string) error {
	r := record{Member: Member{Name: name, Incarnation: incarnation, State: Ended}, Absent: true}
	for {
		m, err := n.nodes.last(context.Background(), name)
		if err != nil {
			return err
		}
		if _, err = n.nodes.put(context.Background(), name, r.encode(n.keys.members), m.Sequence); !errors.Is(err, errRevision) {
			return err
		}
	}
}

// A person who deletes or overwrites a key costs a node its lease, and nothing else.
func TestKeyDeleted(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a, b := ready(t, c.Conn(t), "a"), ready(t, c.Conn(t), "b")
	for what, harm := range map[string]func() error{
		"deleted": func() error {
			return a.nodes.stream.Purge(t.Context(), jetstream.WithPurgeSubject(a.nodes.subject("b")))
		},
		"overwritten": func() error { return a.opts.Conn.Publish(a.nodes.subject("b"), []byte("{}")) },
		"deleted, and an older lease was looked for": func() error { return declareAbsent(a, "b", "0000000000000001") },
		"deleted, and a later lease was looked for": func() error {
			return declareAbsent(a, "b", incarnationAt(time.Now().Add(time.Second), ""))
		},
	} {
		id := b.ID()
		until(t, a, "a knows b", func() bool { return a.Alive(id) })
		if err := harm(); err != nil {
			t.Fatal(err)
		}
		until(t, a, what+": a knows", func() bool { return !a.Alive(id) })
		until(t, b, what+": b has another lease", func() bool { return b.ID() != id && b.Lease().Held() })
		until(t, a, what+": a knows it", func() bool { return a.Alive(b.ID()) })
		if ended, err := a.Ended(t.Context(), id); !ended || err != nil {
			t.Error(what, ended, err)
		}
	}
}

// `nats kv del` replaces the record in a key, perhaps a renewal that other nodes have not seen yet.
// So the ttl of that lease begins anew.
func TestKeyReplaced(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	nc := c.Conn(t)
	a, b := ready(t, nc, "a"), ready(t, nc, "b")
	id := b.ID()
	until(t, a, "a knows b", func() bool { return a.Alive(id) })
	crash(b)
	time.Sleep(short.ttl / 2)
	began, bad := time.Now(), a.Stats().BadRecords
	if err := nc.Publish(a.nodes.subject("b"), nil); err != nil {
		t.Fatal(err)
	}
	until(t, a, "a knows that", func() bool { return a.Stats().BadRecords > bad })
	if !a.Alive(id) {
		t.Skip("the machine is too slow")
	}
	until(t, a, "b has ended", func() bool { return !a.Alive(id) })
	if took := time.Since(began); took < short.ttl {
		t.Errorf("b could have renewed its lease, of %v, %v ago", short.hold, took)
	}
}

// Records of names that are used only once, as an orchestrator may give them, must not pile up.
func TestForget(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a, b := ready(t, c.Conn(t), "a"), ready(t, c.Conn(t), "b")
	id := b.ID()
	if err := b.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, a, "b has left", func() bool { return !a.Alive(id) })
	a.forget(t.Context())
	if m, err := a.nodes.last(t.Context(), "b"); err != nil || m.Sequence == 0 {
		t.Fatal("forgotten at once", err)
	}
	a.mu.Lock()
	a.entries["b"].stored = time.Now().Add(-forgetAfter - time.Minute)
	a.mu.Unlock()
	a.forget(t.Context())
	if m, err := a.nodes.last(t.Context(), "b"); err != nil || m.Sequence != 0 {
		t.Error(m.Sequence, err)
	}
	if ended, err := ready(t, c.Conn(t), "c").Ended(t.Context(), id); !ended || err != nil {
		t.Error(ended, err)
	}
}
