//go:build unix

package cluster

import (
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

// replace ends the process as an operator does, who waits for it, and starts the next.
func (n *node) replace() {
	n.process.Stop()
	n.start()
	n.awaitReady()
}

// cluster is a NATS, its nodes and a balancer in front of them. With one node and no NATS it is
// the hub of one machine, which has to pass the same tests.
type cluster struct {
	t        testing.TB
	nats     *natstest.Cluster
	nodes    []*node
	balancer *balancer
	secret   []byte // of users' tokens
}

// startCluster starts n nodes, on NATS if there is more than one, and waits until they are ready.
func startCluster(t testing.TB, n int, flags ...string) *cluster {
	t.Helper()
	c := &cluster{t: t, secret: []byte(strings.Repeat("0123456789abcdef", 4))}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	jwt, shared := write("jwt", string(c.secret)), write("secret", strings.Repeat("a secret of the cluster ", 2))
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "TABHUB_") })
	env = append(env, "TABHUB_POLICY=open", "GORACE=atexit_sleep_ms=0")
	if n > 1 {
		if help, err := exec.Command(program, "serve", "--help").Output(); err != nil || !strings.Contains(string(help), "--cluster-secret") {
			t.Skipf("this tabhub has no clusters: %v", err)
		}
		c.nats = natstest.Start(t, 3)
	}
	health := "/healthz" // of one hub, /readyz is a user's
	if n > 1 {
		health = "/readyz"
	}
	var addrs []string
	for i := range n {
		x := &node{t: t, name: fmt.Sprint("n", i+1), addr: porttest.Free(t), health: health, env: env}
		x.args = append([]string{
			"serve", "--listen", x.addr, "--data-dir", filepath.Join(dir, x.name), "--auth", "jwt", "--jwt-secret", jwt,
			"--allow-host", "127.0.0.1", "--log-level", "warn", "--expose", "all", "--tab-names", "always",
		}, flags...)
		if n > 1 {
			var urls []string
			for _, url := range c.nats.URLs() {
				w := natstest.NewProxy(t, url)
				x.wires = append(x.wires, w)
				urls = append(urls, w.URL())
			}
			x.args = append(x.args, "--cluster", strings.Join(urls, ","), "--node-name", x.name,
				"--node-url", "https://"+porttest.Free(t), "--cluster-secret", shared)
		}
		c.nodes = append(c.nodes, x)
		addrs = append(addrs, x.addr)
		x.start()
		t.Cleanup(x.end)
	}
	for _, x := range c.nodes {
		x.awaitReady()
	}
	c.balancer = newBalancer(t, addrs, health)
	for _, be := range c.balancer.backends {
		wait(t, "the balancer knows the nodes", be.isReady)
	}
	return c
}

// token returns a user's token.
func (c *cluster) token(user string) string {
	return rig.Sign(c.secret, map[string]any{"user_id": user, "exp": time.Now().Add(24 * time.Hour).Unix()})
}
