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

	"tabhub/spec"
	"tabhub/tabtransport/pairing"
)

// ID is the extension's id in every browser: the key in its manifest fixes it. Origin
// is what its WebSocket says that it comes from.
const (
	ID     = "jpcacgpeclagoffkdenbejkkhccjhofc"
	Origin = "chrome-extension://" + ID
)

//go:embed manifest.json README.md *.html *.css *.js content/*.js worker/*.js icons/*.png
var files embed.FS

// pairingFile pairs a copy of the extension with the hub that wrote it.
const pairingFile = "pairing.json"

// pairingText is what the file holds.
type pairingText struct {
	Pairing spec.PairingID `json:"pairing"`
	Hub     string         `json:"hub"`
	Key     string         `json:"key"`
	Address string         `json:"address"`
}

// Write writes the extension to dir, for "Load unpacked", paired with the hub of the
// ring, which is expected at address, a WebSocket address. It makes dir if need be and
// brings a copy that it wrote before up to date, which stays the same pairing; a
// directory that holds anything else is left alone. Whoever can read dir can pretend to
// be that copy.
func Write(dir string, ring *pairing.Ring, address string) (pairing.Copy, error) {
	if err := check(dir); err != nil {
		return pairing.Copy{}, err
	}
	var before pairingText
	if text, err := os.ReadFile(filepath.Join(dir, pairingFile)); err == nil {
		_ = json.Unmarshal(text, &before) // one that makes no sense is replaced
	}
	c := ring.Issue(before.Pairing, address)
	text, err := json.MarshalIndent(pairingText{c.Pairing, c.Hub, c.Key.String(), c.Address}, "", "  ")
	if err == nil {
		err = write(dir, append(text, '\n'))
	}
	return c, err
}

func write(dir string, pairing []byte) error {
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
	if err := os.WriteFile(filepath.Join(dir, pairingFile), pairing, 0o600); err != nil {
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
