package home

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

const extensionsName = "extensions"

// Extensions returns the directories that the extension was written to, the oldest
// first. The user may have deleted them since.
func (d Dir) Extensions() ([]string, error) {
	b, err := os.ReadFile(d.path(extensionsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("where the extension was written to cannot be read: %w", err)
	}
	var dirs []string
	for line := range strings.Lines(string(b)) {
		var dir string // one line each, as JSON
		if json.Unmarshal([]byte(line), &dir) == nil && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// AddExtension records that the extension was written to dir, an absolute path.
func (d Dir) AddExtension(dir string) error {
	if dirs, err := d.Extensions(); err != nil || slices.Contains(dirs, dir) {
		return err
	}
	line, err := json.Marshal(dir)
	if err != nil {
		return err
	}
	// A line is appended as a whole, also when two commands run at once.
	f, err := os.OpenFile(d.path(extensionsName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("where the extension was written to cannot be kept: %w", err)
	}
	return nil
}
