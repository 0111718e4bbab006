//go:build nightly && unix

package cluster

import (
	"context"
	"os"
	"testing"
	"time"
)

// faultsFor is how long faults go on.
func faultsFor(t testing.TB) time.Duration {
	t.Helper()
	text := os.Getenv("TABHUB_CLUSTER_FOR")
	if text == "" {
		return 2 * time.Minute
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// fault is a fault of a cluster, and its end.
type fault struct {
	name string
	do   func(c *cluster, n *node) (heal func())
	// lasts is how long the fault lasts.
	lasts time.Duration
	kills bool // the node
}

// run injects faults, one after the other, each at least once, for d, and lets the cluster come to
// rest after each.
func (l *load) run(faults []fault, d time.Duration) {
	l.t.Helper()
	l.start()
	pause(context.Background(), 3*time.Second)
	for end, i := time.Now().Add(d), 0; i < len(faults) || time.Now().Before(end); i++ {
		f := faults[i%len(faults)]
		n := l.c.nodes[i%len(l.c.nodes)]
		l.h.Add(Event{Kind: Fault, Text: f.name, By: n.name})
		if f.kills {
			l.h.Add(Event{Kind: Kill, By: n.name})
		}
		heal := f.do(l.c, n)
		pause(context.Background(), f.lasts)
		heal()
		l.h.Add(Event{Kind: Heal, Text: f.name, By: n.name})
		l.settle()
		if l.t.Failed() {
			break
		}
	}
	l.finish()
	l.check()
}

// killed is a node that is killed, and starts again after a while.
var killed = fault{"a node is killed", func(_ *cluster, n *node) func() {
	n.kill()
	return func() {
		n.start()
		n.awaitReady()
	}
}, 8 * time.Second, true}

// replaced is an update by the operator: one node after the other.
var replaced = fault{"all nodes are replaced", func(c *cluster, _ *node) func() {
	for _, n := range c.nodes {
		n.replace()
	}
	return func() {}
}, 0, false}

// faults are the faults that a cluster must survive.
var faults = []fault{
	killed,
	{"a node is paused for 30 s", func(_ *cluster, n *node) func() {
		n.pause()
		return n.resume
	}, 30 * time.Second, false},
	{"a node is cut from NATS", func(_ *cluster, n *node) func() {
		n.cut()
		return n.mend
	}, 15 * time.Second, false},
	{"a node does not hear NATS", func(_ *cluster, n *node) func() {
		for _, w := range n.wires {
			w.CutReplies()
		}
		return n.mend
	}, 15 * time.Second, false},
	{"the leader of NATS is killed", func(c *cluster, _ *node) func() {
		i := c.nats.Leader(usersStream)
		c.nats.Kill(i)
		return func() {
			c.nats.Restart(i)
			c.nats.Await()
		}
	}, 8 * time.Second, false},
	replaced,
}

// While nodes are killed, replaced, paused and cut from NATS, and NATS loses its leader, 50 users
// make 200 calls a second. No call runs twice, each ends, and its client learns its true outcome;
// names and numbers do not change; no superseded node writes.
func TestFaults(t *testing.T) {
	startLoad(t, startCluster(t, 3), number("TABHUB_CLUSTER_USERS", 50)).run(faults, faultsFor(t))
}

// A hub that is killed again and again during calls runs no call twice, and each client knows the
// outcome of its calls. One hub is the standard for the cluster.
func TestOneHub(t *testing.T) {
	l := startLoad(t, startCluster(t, 1), number("TABHUB_CLUSTER_USERS", 50))
	l.run([]fault{
		{"the hub is killed", func(_ *cluster, n *node) func() {
			n.kill()
			n.start()
			return n.awaitReady
		}, 0, true},
		{"the hub is replaced", func(_ *cluster, n *node) func() {
			n.replace()
			return func() {}
		}, 0, false},
		{"the hub is paused for 5 s", func(_ *cluster, n *node) func() {
			n.pause()
			return n.resume
		}, 5 * time.Second, false},
	}, 0)
}
