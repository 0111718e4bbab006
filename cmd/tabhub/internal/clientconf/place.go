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
	// Look returns where a program is, as exec.LookPath does; nil: programs are not looked for.
	Look func(program string) (string, error)
}

// Installed reports whether the client seems to be there: it has left files, or its program is
// on the PATH.
func (c Client) Installed(s System) bool {
	paths, err := c.paths(s, User)
	if err == nil && slices.ContainsFunc(paths, c.left) {
		return true
	}
	if c.program == "" || s.Look == nil {
		return false
	}
	_, err = s.Look(c.program)
	return err == nil
}

// left reports whether the client whose file is at path has left something there.
func (c Client) left(path string) bool {
	if c.sign != nil {
		return exists(c.sign(path))
	}
	fi, err := os.Stat(filepath.Dir(path))
	return err == nil && fi.IsDir()
}

// Signs of clients whose files are not in a separate directory.
func itself(path string) string { return path }
func above(path string) string  { return filepath.Dir(filepath.Dir(path)) }

// Path returns the client's configuration file of a scope. The file need not exist;
// for scope User the client is Installed.
func (c Client) Path(s System, scope Scope) (string, error) {
	paths, err := c.paths(s, scope)
	if err != nil {
		return "", fmt.Errorf("the settings of %s cannot be found: %w; pass --config FILE", c.Title, err)
	}
	if i := slices.IndexFunc(paths, exists); i >= 0 {
		return paths[i], nil
	}
	if i := slices.IndexFunc(paths, c.left); i >= 0 {
		return paths[i], nil
	}
	if scope == Project || c.Installed(s) {
		return paths[0], nil
	}
	sign := filepath.Dir(paths[0])
	if c.sign != nil {
		sign = c.sign(paths[0])
	}
	return "", fmt.Errorf("%s: %w, as there is no %s; pass --config FILE if it is elsewhere", c.Title, ErrNotInstalled, sign)
}

// exists is also true for a dangling link: it says where the file should be.
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
		// Packaged builds see this directory instead of the usual one.
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

func vscodePaths(s System, scope Scope) ([]string, error) {
	if scope == Project {
		return []string{filepath.Join(s.Dir, ".vscode", "mcp.json")}, nil
	}
	base, err := s.appData()
	return []string{filepath.Join(base, "Code", "User", "mcp.json")}, err
}

// below returns paths for a file in a directory that is below the user's home, and may be below
// a project.
func below(words ...string) func(System, Scope) ([]string, error) {
	return func(s System, scope Scope) ([]string, error) {
		dir, err := s.Dir, error(nil)
		if scope == User {
			dir, err = s.home()
		}
		return []string{filepath.Join(append([]string{dir}, words...)...)}, err
	}
}

func codexPaths(s System, scope Scope) ([]string, error) {
	if dir := s.Env("CODEX_HOME"); dir != "" {
		return []string{filepath.Join(dir, "config.toml")}, nil
	}
	return below(".codex", "config.toml")(s, scope)
}

// config is where programs keep their settings that use the same place on macOS and Linux.
func (s System) config() (string, error) {
	if s.OS != "darwin" {
		return s.appData()
	}
	home, err := s.home()
	return filepath.Join(home, ".config"), err
}

func goosePaths(s System, _ Scope) ([]string, error) {
	base, err := s.config()
	if s.OS == "windows" {
		return []string{filepath.Join(base, "Block", "goose", "config", "config.yaml")}, err
	}
	return []string{filepath.Join(base, "goose", "config.yaml")}, err
}

func zedPaths(s System, _ Scope) ([]string, error) {
	base, err := s.config()
	if s.OS == "windows" {
		return []string{filepath.Join(base, "Zed", "settings.json")}, err
	}
	return []string{filepath.Join(base, "zed", "settings.json")}, err
}
