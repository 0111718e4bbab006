package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// patience bounds each step that waits for a process, on a busy machine.
const patience = 40 * time.Second

// program is the tabhub that is tested.
var program string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

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
	program = filepath.Join(dir, "tabhub")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	build := exec.Command("go", append([]string{"build", "-o", program}, append(buildFlags, "tabhub/cmd/tabhub")...)...)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building tabhub: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
