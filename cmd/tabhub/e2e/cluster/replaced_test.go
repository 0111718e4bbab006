//go:build nightly && unix

package cluster

import (
	"strings"
	"testing"
	"time"
)

// A node whose name another has taken while it was stopped is of no use: its process ends, says why,
// and fails, so that whatever runs it shows that.
func TestNodeThatIsReplaced(t *testing.T) {
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
		t.Fatal("it goes on")
	}
	if said := old.process.Stderr.String(); old.process.Cmd.ProcessState.ExitCode() == 0 || !strings.Contains(said, "another node has taken the name") {
		t.Errorf("%s: %s", old.process.Cmd.ProcessState, said)
	}
}
