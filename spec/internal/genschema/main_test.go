package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The schema and the declarations, from which others write peers, must be what the hub speaks.
func TestFilesAreUpToDate(t *testing.T) {
	t.Chdir("../..") // where go generate runs
	files, err := generate(".")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.FromSlash(name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./spec (%v)", name, err)
		}
	}
}
