package clientconf

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Scope says where a configuration applies.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // wherever the user works
	Project Scope = "project" // in one directory, and for all who share it
)

// Client is an MCP client and its configuration.
type Client struct {
	Name   string  // as on the command line
	Title  string  // as its makers call it
	Said   string  // its name for itself in MCP's clientInfo
	After  string  // what to do for it to see a change
	Scopes []Scope // the first is the default

	program string // that starts it; it shows that a client without files is installed
	shape
	link func(name, url string) []Link
	// paths returns where the file of a scope may be, most likely first.
	paths func(System, Scope) ([]string, error)
	// sign returns a path that exists if the client, whose file is at path, is installed; nil: the
	// file's directory.
	sign func(path string) string
	// command returns the words after the program that add a server to scope User, or remove it if
	// e is nil; nil: the client has no command for it.
	command func(name string, e *Entry) []string
	// snippet returns an entry as text of a file that is not JSON, which decode reads and nothing
	// here edits; nil: the file is JSON, with comments.
	snippet func(name string, e Entry) string
	decode  func(text []byte, v any) error

	reserved     []string // names that a server cannot have
	noUnderscore bool     // a server's name has none
}

// shape names the members of a file that describe servers.
type shape struct {
	section          string // its member that holds the servers
	url              string // of a remote server's entry; "": the client has none
	started, reached string // an entry's type; "": it has none
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
	Env     map[string]string // of its environment; other variables in the file stay
	Unset   []string          // variables to remove
	URL     string            // of MCP over HTTP; then the rest is empty
}

// CanReach reports whether the client takes a server by its URL.
func (c Client) CanReach() bool { return c.url != "" }

// Command returns the words of the client's command that adds the server name with the entry e, or
// removes it if e is nil; nil if the client has no such command.
func (c Client) Command(scope Scope, name string, e *Entry) []string {
	if c.command == nil || scope != User {
		return nil
	}
	return append([]string{c.program}, c.command(name, e)...)
}

// claudeCommand follows `claude mcp add --help`.
func claudeCommand(name string, e *Entry) []string {
	switch {
	case e == nil:
		return []string{"mcp", "remove", "--scope", "user", name}
	case e.URL != "":
		return []string{"mcp", "add", "--transport", "http", "--scope", "user", name, e.URL}
	}
	words := append([]string{"mcp", "add"}, e.variables()...) // --env takes all words up to the next flag
	return append(append(words, "--scope", "user", name, "--", e.Command), e.Args...)
}

// codexCommand follows `codex mcp add --help`.
func codexCommand(name string, e *Entry) []string {
	switch {
	case e == nil:
		return []string{"mcp", "remove", name}
	case e.URL != "":
		return []string{"mcp", "add", name, "--url", e.URL}
	}
	words := append([]string{"mcp", "add", name}, e.variables()...)
	return append(append(words, "--", e.Command), e.Args...)
}

// variables returns the flags of a command that set the environment.
func (e *Entry) variables() (words []string) {
	for _, key := range slices.Sorted(maps.Keys(e.Env)) {
		words = append(words, "--env", key+"="+e.Env[key])
	}
	return words
}

// servers returns the entry of each server in a text.
func (c Client) servers(text []byte) (map[string]map[string]any, error) {
	file, err := decode(text)
	if err != nil || file[c.section] == nil {
		return nil, err
	}
	section, ok := file[c.section].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%q is not an object", c.section)
	}
	all := make(map[string]map[string]any)
	for name, said := range section {
		all[name], _ = said.(map[string]any) // nil for an entry that is not an object
	}
	return all, nil
}

// Started returns how the server name is started; its Command is "" if it is not.
func (c Client) Started(text []byte, name string) Entry {
	var e Entry
	all, _ := c.servers(text)
	e.Command, _ = all[name]["command"].(string)
	args, _ := all[name]["args"].([]any)
	for _, arg := range args {
		s, _ := arg.(string)
		e.Args = append(e.Args, s)
	}
	env, _ := all[name]["env"].(map[string]any)
	for key, value := range env {
		if s, ok := value.(string); ok {
			e.Env = with(e.Env, key, s)
		}
	}
	return e
}

func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = make(map[string]string)
	}
	m[key] = value
	return m
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

// URLs returns the remote servers, with the URL of each.
func (c Client) URLs(text []byte) (map[string]string, error) {
	urls, err := c.member(text, cmp.Or(c.url, "url"))
	if err == nil && len(urls) == 0 {
		urls, err = c.member(text, "url") // the member that most clients have
	}
	return urls, err
}

// member returns a member of each server's entry, if it is a string.
func (c Client) member(text []byte, member string) (map[string]string, error) {
	all, err := c.servers(text)
	said := make(map[string]string)
	for server, entry := range all {
		if s, _ := entry[member].(string); s != "" {
			said[server] = s
		}
	}
	return said, err
}

// ErrNotInstalled says that the client has no directory for its settings.
var ErrNotInstalled = errors.New("it seems not to be installed")
