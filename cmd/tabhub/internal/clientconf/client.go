package clientconf

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tabhub/cmd/tabhub/internal/shell"
)

// Scope says for what a configuration holds.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // wherever the user works
	Project Scope = "project" // in one directory, and for all who share it
)

// Client is an MCP client whose configuration is known.
type Client struct {
	Name   string  // as on the command line
	Title  string  // as its makers call it
	After  string  // what to do for it to see a change
	Scopes []Scope // that it has; the first is meant if none is named

	section string // the member of the file that holds the servers
	typed   bool   // entries say their transport
	byURL   bool   // a server can be reached by its URL, too
	isHTTP  bool   // an entry with a URL says its transport
	link    func(name, url string) []Link
	// paths returns where the file of a scope may be, most likely first.
	paths func(System, Scope) ([]string, error)
	// command says that the client has a command for changes of scope User, since it
	// writes that file at any time itself.
	command string
}

// All are the known clients.
var All = []Client{
	{
		Name: "claude-desktop", Title: "Claude Desktop", After: "Quit Claude Desktop and start it again.",
		Scopes: []Scope{User}, section: "mcpServers", paths: desktopPaths,
	},
	{
		Name: "claude-code", Title: "Claude Code", After: "Claude Code asks before it uses the servers of a project, when it is started there.",
		Scopes: []Scope{Project, User}, section: "mcpServers", paths: codePaths, command: "claude",
		byURL: true, isHTTP: true,
	},
	{
		Name: "cursor", Title: "Cursor", After: "Switch the server on in Cursor's settings, under MCP.",
		Scopes: []Scope{User, Project}, section: "mcpServers", paths: cursorPaths,
		byURL: true, link: cursorLinks,
	},
	{
		Name: "vscode", Title: "VS Code", After: "Run \"MCP: List Servers\" in VS Code to start it.",
		Scopes: []Scope{User, Project}, section: "servers", typed: true, paths: vscodePaths,
		byURL: true, isHTTP: true, link: vscodeLinks,
	},
}

// Named returns the client of that name. The error names all.
func Named(name string) (Client, error) {
	if i := slices.IndexFunc(All, func(c Client) bool { return c.Name == name }); i >= 0 {
		return All[i], nil
	}
	return Client{}, fmt.Errorf("there is no client %q; known are %s", name, strings.Join(Names(), ", "))
}

// Names returns the names of all clients.
func Names() []string {
	var names []string
	for _, c := range All {
		names = append(names, c.Name)
	}
	return names
}

// Scope returns the scope of that name, or the client's first if name is "".
func (c Client) Scope(name string) (Scope, error) {
	if name == "" {
		return c.Scopes[0], nil
	}
	if !slices.Contains(c.Scopes, Scope(name)) {
		return "", fmt.Errorf("--scope is %q; for %s it may be %s", name, c.Title, joined(c.Scopes))
	}
	return Scope(name), nil
}

func joined(scopes []Scope) string {
	var names []string
	for _, s := range scopes {
		names = append(names, string(s))
	}
	return strings.Join(names, " or ")
}

// Entry is how a client starts a server or, with a URL, reaches one.
type Entry struct {
	Command string
	Args    []string
	Env     map[string]string // of its environment; what else is in the file stays
	URL     string            // of MCP over HTTP; then the rest is empty
}

// CanReach reports whether the client can be given a server by its URL.
func (c Client) CanReach() bool { return c.byURL }

// Command returns the client's own command that adds the server name, as e says,
// or removes it if e is nil. It is "" if the configuration file is to be edited.
func (c Client) Command(s System, scope Scope, name string, e *Entry) string {
	if c.command == "" || scope != User {
		return ""
	}
	if e == nil {
		return shell.Line(s.OS, c.command, "mcp", "remove", "--scope", string(scope), name)
	}
	words := []string{c.command, "mcp", "add"}
	if e.URL != "" {
		return shell.Line(s.OS, append(words, "--transport", "http", "--scope", string(scope), name, e.URL)...)
	}
	for _, key := range slices.Sorted(maps.Keys(e.Env)) {
		words = append(words, "--env", key+"="+e.Env[key])
	}
	words = append(words, "--scope", string(scope), name, "--", e.Command)
	return shell.Line(s.OS, append(words, e.Args...)...)
}

