// Package clientconf edits the configuration files of MCP clients: where each is, and
// how an entry goes in and out without touching anything else in it.
package clientconf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Client is an MCP client whose configuration is known.
type Client struct {
	Name    string // as on the command line
	Title   string // as its makers call it
	After   string // what to do for it to see a change
	section string // the member of the file that holds the servers
	typed   bool   // entries say their transport
	// paths returns where the file may be, most likely first.
	paths func(env func(string) string) ([]string, error)
}

// All are the known clients.
var All = []Client{
	{Name: "claude-desktop", Title: "Claude Desktop", After: "Quit Claude Desktop and start it again.", section: "mcpServers", paths: desktopPaths},
	{Name: "claude-code", Title: "Claude Code", After: "It is for the project in this directory; Claude Code asks before it uses it.", section: "mcpServers", paths: projectPaths},
	{Name: "cursor", Title: "Cursor", After: "Switch the server on in Cursor's settings, under MCP.", section: "mcpServers", paths: cursorPaths},
	{Name: "vscode", Title: "VS Code", After: "Run \"MCP: List Servers\" in VS Code to start it.", section: "servers", typed: true, paths: vscodePaths},
}

// Named returns the client of that name. The error names all.
func Named(name string) (Client, error) {
	if i := slices.IndexFunc(All, func(c Client) bool { return c.Name == name }); i >= 0 {
		return All[i], nil
	}
	var names []string
	for _, c := range All {
		names = append(names, c.Name)
	}
	return Client{}, fmt.Errorf("there is no client %q; known are %s", name, strings.Join(names, ", "))
}

// appData is where programs of this system keep their settings.
func appData(env func(string) string) (string, error) {
	switch runtime.GOOS {
	case "windows":
		if dir := env("APPDATA"); dir != "" {
			return dir, nil
		}
		return "", errors.New("$APPDATA is not set")
	case "darwin":
		if home := env("HOME"); home != "" {
			return filepath.Join(home, "Library", "Application Support"), nil
		}
	default:
		if dir := env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
			return dir, nil
		}
		if home := env("HOME"); home != "" {
			return filepath.Join(home, ".config"), nil
		}
	}
	return "", errors.New("$HOME is not set")
}

func desktopPaths(env func(string) string) ([]string, error) {
	base, err := appData(env)
	const file = "claude_desktop_config.json"
	// Builds for Linux do not agree on the case.
	return []string{filepath.Join(base, "Claude", file), filepath.Join(base, "claude", file)}, err
}

func projectPaths(func(string) string) ([]string, error) {
	path, err := filepath.Abs(".mcp.json")
	return []string{path}, err
}

func cursorPaths(env func(string) string) ([]string, error) {
	home := env("HOME")
	if runtime.GOOS == "windows" {
		home = env("USERPROFILE")
	}
	if home == "" {
		return nil, errors.New("the home directory is not known")
	}
	return []string{filepath.Join(home, ".cursor", "mcp.json")}, nil
}

func vscodePaths(env func(string) string) ([]string, error) {
	base, err := appData(env)
	return []string{filepath.Join(base, "Code", "User", "mcp.json")}, err
}

// ErrNotInstalled says that the client has no directory for its settings.
var ErrNotInstalled = errors.New("it seems not to be installed")

// Path returns the client's configuration file, which need not exist, though its
// directory does.
func (c Client) Path(env func(string) string) (string, error) {
	paths, err := c.paths(env)
	if err != nil {
		return "", fmt.Errorf("the settings of %s cannot be found: %w; pass --config FILE", c.Title, err)
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	for _, path := range paths {
		if fi, err := os.Stat(filepath.Dir(path)); err == nil && fi.IsDir() {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w, as there is no directory %s; pass --config FILE if it is elsewhere", c.Title, ErrNotInstalled, filepath.Dir(paths[0]))
}

// Entry is how a client starts a server.
type Entry struct {
	Command string
	Args    []string
}

// Add returns the text of a configuration file with the server name started as e
// says. What else the file holds stays as it is, byte for byte, and so do further
// members of an entry that is there already.
func (c Client) Add(text []byte, name string, e Entry) ([]byte, error) {
	return edit(text, func(root *object) error {
		section, err := root.object(c.section)
		if err != nil {
			return err
		}
		entry, err := section.object(name)
		if err != nil {
			return err
		}
		// In the order in which they are to stand: each new one goes first.
		entry.set("args", e.Args)
		entry.set("command", e.Command)
		if c.typed {
			entry.set("type", "stdio")
		}
		entry.remove("url")
		return nil
	})
}

// Remove returns the text of a configuration file without the server name.
func (c Client) Remove(text []byte, name string) ([]byte, error) {
	return edit(text, func(root *object) error {
		if !root.has(c.section) {
			return nil
		}
		section, err := root.object(c.section)
		if err != nil {
			return err
		}
		section.remove(name)
		return nil
	})
}

// Find returns the command of the server name, "" if there is none.
func (c Client) Find(text []byte, name string) (command string, err error) {
	_, err = edit(text, func(root *object) error {
		if !root.has(c.section) {
			return nil
		}
		section, err := root.object(c.section)
		if err != nil || !section.has(name) {
			return err
		}
		entry, err := section.object(name)
		if err == nil {
			command = entry.text("command")
		}
		return err
	})
	return command, err
}

// Read returns the text of a configuration file, nothing if there is none.
func Read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}
