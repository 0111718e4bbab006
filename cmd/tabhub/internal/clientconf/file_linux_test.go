package clientconf

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// asNobody runs f as a user who is not root, so that modes apply, and returns that user's directory.
func asNobody(t *testing.T, f func(dir string)) {
	dir, err := os.MkdirTemp("", "clientconf-") // t.TempDir is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if os.Getuid() == 0 {
		const id = 65534
		if err := os.Chown(dir, id, id); err != nil {
			t.Fatal(err)
		}
		// It is the thread's, and changes nothing for other tests.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := syscall.Setfsuid(id); err != nil {
			t.Skip(err)
		}
		defer syscall.Setfsuid(0)
	}
	f(dir)
}

func TestProtectedPlaces(t *testing.T) {
	asNobody(t, func(dir string) {
		path := filepath.Join(dir, "mcp.json")
		if err := os.WriteFile(path, []byte("1"), 0o400); err != nil {
			t.Fatal(err)
		}
		if _, err := Write(path, []byte("1"), []byte("2"), now); !errors.Is(err, os.ErrPermission) {
			t.Errorf("a file that its owner has protected was replaced: %v", err)
		}
		os.Chmod(path, 0o600)
		os.Chmod(dir, 0o500)
		if _, err := Write(path, []byte("1"), []byte("2"), now); !errors.Is(err, os.ErrPermission) {
			t.Errorf("a file was written where none can be made: %v", err)
		}
		if _, err := Write(filepath.Join(dir, "new.json"), nil, []byte("2"), now); !errors.Is(err, os.ErrPermission) {
			t.Errorf("a file was made where none can be: %v", err)
		}
		if b, _ := os.ReadFile(path); string(b) != "1" {
			t.Errorf("it is now %q", b)
		}
		onlyFiles(t, dir, 1)
		os.Chmod(path, 0)
		if _, err := read(path); !errors.Is(err, os.ErrPermission) {
			t.Errorf("what may not be read was taken for nothing: %v", err)
		}
	})
}
