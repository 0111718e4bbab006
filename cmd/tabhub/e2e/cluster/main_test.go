//go:build nightly && unix

package cluster

import (
	"fmt"
	"os"
	"testing"
	"time"

	"tabhub/cmd/tabhub/e2e/rig"
)

// timeout bounds each step that waits for a process, on a busy machine.
const timeout = rig.Timeout

// program is the tabhub that is tested.
var program string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tabhub-cluster-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if program, err = rig.Build(dir, "v1.0.0"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// wait waits until ok, which is asked again and again.
func wait(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(timeout)
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%s: not within %v", what, timeout)
		}
	}
}
