//go:build nightly && unix

package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkCall measures a call over HTTP to a tab that answers at once: on one hub, and on three
// nodes, where the client is connected to one, the tab to another and the third has the user.
func BenchmarkCall(b *testing.B) {
	b.Run("one hub", func(b *testing.B) {
		c := startCluster(b, 1)
		benchmarkCall(b, c, c.nodes[0], c.nodes[0])
	})
	b.Run("three nodes", func(b *testing.B) {
		c := startCluster(b, 3)
		owner := c.owner(b, "ann")
		others := slices.DeleteFunc(slices.Clone(c.nodes), func(n *node) bool { return n == owner })
		benchmarkCall(b, c, others[0], others[1])
	})
	b.Run("the owner of three", func(b *testing.B) {
		c := startCluster(b, 3)
		owner := c.owner(b, "ann")
		benchmarkCall(b, c, owner, owner)
	})
}

func benchmarkCall(b *testing.B, c *cluster, ofClient, ofTab *node) {
	p := &page{user: "ann", key: "tab", url: "ws://" + ofTab.addr + "/tabs", token: c.token("ann"), problem: b.Errorf}
	p.open()
	defer p.close()
	select {
	case <-p.joined:
	case <-time.After(timeout):
		b.Fatal("the tab has not joined")
	}
	a := c.agent("ann", ofClient)
	defer a.face.close()
	wait(b, "the tools are listed", func() bool { return a.list() && len(a.names) >= 3 })
	buy := a.names[slices.IndexFunc(a.names, func(name string) bool { return strings.HasSuffix(name, "_buy") })]
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if !a.call(buy, fmt.Sprint(len(took))) {
			b.Fatal("a call does not work")
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// agent is a client of revision 2026-07-28 that is connected to a node.
func (c *cluster) agent(user string, n *node) *agent {
	return &agent{user: user, name: "lone", face: &loneFace{poster: newPoster(c.token(user)), url: "http://" + n.addr + "/mcp", name: "lone"}}
}

// owner returns the node that has a user, once somebody has asked for that.
func (c *cluster) owner(t testing.TB, user string) *node {
	t.Helper()
	a := c.agent(user, c.nodes[0])
	defer a.face.close()
	wait(t, "the user is served", a.list)
	h := newHistory()
	j := followJournals(t, c.nats.Conn(t), h)
	j.await()
	name := ""
	for _, e := range h.Events() {
		if e.Kind == Wrote && e.User == user {
			name, _, _ = strings.Cut(e.By, "/")
		}
	}
	for _, n := range c.nodes {
		if n.name == name {
			return n
		}
	}
	t.Fatalf("%s is at %q", user, name)
	return nil
}
