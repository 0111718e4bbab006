package clientconf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"tabhub/storage/private"
)

// maxFile is the largest configuration file that is read.
const maxFile = 16 << 20

// read returns the text of a configuration file, nothing if there is none.
func read(path string) ([]byte, error) {
	real, err := resolve(path)
	if err != nil {
		return nil, err
	}
	fi, err := os.Stat(real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d MB, which no configuration is", path, maxFile>>20)
	}
	return text, err
}

// resolve follows links, which stay links.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	switch {
	case err == nil:
		return real, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	case isLink(path):
		return "", fmt.Errorf("%s is a link that leads nowhere; make the file that it leads to, or remove it", path)
	}
	return path, nil
}

// isLink reports whether path is a link.
func isLink(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.Mode()&fs.ModeSymlink != 0
}

// Within returns an error if a path in a project's directory leads out of it, by a link: the author
// of the project must not choose files of its user for us to write.
func Within(dir, path string) error {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	there := path // the part of it that exists
	for !exists(there) && filepath.Dir(there) != there {
		there = filepath.Dir(there)
	}
	real, err := filepath.EvalSymlinks(there)
	if err != nil {
		return err
	}
	if in, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(in) {
		return fmt.Errorf("%s leads out of the project, to %s", path, real)
	}
	return nil
}

// ErrChanged says that the file has changed since Read.
var ErrChanged = errors.New("another program has changed the file; try again")

// Write replaces a configuration file as a whole, after it has copied the old one, if there is one,
// beside it. It returns the path of the copy. An error means that nothing has changed, and that there
// is no copy.
func Write(path string, before, after []byte, now time.Time) (backup string, err error) {
	if path, err = resolve(path); err != nil {
		return "", err
	}
	if text, err := read(path); err != nil {
		return "", err
	} else if !bytes.Equal(text, before) {
		return "", ErrChanged
	}
	mode := fs.FileMode(0o600)
	fi, err := os.Stat(path)
	switch {
	case err == nil:
		mode = fi.Mode().Perm()
		if err := writable(path); err != nil {
			return "", err
		}
		if backup, err = writeBackup(path+"."+now.Format("20060102-150405"), before, mode); err != nil {
			return "", fmt.Errorf("the backup cannot be written: %w", err)
		}
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
	default:
		return "", err
	}
	if err := replace(path, after, mode); err != nil {
		if backup != "" {
			os.Remove(backup)
		}
		return "", err
	}
	return backup, nil
}

// writable returns an error for a file that its user has protected: replacing it needs only the
// right to write its directory.
func writable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// writeBackup writes a file that did not exist before.
func writeBackup(stem string, text []byte, mode fs.FileMode) (path string, err error) {
	path = stem + ".bak"
	for n := 2; ; n++ {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			path = fmt.Sprintf("%s-%d.bak", stem, n)
			continue
		}
		if err != nil {
			return "", err
		}
		if err := fill(f, text, mode); err != nil {
			os.Remove(path)
			return "", err
		}
		return path, nil
	}
}

// replace replaces a file: a reader finds the old text or the new.
func replace(path string, text []byte, mode fs.FileMode) error {
	if err := private.Replace(path, text, true); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}

// fill writes and closes f.
func fill(f *os.File, text []byte, mode fs.FileMode) error {
	_, err := f.Write(text)
	return errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
}
