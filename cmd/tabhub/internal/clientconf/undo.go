package clientconf

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Before returns the text that the file at path had before the server name was added,
// if a backup beside it shows that the addition is all that tells that text from after,
// which is without the server again. Else it returns after. Remove alone cannot know
// whether the section was there before.
func (c Client) Before(path, name string, after []byte) []byte {
	for _, backup := range backups(path) {
		text, err := Read(backup)
		if err != nil || c.has(text, name) {
			continue
		}
		added, err := c.Add(text, name, Entry{})
		if err != nil {
			continue
		}
		if removed, err := c.Remove(added, name); err == nil && bytes.Equal(removed, after) {
			return text
		}
	}
	return after
}

// backups returns the copies that Write has left of the file at path, latest first.
func backups(path string) (paths []string) {
	path, err := resolve(path)
	if err != nil {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Dir(path)) // sorted
	for _, e := range slices.Backward(entries) {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+".") && strings.HasSuffix(e.Name(), ".bak") {
			paths = append(paths, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return paths
}

// has reports whether a text has the server name, or cannot be read.
func (c Client) has(text []byte, name string) (found bool) {
	all, err := c.servers(text)
	_, found = all[name]
	return found || err != nil
}
