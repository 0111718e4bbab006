package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/cmd/tabhub/internal/porttest"
	"tabhub/storage/jetstream/natstest"
)

// nodesVar, if it is set, makes each place a cluster: what a test starts is the node that its
// clients reach, its tabs come to a second one, and a third has the users. What is one machine's
// (files, sockets and browsers) is not there then, so the tests of that fail.
const nodesVar = "TABHUB_E2E_NODES"

// nodes are those of a place beside the one that a test starts.
type nodes struct {
	tabs  string // where tabs come
	start sync.Once
}

// join makes the place a node of a cluster of three.
func (p *place) join() {
	p.t.Helper()
	secret := filepath.Join(p.t.TempDir(), "cluster")
	if err := os.WriteFile(secret, []byte(strings.Repeat("a secret of the cluster ", 2)), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.nodes = &nodes{tabs: porttest.Free(p.t)}
	p.env = append(p.env, "TABHUB_CLUSTER="+strings.Join(natstest.Start(p.t, 1).URLs(), ","), "TABHUB_CLUSTER_SECRET="+secret,
		"TABHUB_NODE_NAME=clients", "TABHUB_NODE_URL=https://"+porttest.Free(p.t))
}

// startNodes starts the other nodes, with the flags of the first. One of them is there before
// the others, and has the users.
func (p *place) startNodes(flags ...string) {
	p.t.Helper()
	if p.nodes == nil {
		return
	}
	p.nodes.start.Do(func() {
		for _, n := range []struct{ name, listen string }{{"owner", porttest.Free(p.t)}, {"tabs", p.nodes.tabs}} {
			args := append([]string{"serve", "--listen", n.listen, "--node-name", n.name, "--node-url", "https://" + porttest.Free(p.t)}, flags...)
			cmd := p.command(args...)
			cmd.Args[len(cmd.Args)-1] = filepath.Join(p.t.TempDir(), n.name) // its data directory
			node := rig.Start(p.t, cmd)
			p.t.Cleanup(node.Stop)
			node.Stderr.Await(p.t, "listening on ")
		}
	})
}
