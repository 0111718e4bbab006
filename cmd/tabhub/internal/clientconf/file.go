package clientconf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/aymanbagabas/go-udiff"
)

// Diff shows what changes, without the lines around it: these may hold secrets of
// other servers.
func Diff(path string, before, after []byte) (string, error) {
	edits := udiff.Lines(string(before), string(after))
	return udiff.ToUnified(path, path, string(before), edits, 0)
}

// Write replaces the text of a configuration file as a whole, after it has copied the
// old one beside it, if there was one. It returns the path of the copy.
func Write(path string, before, after []byte, now time.Time) (backup string, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := fs.FileMode(0o600)
	fi, err := os.Stat(path)
	switch {
	case err == nil:
		mode = fi.Mode().Perm()
		backup = path + "." + now.Format("20060102-150405") + ".bak"
		if err := writeNew(backup, before, mode); err != nil {
			return "", fmt.Errorf("the backup cannot be written: %w", err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	temp := path + ".tabhub-new"
	if err := writeNew(temp, after, mode); err != nil {
		return backup, err
	}
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp)
		return backup, err
	}
	return backup, nil
}

// writeNew writes a file of that mode, which may be stricter than the umask.
func writeNew(path string, text []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}
