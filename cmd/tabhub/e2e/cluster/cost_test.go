//go:build unix

package cluster

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tabhub/cmd/tabhub/e2e/cluster/history"
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
	h := history.New()
	j := followJournals(t, c.nats.Conn(t), h)
	j.await()
	name := ""
	for _, e := range h.Events() {
		if e.Kind == history.Wrote && e.User == user {
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

// BenchmarkTakeover measures the first request of a user whose node is gone: another one claims and
// loads what the user had, 20 tabs that are away. That the lease has ended comes before it, and is
// not in the time.
func BenchmarkTakeover(b *testing.B) {
	c := startCluster(b, 3)
	const users = 100
	var took []time.Duration
	for b.Loop() {
		var names []string
		for i := range users {
			names = append(names, fmt.Sprintf("user%02d-%d", i, len(took)))
		}
		c.each(b, names, c.nodes[1])
		c.nodes[0].kill()
		h := history.New()
		j := followJournals(b, c.nats.Conn(b), h)
		j.await()
		var struck []string
		for _, e := range h.Events() {
			if e.Kind == history.Wrote && e.Name == "claim" && strings.HasPrefix(e.By, c.nodes[0].name+"/") && slices.Contains(names, e.User) {
				struck = append(struck, e.User)
			}
		}
		// The first of them waits for the end of the lease.
		c.each(b, struck[:1], c.nodes[1])
		for _, user := range struck[1:] {
			a := c.agent(user, c.nodes[2])
			began := time.Now()
			if !a.list() {
				b.Fatalf("%s is not served", user)
			}
			took = append(took, time.Since(began))
			a.face.close()
		}
		c.nodes[0].start()
		c.nodes[0].awaitReady()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(len(took)), "users")
}

// each has users make a request to a node, eight at a time.
func (c *cluster) each(t testing.TB, users []string, n *node) {
	t.Helper()
	next := make(chan string)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for user := range next {
				a := c.agent(user, n)
				if !a.list() {
					t.Errorf("%s is not served", user)
				}
				a.face.close()
			}
		})
	}
	for _, user := range users {
		next <- user
	}
	close(next)
	all.Wait()
}

// BenchmarkIdleUsers measures what 10,000 users cost who have made a request and are idle since:
// memory of all nodes, and messages that are written to NATS. TABHUB_CLUSTER_USERS sets another
// number.
func BenchmarkIdleUsers(b *testing.B) {
	for _, nodes := range []int{1, 3} {
		b.Run(fmt.Sprintf("%d nodes", nodes), func(b *testing.B) {
			c := startCluster(b, nodes)
			n := number("TABHUB_CLUSTER_USERS", 10_000)
			before := c.memory(b)
			var users []string
			for i := range n {
				users = append(users, fmt.Sprintf("user%05d", i))
			}
			began := time.Now()
			c.each(b, users, c.nodes[0])
			took := time.Since(began)
			for b.Loop() {
			}
			b.ReportMetric(float64(c.memory(b)-before)/float64(n), "B/user")
			b.ReportMetric(float64(n)/took.Seconds(), "opened/s")
			if c.nats == nil {
				return
			}
			const idle = 10 * time.Second
			first := c.messages(b)
			pause(context.Background(), idle)
			b.ReportMetric(float64(c.messages(b)-first)/idle.Seconds(), "messages/s")
		})
	}
}

// memory is that of all nodes' processes, in bytes.
func (c *cluster) memory(t testing.TB) (sum int64) {
	t.Helper()
	for _, n := range c.nodes {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.process.Cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(status), "VmRSS:")
		kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += kb << 10
	}
	return sum
}

// messages is how many were written to all streams so far.
func (c *cluster) messages(t testing.TB) (sum uint64) {
	t.Helper()
	js, err := jetstream.New(c.nats.Conn(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	list := js.ListStreams(ctx)
	for info := range list.Info() {
		sum += info.State.LastSeq
	}
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return sum
}
