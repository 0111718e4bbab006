//go:build nightly && unix

package cluster

import (
	"strings"
	"testing"
	"time"
)

// A node whose name another has taken while it was stopped is useless: its process says why and
// exits with a failure, so that its supervisor shows it.
func TestReplacedNode(t *testing.T) {
	c := startCluster(t, 3)
	old := c.nodes[0]
	old.pause()
	other := c.newNode("n4", "--set", "node-name="+old.name)
	other.start()
	t.Cleanup(other.end)
	other.awaitReady()
	old.resume()
	select {
	case <-old.process.Done:
	case <-time.After(timeout):
		t.Fatal("the replaced process goes on")
	}
	if said := old.process.Stderr.String(); old.process.Cmd.ProcessState.ExitCode() == 0 || !strings.Contains(said, "another node has taken the name") {
		t.Errorf("%s: %s", old.process.Cmd.ProcessState, said)
	}
}

// A rolling replacement, as for a new version, leaves no call's outcome unknown, even in tabs that
// cannot resume one: each of 100 calls a second is answered, or was certainly not sent.
func TestRollingReplacement(t *testing.T) {
	l := (&load{t: t, c: startCluster(t, 3), h: newHistory(), plain: true}).begin(25)
	l.calm.Store(true)
	l.start()
	for i := range number("TABHUB_CLUSTER_REPLACED", 20) {
		pause(t.Context(), time.Second)
		began, n := time.Now(), l.c.nodes[i%3]
		if out, err := l.c.cli(n, "cluster", "drain", "--wait", "3s"); err != nil { // until clients have no connection left that is idle
			t.Fatalf("%v: %s", err, out)
		}
		n.replace()
		if took := time.Since(began); took > 12*time.Second {
			t.Errorf("replacement %d took %v", i, took)
		}
	}
	l.finish()
	l.check()
	for _, e := range l.h.Events() {
		if e.Kind == Info {
			t.Errorf("a call of %s is unknown: %s", e.User, e.Text)
		}
	}
}
