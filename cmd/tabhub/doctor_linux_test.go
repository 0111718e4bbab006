package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"tabhub/cmd/tabhub/internal/command"
)

// A hub that once ran with sudo leaves files that are root's, and the next hub does not
// start.
func TestDoctorOnFilesOfRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("makes files of another user")
	}
	dir, err := os.MkdirTemp("", "tabhub-doctor-") // t.TempDir is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, name := range []string{"hub.lock", "tabhub.db", "token"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("0123456789012345678901\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	os.Chmod(dir, 0o755)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := syscall.Setfsuid(65534); err != nil { // of this thread only
		t.Skip(err)
	}
	code, out, _ := runIn(t, dir, "doctor")
	syscall.Setfsuid(0)
	if code != command.ExitError || strings.Count(out, "you may not use it") != 3 || !strings.Contains(out, "sudo") || !strings.Contains(out, "nothing can be written") {
		t.Errorf("%d\n%s", code, out)
	}
}
