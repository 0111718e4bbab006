// Package extension holds tabhub's companion browser extension and writes it out for
// a browser to load. README.md says how the extension is built.
package extension

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ID is the extension's id in every browser: the key in its manifest fixes it. Origin
// is what its WebSocket says that it comes from.
const (
	ID     = "jpcacgpeclagoffkdenbejkkhccjhofc"
	Origin = "chrome-extension://" + ID
)

//go:embed manifest.json README.md *.html *.css *.js content/*.js worker/*.js icons/*.png
var files embed.FS

// instanceFile tells a copy of the extension which hub it belongs to.
const instanceFile = "instance.json"

// Write writes the extension to dir, for "Load unpacked". It makes dir if need be and
// brings a copy that it wrote before up to date; a directory that holds anything else
// is left alone.
func Write(dir string) error { return write(dir, nil) }

// WriteInstance is Write for a browser that a hub starts itself: that copy connects to
// hubURL, a WebSocket address, and says nonce in its hello, so that the hub knows it.
// Whoever can read dir can pretend to be that browser.
func WriteInstance(dir, hubURL, nonce string) error {
	text, err := json.Marshal(map[string]string{"hub": hubURL, "nonce": nonce})
	if err != nil {
		return fmt.Errorf("write extension: %w", err)
	}
	return write(dir, text)
}

func write(dir string, instance []byte) error {
	if err := check(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write extension: %w", err)
	}
	// What an older version had and this one does not must not be loaded with it.
	if err := empty(dir); err != nil {
		return fmt.Errorf("write extension: %w", err)
	}
	if err := os.CopyFS(dir, files); err != nil {
		return fmt.Errorf("write extension: %w", err)
	}
	if instance == nil {
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, instanceFile), instance, 0o600); err != nil {
		return fmt.Errorf("write extension: %w", err)
	}
	return nil
}

// check returns an error if dir holds anything but a copy of this extension.
func check(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("write extension: %w", err)
	case len(entries) == 0:
		return nil
	}
	var theirs, ours struct{ Key string }
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(text, &theirs)
	}
	if err == nil {
		err = json.Unmarshal(manifest(), &ours)
	}
	if err != nil || theirs.Key != ours.Key {
		return fmt.Errorf("write extension: %s is not empty and holds something else; name a new or empty directory", dir)
	}
	return nil
}

func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func manifest() []byte {
	text, err := files.ReadFile("manifest.json")
	if err != nil {
		panic(err) // it is compiled in
	}
	return text
}
