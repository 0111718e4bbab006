//go:build unix

package storage_test

import (
	"syscall"
	"testing"
)

// limitFileSize makes the system refuse to write beyond n bytes of any file, as a
// full disk does, until restore is called.
func limitFileSize(t *testing.T, n uint64) (restore func()) {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	set := func(l syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
			t.Fatal(err)
		}
	}
	set(syscall.Rlimit{Cur: n, Max: old.Max})
	restore = func() { set(old) }
	t.Cleanup(restore)
	return restore
}
