// Package extension holds tabhub's companion browser extension and writes it out for
// a browser to load. README.md says how the extension is built.
package extension

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tabhub/storage/private"
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

// Write writes the extension to dir, for "Load unpacked". It makes dir if need be, for its
// owner alone, and brings a copy that it wrote before up to date; a directory that holds
// anything else is left alone. So is one that others could put another in the place of:
// what is loaded from it sees every page.
func Write(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("write extension: %w", err)
	}
	// Nothing is made where it could be led elsewhere, nor is what others make meanwhile
	// used.
	for range 2 {
		if err := private.CheckPath(dir); err != nil {
			return fmt.Errorf("write extension: others could change what is in %s: %w; or name another directory", dir, err)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("write extension: %w", err)
		}
	}
	return write(dir, nil)
}

// WriteInstance is Write for a browser that a hub starts itself: that copy connects to
// hubURL, a WebSocket address, and says nonce in its hello, so that the hub knows it.
// Whoever can read dir can pretend to be that browser. The caller sees to it that others
// cannot reach dir.
func WriteInstance(dir, hubURL, nonce string) error {
	text, err := json.Marshal(map[string]string{"hub": hubURL, "nonce": nonce})
	if err != nil {
		return fmt.Errorf("write extension: %w", err)
	}
	return write(dir, map[string][]byte{instanceFile: text})
}

// write writes the extension to dir with further files, by name. It follows no link out
// of dir.
func write(dir string, further map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write extension: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("write extension: %w", err)
	}
	defer root.Close()
	if err := check(root); err != nil {
		return err
	}
	if err := root.Chmod(".", 0o700); err != nil {
		return fmt.Errorf("write extension: %w", err)
	}
	// What an older version had and this one does not must not be loaded with it.
	if err := empty(root); err != nil {
		return fmt.Errorf("write extension: %w", err)
	}
	if err := fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if e.IsDir() {
			return root.Mkdir(name, 0o700)
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		return root.WriteFile(name, text, 0o600)
	}); err != nil {
		return fmt.Errorf("write extension: %w", err)
	}
	for name, text := range further {
		if err := root.WriteFile(name, text, 0o600); err != nil {
			return fmt.Errorf("write extension: %w", err)
		}
	}
	return nil
}

// check returns an error if a directory holds anything but a copy of this extension.
func check(root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	switch {
	case err != nil:
		return fmt.Errorf("write extension: %w", err)
	case len(entries) == 0:
		return nil
	}
	var theirs, ours struct{ Key string }
	text, err := root.ReadFile("manifest.json")
	if err == nil {
		err = json.Unmarshal(text, &theirs)
	}
	if err == nil {
		err = json.Unmarshal(manifest(), &ours)
	}
	if err != nil || theirs.Key != ours.Key {
		return fmt.Errorf("write extension: %s is not empty and holds something else; name a new or empty directory", root.Name())
	}
	return nil
}

func empty(root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := root.RemoveAll(e.Name()); err != nil {
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
