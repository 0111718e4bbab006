// Package private checks that nobody else can read or change a file or directory before
// its content is trusted. Its errors are sentences for the user and, where there is one,
// name the command that mends what is wrong.
//
// It trusts the system's superuser and the user of this process. On Windows it trusts
// everybody: there the access control lists of the user's profile protect files.
package private

import (
	"io"
	"os"
)

// ReadSecret reads a file whose content nobody else may know. As with the keys of other
// servers, one that belongs to root may be readable for a group.
func ReadSecret(path string) ([]byte, error) { return read(path, checkSecret) }

// Read reads a file that everybody may know, but nobody else may change.
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
