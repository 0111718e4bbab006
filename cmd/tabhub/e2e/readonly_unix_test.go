//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/spec/rawjson"
)

// A read-only data directory must not look like a hub without tools: the client and the
// person at the terminal get an error.
func TestReadOnlyDataDir(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("", "tabhub-readonly-") // t.TempDir is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	for dir, mode := range map[string]os.FileMode{base: 0o755, filepath.Join(base, "data"): 0o555} {
		os.Mkdir(dir, 0o755)
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{filepath.Join(base, "data"), filepath.Join(base, "data", "below")} {
		p := newPlace(t)
		p.dir = home.Dir(dir)
		if os.Getuid() == 0 { // root ignores file modes
			p.prepare = func(cmd *exec.Cmd) {
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			}
		}
		_, stderr, exit := p.run("serve", "--listen", "127.0.0.1:0")
		if exit != 2 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "--data-dir") {
			t.Errorf("%s: serve ended with %d and said %q, want 2 and one sentence with --data-dir", dir, exit, stderr)
		}
		c := p.stdioRaw()
		message, _ := rawjson.String(rawjson.Get(c.ask("initialize", initializeParams).err, "message"))
		if !strings.Contains(message, "--data-dir") {
			t.Errorf("%s: the client gets %q, want what to do", dir, message)
		}
		c.process.AwaitEnd()
		if exit := c.process.Cmd.ProcessState.ExitCode(); exit == 0 {
			t.Errorf("%s: tabhub stdio ended as if all was well", dir)
		}
	}
}
