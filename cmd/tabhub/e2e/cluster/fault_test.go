package cluster

import (
	"context"
	"os"
	"testing"
	"time"

	"tabhub/cmd/tabhub/e2e/cluster/history"
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

// fault is something that happens to a cluster, and its end.
type fault struct {
	name string
	do   func(c *cluster, n *node) (heal func())
	// lasts is how long it goes on.
	lasts time.Duration
}

// run has faults happen, one after the other, and lets the cluster come to rest after each.
func (l *load) run(faults []fault) {
	l.t.Helper()
	l.start()
	pause(context.Background(), 3*time.Second)
	for end, i := time.Now().Add(faultsFor(l.t)), 0; i < len(faults) || time.Now().Before(end); i++ {
		f := faults[i%len(faults)]
		n := l.c.nodes[i%len(l.c.nodes)]
		l.h.Add(history.Event{Kind: history.Fault, Text: f.name, By: n.name})
		heal := f.do(l.c, n)
		pause(context.Background(), f.lasts)
		heal()
		l.h.Add(history.Event{Kind: history.Heal, Text: f.name, By: n.name})
		l.settle()
		if l.t.Failed() {
			break
		}
	}
	l.finish()
	l.check()
}

// A hub that is killed again and again while 50 users make 200 calls a second runs no call twice,
// and each of them knows what has become of theirs. What holds for one hub is what the cluster is
// measured by.
func TestOneHub(t *testing.T) {
	c := startCluster(t, 1)
	l := startLoad(t, c, number("TABHUB_CLUSTER_USERS", 50))
	l.run([]fault{
		{"killed, and started again", func(_ *cluster, n *node) func() {
			n.kill()
			n.start()
			return n.awaitReady
		}, 0},
		{"stopped, and started again", func(_ *cluster, n *node) func() {
			n.replace()
			return func() {}
		}, 0},
		{"paused for 5 s", func(_ *cluster, n *node) func() {
			n.pause()
			return n.resume
		}, 5 * time.Second},
	})
}
