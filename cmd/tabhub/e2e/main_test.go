package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"tabhub/tabtransport/tabtest/chromium"
)

// timeout bounds each step that waits for a process, on a busy machine.
const timeout = 40 * time.Second

// program is the tabhub that is tested.
var program string

// parts are what this program does as another user, in the place of tests: see asOther.
var parts map[string]func(in *json.Decoder, out *json.Encoder) error

// partVar names the part in the environment.
const partVar = "TABHUB_E2E_PART"

func TestMain(m *testing.M) {
	if part := parts[os.Getenv(partVar)]; part != nil {
		if err := part(json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
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
	if program, err = build(dir, "v1.0.0"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return chromium.Main(m)
}

// build builds a release of tabhub.
func build(dir, release string) (path string, err error) {
	path = filepath.Join(dir, "tabhub-"+release)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	args := append([]string{"build", "-o", path, "-ldflags", "-X main.release=" + release}, buildFlags...)
	if out, err := exec.Command("go", append(args, "tabhub/cmd/tabhub")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building tabhub: %w\n%s", err, out)
	}
	return path, nil
}
