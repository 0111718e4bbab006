//go:build nightly && unix

package cluster

import (
	"net/http"
	"testing"
	"time"
)

// A drained node listens until the balancer knows, even without users: a request that the balancer
// still sends to it must not end in a 502.
func TestDrainedNodeListens(t *testing.T) {
	const wait = 2 * time.Second
	c := startCluster(t, 2)
	n := c.nodes[0]
	if status, body := n.api("GET", "/readyz", "", "", nil); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	began := time.Now()
	if out, err := c.cli(n, "cluster", "drain", "--wait", wait.String()); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if took := time.Since(began); took < wait {
		t.Errorf("a drain ended after %v, a balancer needs %v", took, wait)
	}
	if status, body := n.api("GET", "/readyz", "", "", nil); status != http.StatusServiceUnavailable {
		t.Errorf("/readyz of a node that is drained: %d %s", status, body)
	}
	if status, body := n.api("GET", "/api/tabs", c.token("ann"), "", nil); status != http.StatusOK {
		t.Errorf("a request that still comes: %d %s", status, body)
	}
	if out, err := c.cli(n, "cluster", "drain", "--undo"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if status, body := n.api("GET", "/readyz", "", "", nil); status != http.StatusOK {
		t.Errorf("/readyz of a node that takes users again: %d %s", status, body)
	}
}
