package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Whoever writes a peer from the schema must get what the hub speaks.
func TestSchemaIsUpToDate(t *testing.T) {
	t.Chdir("../..") // where go generate runs
	want, err := generate(".")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale: run go generate ./spec", filepath.ToSlash(file))
	}
}
