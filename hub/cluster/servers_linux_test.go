//go:build nightly

package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"tabhub/storage/jetstream/natstest"
	"tabhub/storage/jetstream/streams"
)

// The tests in this file are about NATS servers that elect a leader, which takes them seconds.

// While NATS is gone, no node serves users and none can take users over; when it is back, all go on
// where they were. An election must not close any user.
func TestLeaderKilled(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t, 3)
	var nodes []*Node
	lost := make(chan error, 10)
	for i := range 3 {
		nodes = append(nodes, ready(t, c.Conn(t), string(rune('a'+i)), func(o *Options) {
			o.Replicas, o.timing, o.Lost = 3, usual, func(err error) { lost <- err }
		}))
	}
	var ids []string
	for _, n := range nodes {
		until(t, n, "all know of all", func() bool { return len(n.Members()) == 3 && n.Members()[2].State == Ready })
		ids = append(ids, n.ID())
	}
	c.Kill(c.Leader("KV_" + nodesBucket))
	killed := time.Now()
	before := make([]Stats, len(nodes))
	for i, n := range nodes {
		until(t, n, "it has failed to renew", func() bool { before[i] = n.Stats(); return before[i].RenewalsFailed > 0 })
	}
	var longest time.Duration
	for i, n := range nodes {
		until(t, n, "it renews again", func() bool { return n.Stats().Renewals > before[i].Renewals && n.Self().State == Ready })
		longest = max(longest, n.Stats().Suspended)
	}
	t.Logf("all renew their leases %v after the leader was killed; the longest was suspended for %v", time.Since(killed), longest)
	select {
	case err := <-lost:
		if longest < usual.lose-usual.hold {
			t.Errorf("users were closed: %v", err)
		}
	default:
	}
	for i, n := range nodes {
		if n.ID() != ids[i] {
			t.Errorf("%s has become %s", ids[i], n.ID())
		}
		until(t, n, "all know of all again", func() bool {
			return !slices.ContainsFunc(ids, func(id string) bool { m, ok := n.Member(id); return !ok || m.State != Ready })
		})
	}
}

// The NATS server of a node may fall silent without closing anything, as when a machine loses power.
// The node must find another server before other nodes see its lease end.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t, 3)
	q := ready(t, c.Conn(t), "q", func(o *Options) { o.timing, o.Replicas = usual, 3 })
	leader := c.Leader("KV_" + nodesBucket)
	var nc *nats.Conn
	var server int
	for nc == nil { // not to the leader: while that is silent no node can renew, and no lease ends
		var err error
		if nc, err = streams.Connect(t.Context(), streams.ConnectOptions{URLs: strings.Join(c.URLs(), ",")}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		if server = slices.Index(c.URLs(), nc.ConnectedUrl()); server == leader {
			nc = nil
		}
	}
	p := ready(t, nc, "p", func(o *Options) { o.timing, o.Replicas = usual, 3 })
	id := p.ID()
	until(t, q, "q knows p", func() bool { return q.Alive(id) })
	c.Pause(server)
	defer c.Resume(server)
	began, reconnects := time.Now(), nc.Stats().Reconnects
	until(t, p, "it renews its lease through another server", func() bool { return nc.Stats().Reconnects > reconnects && p.Lease().Held() })
	t.Logf("after %v; suspended for %v", time.Since(began), p.Stats().Suspended)
	before := p.Stats().Renewals
	until(t, p, "it goes on", func() bool { return p.Stats().Renewals > before+1 })
	if p.ID() != id || q.Stats().Ended != 0 {
		t.Errorf("%s has become %s", id, p.ID())
	}
}

// Of several nodes that create a shared document at once, one wins, and the others take its
// document.
func TestDocumentsAtOnce(t *testing.T) {
	t.Parallel()
	a := ready(t, natstest.Start(t, 3).Conn(t), "a", func(o *Options) { o.Replicas = 3 })
	for round := range 20 {
		const nodes = 5
		made, failed := make(chan string, nodes), make(chan error, nodes)
		for node := range nodes {
			go func() {
				doc, err := a.Documents().Create(t.Context(), fmt.Sprint("ring-", round), fmt.Append(nil, node))
				made <- string(doc)
				failed <- err
			}()
		}
		first := <-made
		for range nodes - 1 {
			if doc := <-made; doc != first {
				t.Errorf("%q and %q", first, doc)
			}
		}
		for range nodes {
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
	}
}

// A NATS server that lags behind the leader makes no difference to hints.
func TestHintsOfThreeServers(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t, 3)
	three := func(o *Options) { o.Replicas = 3 }
	a, b, other := ready(t, c.ConnTo(t, c.URL(0)), "a", three), ready(t, c.ConnTo(t, c.URL(1)), "b", three), ready(t, c.ConnTo(t, c.URL(2)), "c", three)
	for i := range 50 {
		id := fmt.Sprint("token-", i)
		hint(t, a, id, "ann", time.Time{})
		lead(t, "ann", id, other, b, a)
	}
}
