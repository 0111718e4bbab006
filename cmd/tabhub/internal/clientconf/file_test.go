package clientconf

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 11, 20, 17, 0, 0, 0, time.UTC)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "real.json")
	link := filepath.Join(dir, "mcp.json")
	if backup, err := Write(path, nil, []byte("1"), now); err != nil || backup != "" {
		t.Fatalf("%q, %v", backup, err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("new", "real.json"), link); err != nil {
		t.Skip("no symbolic links here")
	}
	first, err := Write(link, []byte("1"), []byte("2"), now)
	if err != nil || first != path+".20261120-170000.bak" {
		t.Fatalf("%q, %v", first, err)
	}
	second, err := Write(link, []byte("2"), []byte("3"), now)
	if err != nil || second != path+".20261120-170000-2.bak" {
		t.Fatalf("in the same second: %q, %v", second, err)
	}
	for file, want := range map[string]string{first: "1", second: "2", path: "3"} {
		b, err := os.ReadFile(file)
		fi, _ := os.Stat(file)
		if err != nil || string(b) != want || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o640 {
			t.Errorf("%s holds %q, %v, %v", file, b, fi.Mode(), err)
		}
	}
	if fi, _ := os.Lstat(link); fi.Mode()&os.ModeSymlink == 0 {
		t.Error("the link became a file")
	}
	onlyFiles(t, filepath.Dir(path), 3)
}

// onlyFiles checks that nothing else was left in a directory.
func onlyFiles(t *testing.T, dir string, n int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != n {
		t.Errorf("%s holds %v, %v; want %d files", dir, entries, err, n)
	}
}

// What another program wrote while the user looked at the change would be lost.
func TestChangedMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	os.WriteFile(path, []byte("theirs"), 0o600)
	for _, before := range []string{"", "older"} {
		if _, err := Write(path, []byte(before), []byte("mine"), now); !errors.Is(err, ErrChanged) {
			t.Errorf("%v", err)
		}
	}
	if b, _ := os.ReadFile(path); string(b) != "theirs" {
		t.Errorf("it is now %q", b)
	}
	onlyFiles(t, filepath.Dir(path), 1)
}

func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	if text, err := read(filepath.Join(dir, "none")); text != nil || err != nil {
		t.Errorf("no file: %q, %v", text, err)
	}
	if _, err := read(dir); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("a directory: %v", err)
	}
	big := filepath.Join(dir, "big")
	os.WriteFile(big, bytes.Repeat([]byte(" "), maxFile+1), 0o600)
	if _, err := read(big); err == nil || !strings.Contains(err.Error(), "larger than 16 MB") {
		t.Errorf("a large file: %v", err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Skip("no symbolic links here")
	}
	if _, err := read(link); err == nil || !strings.Contains(err.Error(), "leads nowhere") {
		t.Errorf("a dangling link: %v", err)
	}
}
