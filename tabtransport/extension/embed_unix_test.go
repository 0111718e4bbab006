//go:build unix

package extension_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/tabtest"
)

func write(t *testing.T, dir string) error {
	t.Helper()
	_, err := extension.Write(dir, tabtest.NewPairings(t).Ring, "ws://127.0.0.1:3300/tabs")
	return err
}

// What the browser loads sees every page, so no other user may be able to change it.
func TestWriteIsForItsOwner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := write(t, dir); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if fi, err := e.Info(); err != nil || fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, fi.Mode(), err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Where others can write, they can have another extension loaded: which paths are safe is decided
// by private.CheckPath, and nothing is written where it says no.
func TestWriteRefusesDirectoriesOfOthers(t *testing.T) {
	top := t.TempDir()
	all := filepath.Join(top, "all")
	if err := os.Mkdir(all, 0o700); err != nil {
		t.Fatal(err)
	}
	// t.TempDir may be closed to others.
	for dir, mode := range map[string]os.FileMode{filepath.Dir(top): 0o755, top: 0o755, all: 0o777} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{all, filepath.Join(all, "new")} {
		if err := write(t, dir); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if entries, err := os.ReadDir(all); err != nil || len(entries) > 0 {
		t.Errorf("something was written: %v, %v", entries, err)
	}
}

// A link in the directory leads nothing out of it.
func TestWriteFollowsNoLinkOut(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := write(t, dir); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(outside, "kept")
	if err := os.WriteFile(kept, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"worker", "popup.html", "pairing.json"} {
		path := filepath.Join(dir, name)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		to := outside
		if name != "worker" {
			to = kept
		}
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(t, dir); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(kept); err != nil || string(text) != "kept" {
		t.Errorf("a file outside: %q, %v", text, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("the directory outside: %v, %v", entries, err)
	}
	if fi, err := os.Lstat(filepath.Join(dir, "worker")); err != nil || !fi.IsDir() {
		t.Errorf("worker: %v, %v", fi, err)
	}
}
