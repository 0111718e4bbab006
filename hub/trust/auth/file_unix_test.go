//go:build unix

package auth

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// With the secret one can be any user.
func TestSecretOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, secret)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSecret(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a secret for all: %v", err)
	}
}
