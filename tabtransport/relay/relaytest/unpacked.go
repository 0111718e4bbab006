package relaytest

import (
	"embed"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

//go:embed extension
var extension embed.FS

// Config says where an unpacked extension connects, and as what.
type Config struct {
	URL   string `json:"url"`
	Name  string `json:"name"`
	Token string `json:"token"`
	Raw   bool   `json:"raw"` // it is one of the predecessor
}

// Unpacked returns a directory with an extension that a Chromium can load.
func Unpacked(t testing.TB, c Config) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, extension); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "extension")
	config, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.js"), append([]byte("const config = "), config...), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
