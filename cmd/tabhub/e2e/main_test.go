package e2e

import (
	"fmt"
	"os"
	"testing"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/tabtransport/tabtest/chromium"
)

// timeout bounds each step that waits for a process, on a busy machine.
const timeout = rig.Timeout

// program is the tabhub that is tested.
var program string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tabhub-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // a test runs it as another user
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if program, err = rig.Build(dir, "v1.0.0"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return chromium.Main(m)
}
