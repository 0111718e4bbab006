package storage_test

import (
	"path/filepath"
	"testing"

	"tabhub/storage"
	"tabhub/storage/storagetest"
)

func TestBolt(t *testing.T) {
	storagetest.Run(t, true, func(t *testing.T, dir string) storage.DomainToolStorage { return open(t, dir) })
}

func TestMemory(t *testing.T) {
	storagetest.Run(t, false, func(*testing.T, string) storage.DomainToolStorage { return &storagetest.Memory{} })
}

func open(t testing.TB, dir string) *storage.Bolt {
	t.Helper()
	b, err := storage.Open(filepath.Join(dir, "tabhub.db"), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}
