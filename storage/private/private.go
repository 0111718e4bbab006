// Package private checks that no other user can read or change a file or directory before
// the hub trusts its content. Its errors are sentences for the user and name the command
// that repairs the problem, if there is one.
//
// It trusts the system's superuser and the user of this process. On Windows it trusts
// everybody: there the access control lists of the user's profile protect files.
package private

import (
	"io"
	"os"
)

// ReadSecret reads a file that no other user may read. As with the keys of other servers,
// a file of root may be readable for a group.
func ReadSecret(path string) ([]byte, error) { return read(path, checkSecret) }

// Read reads a file that all users may read, but no other user may change.
func Read(path string) ([]byte, error) {
	return read(path, func(path string, fi os.FileInfo) error { return checkFile(path, fi) })
}

// read looks at the file that is open, which none of another name can take the place of.
func read(path string, check func(path string, fi os.FileInfo) error) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := check(path, fi); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}
