package clientconf

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// System is where a user's programs keep their files.
type System struct {
	OS  string // as runtime.GOOS
	Env func(string) string
	Dir string // the directory of the project
}

// Path returns the client's configuration file of a scope. The file need not exist;
// for scope User its directory does.
func (c Client) Path(s System, scope Scope) (string, error) {
	paths, err := c.paths(s, scope)
	if err != nil {
		return "", fmt.Errorf("the settings of %s cannot be found: %w; pass --config FILE", c.Title, err)
	}
	if i := slices.IndexFunc(paths, exists); i >= 0 {
		return paths[i], nil
	}
	for _, path := range paths {
		if fi, err := os.Stat(filepath.Dir(path)); scope == Project || err == nil && fi.IsDir() {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w, as there is no directory %s; pass --config FILE if it is elsewhere", c.Title, ErrNotInstalled, filepath.Dir(paths[0]))
}

// exists is also true for a link that leads nowhere: it says where the file should be.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// home returns the user's home directory.
func (s System) home() (string, error) {
	name := "HOME"
	if s.OS == "windows" {
		name = "USERPROFILE"
	}
	if dir := s.Env(name); dir != "" {
		return dir, nil
	}
	return "", fmt.Errorf("$%s is not set", name)
}

// appData is where programs keep their settings.
func (s System) appData() (string, error) {
	if s.OS == "windows" {
		if dir := s.Env("APPDATA"); dir != "" {
			return dir, nil
		}
		return "", errors.New("$APPDATA is not set")
	}
	if dir := s.Env("XDG_CONFIG_HOME"); s.OS != "darwin" && filepath.IsAbs(dir) {
		return dir, nil
	}
	home, err := s.home()
	if s.OS == "darwin" {
		return filepath.Join(home, "Library", "Application Support"), err
	}
	return filepath.Join(home, ".config"), err
}

func desktopPaths(s System, _ Scope) ([]string, error) {
	const file = "claude_desktop_config.json"
	if s.OS == "windows" {
		// Packaged builds see this directory in the place of the usual one.
		packaged, _ := filepath.Glob(filepath.Join(s.Env("LOCALAPPDATA"), "Packages", "Claude_*", "LocalCache", "Roaming", "Claude"))
		if len(packaged) > 0 {
			for i, dir := range packaged {
				packaged[i] = filepath.Join(dir, file)
			}
			return packaged, nil
		}
	}
	base, err := s.appData()
	// Builds for Linux do not agree on the case.
	return []string{filepath.Join(base, "Claude", file), filepath.Join(base, "claude", file)}, err
}

func codePaths(s System, scope Scope) ([]string, error) {
	if scope == Project {
		return []string{filepath.Join(s.Dir, ".mcp.json")}, nil
	}
	dir := s.Env("CLAUDE_CONFIG_DIR")
	var err error
	if dir == "" {
		dir, err = s.home()
	}
	return []string{filepath.Join(dir, ".claude.json")}, err
}

func cursorPaths(s System, scope Scope) ([]string, error) {
	dir, err := s.Dir, error(nil)
	if scope == User {
		dir, err = s.home()
	}
	return []string{filepath.Join(dir, ".cursor", "mcp.json")}, err
}

func vscodePaths(s System, scope Scope) ([]string, error) {
	if scope == Project {
		return []string{filepath.Join(s.Dir, ".vscode", "mcp.json")}, nil
	}
	base, err := s.appData()
	return []string{filepath.Join(base, "Code", "User", "mcp.json")}, err
}
