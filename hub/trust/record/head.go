package record

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tabhub/storage/private"
)

// headFile is beside the directory of all records, so that it shows when one of them, or all, were
// deleted or replaced by an old copy.
func headFile(dir string) string {
	return filepath.Join(filepath.Dir(dir)+".heads", filepath.Base(dir))
}

// ReadHead returns the last line that is known to have been on the disk.
func ReadHead(dir string) (h Head, err error) {
	b, err := os.ReadFile(headFile(dir))
	if err == nil {
		err = json.Unmarshal(b, &h)
	}
	if err != nil {
		return Head{}, fmt.Errorf("read the head of the record: %w", err)
	}
	return h, nil
}

// writeHead does not wait for the disk: after a crash the head may be older than the lines, which
// does no harm.
func writeHead(dir string, h Head) error {
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	path := headFile(dir)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return private.Replace(path, append(b, '\n'), false)
}

// logKey reads the key of the digests, or makes one.
func logKey(path string) ([]byte, error) {
	key, err := os.ReadFile(path)
	if err == nil && len(key) == sha256.Size {
		return key, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	key = make([]byte, sha256.Size)
	rand.Read(key)
	return key, private.Replace(path, key, true)
}

// syncDir brings the names of a directory's files to the disk, where the system can.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
