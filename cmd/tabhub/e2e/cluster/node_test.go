//go:build nightly && unix

package cluster

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/cmd/tabhub/internal/porttest"
	"tabhub/storage/jetstream/natstest"
)

// node is one node of the cluster, with the processes that run it one after the other.
type node struct {
	t       testing.TB
	name    string
	addr    string // where clients, tabs and the balancer reach it
	health  string // the path at which it says that it is ready
	args    []string
	env     []string
	wires   []*natstest.Proxy // to NATS, one for each server
	process *rig.Process
}

// start starts the node's next process, and does not wait for it.
func (n *node) start() {
	n.t.Helper()
	cmd := exec.Command(program, n.args...)
	cmd.Env = n.env
	n.process = rig.Start(n.t, cmd)
}

// awaitReady waits until the node takes connections.
func (n *node) awaitReady() {
	n.t.Helper()
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	wait(n.t, n.name+" is ready", func() bool {
		select {
		case <-n.process.Done:
			n.t.Fatalf("%s has ended: %s", n.name, n.process.Stderr)
		default:
		}
		resp, err := client.Get("http://" + n.addr + n.health)
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// end ends the node for good.
func (n *node) end() {
	n.resume()
	n.mend()
	n.process.Stop()
}

func (n *node) signal(s syscall.Signal) { n.process.Cmd.Process.Signal(s) }

// kill ends the node's process as SIGKILL does, and waits until it is gone.
func (n *node) kill() {
	n.process.Cmd.Process.Kill()
	<-n.process.Done
	rig.CheckLog(n.t, n.process.Stderr.String())
}

func (n *node) pause()  { n.signal(syscall.SIGSTOP) }
func (n *node) resume() { n.signal(syscall.SIGCONT) }

func (n *node) cut() {
	for _, w := range n.wires {
		w.Cut()
	}
}

func (n *node) mend() {
	for _, w := range n.wires {
		w.Mend()
	}
}

// replace stops the process and waits for it, as an operator does, and starts the next.
func (n *node) replace() {
	n.process.Stop()
	n.start()
	n.awaitReady()
}

// cluster is a NATS, its nodes and a balancer in front of them. With one node and no NATS it is a
// hub on one machine, which must pass the same tests.
type cluster struct {
	t        testing.TB
	nats     *natstest.Cluster
	nodes    []*node
	balancer *balancer
	secret   []byte // of users' tokens
	dir      string
}

// startCluster starts n nodes, on NATS if there is more than one, and waits until they are ready.
func startCluster(t testing.TB, n int, flags ...string) *cluster {
	t.Helper()
	c := newCluster(t)
	if n > 1 {
		c.nats = natstest.Start(t, 3)
	}
	for i := range n {
		c.nodes = append(c.nodes, c.newNode(fmt.Sprint("n", i+1), flags...))
	}
	c.start()
	return c
}

// start starts the nodes, and a balancer when they are ready.
func (c *cluster) start() {
	c.t.Helper()
	var addrs []string
	for _, x := range c.nodes {
		addrs = append(addrs, x.addr)
		x.start()
		c.t.Cleanup(x.end)
	}
	for _, x := range c.nodes {
		x.awaitReady()
	}
	c.balancer = newBalancer(c.t, addrs, c.nodes[0].health)
	for _, be := range c.balancer.backends {
		wait(c.t, "the balancer knows the nodes", be.isReady)
	}
}

// newCluster makes a cluster without NATS and nodes.
func newCluster(t testing.TB) *cluster {
	return &cluster{t: t, secret: []byte(strings.Repeat("0123456789abcdef", 4)), dir: t.TempDir()}
}

// file writes a file that only its owner may read.
func (c *cluster) file(name, text string) (path string) {
	c.t.Helper()
	path = filepath.Join(c.dir, name)
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return path // a node may be reading it
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// newNode makes a node that does not run yet. Flags come last, and win.
func (c *cluster) newNode(name string, flags ...string) *node {
	c.t.Helper()
	x := &node{t: c.t, name: name, addr: porttest.Free(c.t), health: "/healthz"} // of one hub, /readyz is a user's
	x.env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "TABHUB_") })
	x.env = append(x.env, "TABHUB_POLICY=open", "GORACE=atexit_sleep_ms=0")
	x.args = []string{
		"serve", "--listen", x.addr, "--data-dir", filepath.Join(c.dir, name), "--auth", "jwt", "--jwt-secret", c.file("jwt", string(c.secret)),
		"--set", "allow-host=127.0.0.1", "--log-level", cmp.Or(os.Getenv("TABHUB_CLUSTER_LOG"), "warn"), "--expose", "all", "--set", "tab-names=always",
	}
	if !slices.Contains(flags, "--auth") {
		x.args = append(x.args, "--set", "user-rate=0") // a benchmark is one user
	}
	if c.nats != nil {
		var urls []string
		for _, url := range c.nats.URLs() {
			w := natstest.NewProxy(c.t, url)
			x.wires = append(x.wires, w)
			urls = append(urls, w.URL())
		}
		c.join(x, "--set", "cluster="+strings.Join(urls, ","))
	}
	x.args = append(x.args, flags...)
	return x
}

// join makes a node one of the cluster's.
func (c *cluster) join(x *node, flags ...string) {
	x.health = "/readyz"
	x.args = append(append(x.args, flags...), "--set", "node-name="+x.name, "--set", "node-url=https://"+porttest.Free(c.t),
		"--set", "cluster-secret="+c.file("secret", strings.Repeat("a secret of the cluster ", 2)))
}

// token returns a user's token.
func (c *cluster) token(user string) string {
	return rig.Sign(c.secret, map[string]any{"user_id": user, "exp": time.Now().Add(24 * time.Hour).Unix()})
}
