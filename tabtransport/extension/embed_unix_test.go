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

// What the browser loads sees every page, so nobody else may be able to change it.
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

// Where others can write, or swap directories, they can have another extension loaded.
func TestWriteRefusesDirectoriesOfOthers(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{filepath.Dir(top), top} {
		if err := os.Chmod(dir, 0o755); err != nil { // t.TempDir may be closed to others
			t.Fatal(err)
		}
	}
	mkdir := func(name string, mode os.FileMode) string {
		t.Helper()
		dir := filepath.Join(top, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	refused := func(dir, why string) {
		t.Helper()
		if err := write(t, dir); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want an error with %q", dir, err, why)
		}
		if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err == nil {
			t.Errorf("%s has been written to", dir)
		}
	}
	refused(mkdir("all", 0o777), "chmod go-w")
	refused(mkdir("sticky", 0o777|os.ModeSticky), "chmod go-w")
	refused(filepath.Join(top, "all", "new"), "chmod go-w")
	refused(filepath.Join(mkdir("group", 0o775), "new", "dir"), "chmod go-w")
	if err := write(t, filepath.Join(top, "sticky", "new")); err != nil {
		t.Errorf("in a directory as /tmp: %v", err)
	}

	needRoot(t)
	stranger := mkdir("stranger", 0o777)
	if err := os.Chown(stranger, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	refused(stranger, "another user")
	refused(filepath.Join(stranger, "new"), "another user")
	link := filepath.Join(top, "sticky", "link")
	if err := os.Symlink(mkdir("mine", 0o700), link); err != nil {
		t.Fatal(err)
	}
	if err := write(t, link); err != nil {
		t.Errorf("by a link of one's own: %v", err)
	}
	link = filepath.Join(top, "sticky", "theirs")
	if err := os.Symlink(mkdir("lured", 0o700), link); err != nil {
		t.Fatal(err)
	}
	if err := os.Lchown(link, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	refused(link, "another user")
	if _, err := os.Stat(filepath.Join(stranger, "new")); err == nil {
		t.Error("a directory was made in a stranger's")
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

// needRoot skips a test that gives files to another user.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		missing(t, "this test gives files to another user, which only root may")
	}
}
