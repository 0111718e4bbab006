package private

import (
	"os"
	"path/filepath"
)

// Replace writes a file that its owner alone may read and write. A reader finds the old
// text or the new, as a whole. A durable one is on the disk when Replace returns, which
// takes milliseconds.
func Replace(path string, text []byte, durable bool) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil && durable {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
