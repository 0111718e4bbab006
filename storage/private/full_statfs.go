//go:build linux || darwin || freebsd

package private

import "golang.org/x/sys/unix"

// outOfFiles reports whether a file system has no inodes left.
func outOfFiles(dir string) bool {
	var s unix.Statfs_t
	return unix.Statfs(dir, &s) == nil && s.Files > 0 && s.Ffree == 0
}