// Add returns the text of a configuration file with the server name as e says. What else the file holds stays as it is, byte for byte, and so do further
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
		for _, member := range []string{"command", "args", "type", "url", "headers"} {
			if err := entry.once(member); err != nil {
				return err
			}
		}
		if e.URL != "" {
			c.addURL(entry, e.URL)
			return nil
		}
		if len(e.Env) > 0 {
			env, err := entry.object("env")
			if err != nil {
				return err
			}
			for _, key := range slices.Sorted(maps.Keys(e.Env)) {
				if err := env.once(key); err != nil {
					return err
				}
				env.set(key, e.Env[key])
			}
		}
		// Against the order in which they are to stand: each new one goes first.
		entry.set("args", e.Args)
		entry.set("command", e.Command)
		if c.typed || entry.has("type") {
			entry.set("type", "stdio")
		}
		if entry.has("url") { // it was reached over HTTP
			entry.remove("url")
			entry.remove("headers")
		}
		return nil
	})
}

// addURL has an entry reach its server.
func (c Client) addURL(entry *object, url string) {
	for _, member := range []string{"command", "args", "env"} { // it was started
		entry.remove(member)
	}
	entry.set("url", url)
	if c.isHTTP || entry.has("type") {
		entry.set("type", "http")
	}
}

// Remove returns the text of a configuration file without the server name.
func (c Client) Remove(text []byte, name string) ([]byte, error) {
	return c.editSection(text, func(section *object) error {
		if err := section.once(name); err != nil {
			return err
		}
		section.remove(name)
		return nil
	})
}

// editSection is edit for the object that holds the servers. f is not called if there is
// none.
func (c Client) editSection(text []byte, f func(section *object) error) ([]byte, error) {
	return edit(text, func(root *object) error {
		if !root.has(c.section) {
			return nil
		}
		section, err := root.object(c.section)
		if err != nil {
			return err
		}
		return f(section)
	})
}

// Env returns a variable of the environment in which the server name is started, "" if the
// file does not say it.
func (c Client) Env(text []byte, name, key string) string {
	value := ""
	_, _ = c.editSection(text, func(section *object) error {
		entry, err := section.object(name)
		if err != nil {
			return err
		}
		env, err := entry.object("env")
		if err != nil {
			return err
		}
		value = env.text(key)
		return nil
	}) // what is wrong with the file is said when it is changed
	return value
}

// Find returns the servers that are called name or whose command is a program of that
// name, with the command of each.
func (c Client) Find(text []byte, name string) (commands map[string]string, err error) {
	commands, err = c.member(text, "command")
	maps.DeleteFunc(commands, func(server, command string) bool {
		return server != name && strings.TrimSuffix(filepath.Base(command), ".exe") != name
	})
	return commands, err
}

// URLs returns the servers that are reached by URL and not started, with the URL of each.
func (c Client) URLs(text []byte) (map[string]string, error) { return c.member(text, "url") }

// member returns what a member of each server's entry says, if it is a string.
func (c Client) member(text []byte, member string) (map[string]string, error) {
	said := make(map[string]string)
	_, err := c.editSection(text, func(section *object) error {
		for _, server := range section.names() {
			entry, err := section.object(server)
			if err != nil {
				continue // the client's business
			}
			if s := entry.text(member); s != "" {
				said[server] = s
			}
		}
		return nil
	})
	return said, err
}

// ErrNotInstalled says that the client has no directory for its settings.
var ErrNotInstalled = errors.New("it seems not to be installed")
