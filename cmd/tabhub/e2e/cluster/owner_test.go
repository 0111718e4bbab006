//go:build nightly && unix

package cluster

import (
	"strings"
	"testing"
)

// agent is a client of revision 2026-07-28 that is connected to a node.
func (c *cluster) agent(user string, n *node) *agent {
	return &agent{user: user, name: "lone", face: &loneFace{poster: newPoster(c.token(user)), url: "http://" + n.addr + "/mcp", name: "lone"}}
}

// owner returns the owner node of a user, after a request has opened the hub.
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
