package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// On a full file system the message says where it is full, whatever cannot be written, and when there
// is room again, it is written.
func TestFileSystemThatTakesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		options string
		flags   uintptr
		files   int // that are there already
		want    string
	}{
		"full":        {"size=64k", 0, 64 << 10, "is full: make room there"},
		"many files":  {"size=1m,nr_inodes=4", 0, 1, "holds as many files as it can: delete some there"},
		"not written": {"size=1m", syscall.MS_RDONLY, 0, "can only be read: mount it so that it can be written"},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			if err := syscall.Mount("tmpfs", base, "tmpfs", 0, c.options); err != nil {
				t.Skipf("a file system can be mounted by root only, and not everywhere: %v", err)
			}
			t.Cleanup(func() {
				if err := syscall.Unmount(base, 0); err != nil {
					t.Error(err)
				}
			})
			data, extension := filepath.Join(base, "data"), filepath.Join(base, "extension")
			for _, dir := range []string{data, extension} {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			fill := filepath.Join(base, "fill")
			if c.files > 0 {
				os.WriteFile(fill, make([]byte, c.files), 0o600) // as much as there is room for
			}
			if err := syscall.Mount("tmpfs", base, "tmpfs", syscall.MS_REMOUNT|c.flags, c.options); err != nil {
				t.Fatal(err)
			}
			elsewhere := t.TempDir()
			tabhub := func(in string, args ...string) string {
				var out bytes.Buffer
				run(t.Context(), args, strings.NewReader(in), &out, &out, func(string) string { return "" })
				return out.String()
			}
			const ask = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}` + "\n"
			write := func() map[string]string {
				return map[string]string{
					data:      tabhub(ask, "stdio", "--standalone", "--listen", "127.0.0.1:0", "--data-dir", data),
					extension: tabhub("", "extension", extension, "--data-dir", elsewhere),
				}
			}
			for dir, said := range write() {
				if !strings.Contains(said, "the file system of "+dir) || !strings.Contains(said, c.want) {
					t.Errorf("%s: %s", dir, said)
				}
			}
			os.Remove(fill)
			if err := syscall.Mount("tmpfs", base, "tmpfs", syscall.MS_REMOUNT, "size=8m,nr_inodes=1000"); err != nil {
				t.Fatal(err)
			}
			for dir, said := range write() {
				if strings.Contains(said, "file system") || strings.Contains(said, "tabhub: ") {
					t.Errorf("%s, with room: %s", dir, said)
				}
			}
		})
	}
}
