//go:build unix

package auth

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever reads the secret, or writes the key set, is any user that they like.
func TestFilesOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, secret)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSecret(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a secret for all: %v", err)
	}

	a, b := newIssuer("a"), newIssuer("b-longer")
	write(t, path, keySetJSON(a))
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	v, err := NewJWT(fromFile(path))
	if err != nil {
		t.Fatalf("a key set for all: %v", err)
	}
	if err := os.Chmod(path, 0o646); err != nil {
		t.Fatal(err)
	}
	if _, err := NewJWT(fromFile(path)); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("a key set by all: %v", err)
	}
	write(t, path, keySetJSON(b))
	check(t, v, b, false)
	check(t, v, a, true)
}
