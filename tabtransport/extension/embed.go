// Package extension holds tabhub's companion browser extension and writes it out for
// a browser to load. README.md says how the extension is built.
package extension

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"tabhub/spec"
	"tabhub/storage/private"
	"tabhub/tabtransport/pairing"
)

// ID is the extension's id in every browser: the key in its manifest fixes it. Origin
// is what its WebSocket says that it comes from.
const (
	ID     = "jpcacgpeclagoffkdenbejkkhccjhofc"
	Origin = "chrome-extension://" + ID
)

// pairingFile pairs a copy of the extension with the hub that wrote it.
const pairingFile = "pairing.json"

// pairingText is what the file holds.
type pairingText struct {
	Pairing spec.PairingID `json:"pairing"`
	Hub     string         `json:"hub"`
	Key     string         `json:"key"`
	Address string         `json:"address"`
}

// Issuer makes a copy of the extension one of a hub, as *pairing.Ring does.
type Issuer interface {
	Issue(before spec.PairingID, address string) pairing.Copy
}

// Issued is an Issuer of one copy, which its hub has made one of its own already.
type Issued pairing.Copy

// Issue implements Issuer.
func (c Issued) Issue(spec.PairingID, string) pairing.Copy { return pairing.Copy(c) }

// Write writes the extension to dir, for "Load unpacked", paired with the hub of the ring at a
// WebSocket address. It makes dir if need be, for its owner alone. A copy that it wrote before it
// brings up to date, with the same pairing. It refuses a directory that holds anything else, and one
// that other users could replace: what a browser loads from it sees every page.
func Write(dir string, ring Issuer, address string) (pairing.Copy, error) {
	return normal.write(dir, ring, address)
}

// WriteTrustedInput is Write for the build that acts with trusted input: it has the permission
// "debugger", and is called so in the browser's list.
func WriteTrustedInput(dir string, ring Issuer, address string) (pairing.Copy, error) {
	return trustedInput.write(dir, ring, address)
}

func (b build) write(dir string, ring Issuer, address string) (pairing.Copy, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return pairing.Copy{}, fmt.Errorf("write extension: %w", err)
	}
	// The second look is for what others have made meanwhile.
	for range 2 {
		if err := private.CheckPath(dir); err != nil {
			return pairing.Copy{}, fmt.Errorf("write extension: others could change what is in %s: %w; or name another directory", dir, err)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return pairing.Copy{}, fmt.Errorf("write extension: %w", err)
		}
	}
	return b.writeTo(dir, ring, address)
}

// WriteInstance is Write for a browser that a hub starts itself. The caller sees to it
// that others cannot reach dir.
func WriteInstance(dir string, ring Issuer, address string) (pairing.Copy, error) {
	return normal.writeTo(dir, ring, address)
}

func (b build) writeTo(dir string, ring Issuer, address string) (pairing.Copy, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return pairing.Copy{}, fmt.Errorf("write extension: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return pairing.Copy{}, fmt.Errorf("write extension: %w", err)
	}
	defer root.Close()
	if err := check(root); err != nil {
		return pairing.Copy{}, err
	}
	var before pairingText
	if text, err := root.ReadFile(pairingFile); err == nil {
		_ = json.Unmarshal(text, &before) // one that makes no sense is replaced
	}
	c := ring.Issue(before.Pairing, address)
	text, err := json.MarshalIndent(pairingText{c.Pairing, c.Hub, c.Key.String(), c.Address}, "", "  ")
	if err == nil {
		err = b.replace(root, append(text, '\n'))
	}
	if err != nil {
		_ = empty(root) // half a copy is not loaded, and leaves room
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			e.Path = filepath.Join(dir, e.Path) // the caller does not know root
		}
		return pairing.Copy{}, fmt.Errorf("write extension: %w", err)
	}
	return c, nil
}

// Loadable is a copy of the extension that was written to a directory.
type Loadable struct {
	pairing.Copy      // the zero Copy if it is paired with no hub
	TrustedInput bool // it is as WriteTrustedInput writes it
	Current      bool // it is as Write, or WriteTrustedInput, would write it
}

// Read returns the copy of the extension in dir. The error wraps fs.ErrNotExist if there
// is none.
func Read(dir string) (Loadable, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Loadable{}, fmt.Errorf("read extension: %w", err)
	}
	defer root.Close()
	text, err := root.ReadFile("manifest.json")
	if err != nil {
		return Loadable{}, fmt.Errorf("read extension: %w", err)
	}
	b := buildOf(text)
	l := Loadable{TrustedInput: b == trustedInput, Current: b.isIn(root)}
	var has pairingText
	if text, err := root.ReadFile(pairingFile); err != nil || json.Unmarshal(text, &has) != nil {
		return l, nil
	}
	if key, err := pairing.ParseKey(has.Key); err == nil {
		l.Copy = pairing.Copy{Pairing: has.Pairing, Hub: has.Hub, Key: key, Address: has.Address}
	}
	return l, nil
}

// isIn reports whether all files in root are those of this program.
func (b build) isIn(root *os.Root) bool {
	for name, want := range b.files() {
		if got, err := root.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			return false
		}
	}
	return true
}

// replace replaces what is in root by the extension. It follows no link out of root.
func (b build) replace(root *os.Root, pairing []byte) error {
	if err := root.Chmod(".", 0o700); err != nil {
		return err
	}
	// What an older version had and this one does not must not be loaded with it.
	if err := empty(root); err != nil {
		return err
	}
	// First comes what says that the directory is the extension's, should this be cut short.
	if err := root.WriteFile("manifest.json", b.files()["manifest.json"], 0o600); err != nil {
		return err
	}
	for name, text := range b.files() {
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
			return err
		}
		if err := root.WriteFile(name, text, 0o600); err != nil {
			return err
		}
	}
	return root.WriteFile(pairingFile, pairing, 0o600)
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
		err = json.Unmarshal(normal.files()["manifest.json"], &ours)
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
