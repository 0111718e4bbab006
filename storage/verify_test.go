package storage

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// FuzzVerify: no file makes the check itself crash, hang or eat the memory.
func FuzzVerify(f *testing.F) {
	path := filepath.Join(f.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: 1024})
	if err != nil {
		f.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		for i := range 40 {
			if err == nil {
				err = b.Put([]byte{byte(i)}, bytes.Repeat([]byte{byte(i)}, i*i*2))
			}
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	if err := db.Close(); err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	if err := verify(bytes.NewReader(data), int64(len(data)), 1024); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{0xff}, 2048+10) // the flags of a page
	f.Fuzz(func(t *testing.T, patch []byte, at int) {
		// The meta pages stay as they are: their checksums would keep the rest
		// from being read.
		d := bytes.Clone(data)
		if at >= 2048 && at < len(d) {
			copy(d[at:], patch)
		}
		verify(bytes.NewReader(d), int64(len(d)), 1024)
		verify(bytes.NewReader(patch), int64(len(patch)), 1024)
	})
}
