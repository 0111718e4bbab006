//go:build unix

package cluster

import (
	"context"
	"net"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tabhub/cmd/tabhub/internal/porttest"
	"tabhub/storage/jetstream/natstest"
)

// A node that would harm the cluster, or be of no use in it, says in one sentence what is wrong,
// and the cluster goes on.
func TestNodesThatAreRefused(t *testing.T) {
	c := startCluster(t, 3)
	without := newCluster(t)
	without.nats = natstest.StartOptions(t, 1, natstest.Options{NoJetStream: true})
	alone := c.newNode("n4")
	alone.args[slices.Index(alone.args, "--cluster")+1] = "nats://" + porttest.Free(t)
	_, port, _ := net.SplitHostPort(porttest.Free(t))
	for what, test := range map[string]struct {
		node *node
		want string
	}{
		"a name that is in use":          {c.newNode("n4", "--node-name", "n1"), `\bn1\b.*another name`},
		"another secret":                 {c.newNode("n4", "--cluster-secret", c.file("other", strings.Repeat("another secret ", 3))), `--cluster-secret`},
		"a URL that others cannot reach": {c.newNode("n4", "--node-url", "https://nobody.invalid:"+port), `https://nobody\.invalid:`},
		"a NATS without JetStream":       {without.newNode("n4"), `JetStream`},
		"no NATS":                        {alone, `NATS`},
	} {
		t.Run(strings.ReplaceAll(what, " ", "_"), func(t *testing.T) { test.node.refused(t, test.want) })
	}
	t.Run("a_cluster_of_a_newer_version", func(t *testing.T) {
		nc := c.nats.Conn(t)
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		stream, err := js.Stream(ctx, "KV_TABHUB_CLUSTER")
		if err != nil {
			t.Fatal(err)
		}
		config := stream.CachedInfo().Config
		config.Metadata["tabhub-format"] = "99"
		if _, err := js.UpdateStream(ctx, config); err != nil {
			t.Fatal(err)
		}
		c.newNode("n4").refused(t, `newer`)
	})
	for _, n := range c.nodes {
		n.awaitReady()
	}
}

// refused starts a node, which must end and say why.
func (n *node) refused(t *testing.T, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, n.args...)
	cmd.Env = n.env
	out, err := cmd.CombinedOutput()
	said := strings.TrimSpace(string(out))
	if ctx.Err() != nil || err == nil {
		t.Fatalf("the node runs: %v %s", err, said)
	}
	t.Log(said)
	if strings.Contains(said, "\n") || !strings.HasPrefix(said, "tabhub: ") || !regexp.MustCompile(want).MatchString(said) {
		t.Errorf("the node says %q, want one sentence with %s", said, want)
	}
}

// A node whose name another has taken while it was stopped is of no use: its process ends, says why,
// and fails, so that whatever runs it shows that.
func TestNodeThatIsReplaced(t *testing.T) {
	c := startCluster(t, 3)
	old := c.nodes[0]
	old.pause()
	other := c.newNode("n4", "--node-name", old.name)
	other.start()
	t.Cleanup(other.end)
	other.awaitReady()
	old.resume()
	select {
	case <-old.process.Done:
	case <-time.After(timeout):
		t.Fatal("it goes on")
	}
	if said := old.process.Stderr.String(); old.process.Cmd.ProcessState.ExitCode() == 0 || !strings.Contains(said, "another node has taken the name") {
		t.Errorf("%s: %s", old.process.Cmd.ProcessState, said)
	}
}
