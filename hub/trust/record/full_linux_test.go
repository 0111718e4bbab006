package record

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// A real file system that is full, and has room again.
func TestFullFileSystem(t *testing.T) {
	base := t.TempDir()
	if err := syscall.Mount("tmpfs", base, "tmpfs", 0, "size=128k"); err != nil {
		t.Skipf("a file system can be mounted by root only, and not everywhere: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(base, 0); err != nil {
			t.Error(err)
		}
	})
	dir := base + "/record"
	f := Open(dir, Options{User: "ann"})
	n := 0
	for ; f.Status().Error == ""; n++ {
		f.Append(long("before"))
		f.flush(t.Context())
	}
	if s := f.Status(); !strings.Contains(s.Error, "no space left") || n < 50 {
		t.Fatalf("after %d entries: %+v", n, s)
	}
	f.Append(entry("while"))
	f.Close() // the disk is full still
	kept := len(tools(t, dir))
	if kept < n-1 {
		t.Errorf("%d of %d entries are kept", kept, n)
	}
	if err := syscall.Mount("tmpfs", base, "tmpfs", syscall.MS_REMOUNT, "size=1m"); err != nil {
		t.Fatal(err)
	}
	fill(t, dir, "after")
	names := tools(t, dir)
	if len(names) != kept+1 || names[kept] != "after" {
		t.Errorf("%d entries, of which the last is %q", len(names), names[len(names)-1])
	}
	if _, err := os.Stat(headFile(dir)); err != nil {
		t.Error(err)
	}
	intact(t, dir)
}
