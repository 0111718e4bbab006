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

	program string // that starts it, by which it is found if it has left no files yet
	shape
	link func(name, url string) []Link
	// paths returns where the file of a scope may be, most likely first.
	paths func(System, Scope) ([]string, error)
	// sign returns what is there where a client is installed that has its file at path; nil: the
	// file's directory.
	sign func(path string) string
	// command returns the words after the program that add a server to scope User, or remove it if
	// e is nil; nil: the client has no command for it.
	command func(name string, e *Entry) []string
	// snippet returns an entry in the notation of a file that is not JSON, which decode reads and
	// nothing here edits; nil: the file is JSON, with comments.
	snippet func(name string, e Entry) string
	decode  func(text []byte, v any) error

	reserved     []string // names that a server cannot have
	noUnderscore bool     // in a server's name
}

// shape is how a file says a server.
type shape struct {
	section          string // its member that holds the servers
	url              string // of an entry that reaches one; "": none can be reached
	started, reached string // what an entry's type is; "": it says none
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
	Unset   []string          // variables that are not to stay
	URL     string            // of MCP over HTTP; then the rest is empty
}

// CanReach reports whether the client can be given a server by its URL.
func (c Client) CanReach() bool { return c.url != "" }

// Command returns the words of the client's own command that adds the server name, as e says,
// or removes it if e is nil. It is empty if there is none.
func (c Client) Command(scope Scope, name string, e *Entry) []string {
	if c.command == nil || scope != User {
		return nil
	}
	return append([]string{c.program}, c.command(name, e)...)
}

// claudeCommand is as `claude mcp add --help` says.
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

// codexCommand is as `codex mcp add --help` says.
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

// variables are the flags of a command for the environment.
func (e *Entry) variables() (words []string) {
	for _, key := range slices.Sorted(maps.Keys(e.Env)) {
		words = append(words, "--env", key+"="+e.Env[key])
	}
	return words
}

// servers returns what a text says of each server.
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
		all[name], _ = said.(map[string]any) // what is none is the client's business
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

// URLs returns the servers that are reached by URL and not started, with the URL of each.
func (c Client) URLs(text []byte) (map[string]string, error) {
	urls, err := c.member(text, cmp.Or(c.url, "url"))
	if err == nil && len(urls) == 0 {
		urls, err = c.member(text, "url") // as other clients call it
	}
	return urls, err
}

// member returns what a member of each server's entry says, if it is a string.
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
