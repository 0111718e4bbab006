package clientconf

import (
	"bytes"
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

	program  string    // that starts it, by which it is found if it has left no files yet
	notation *notation // nil: JSON, with comments
	shape
	link func(name, url string) []Link
	// paths returns where the file of a scope may be, most likely first.
	paths func(System, Scope) ([]string, error)
	// sign returns what is there where a client is installed that has its file at path; nil: the
	// file's directory.
	sign func(path string) string
	// writer is the client's own program that makes changes of scope User, since it writes that
	// file at any time itself; "": the file is edited.
	writer string
	also   func(name string) []member // further members of a new entry; nil: none

	reserved     []string // names that a server cannot have
	noUnderscore bool     // in a server's name
}

// shape is how a file says a server.
type shape struct {
	section            string // its member that holds the servers
	command, args, env string // members of an entry that starts one; "": these words
	url                string // of one that reaches one; "": none can be reached
	started, reached   string // what an entry's type is; "": it says none
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
// or removes it if e is nil. It is empty if the configuration file is to be edited.
func (c Client) Command(scope Scope, name string, e *Entry) []string {
	if c.writer == "" || scope != User {
		return nil
	}
	if e == nil {
		return []string{c.writer, "mcp", "remove", "--scope", string(scope), name}
	}
	words := []string{c.writer, "mcp", "add"}
	if e.URL != "" {
		return append(words, "--transport", "http", "--scope", string(scope), name, e.URL)
	}
	for _, key := range slices.Sorted(maps.Keys(e.Env)) {
		words = append(words, "--env", key+"="+e.Env[key]) // which takes all words up to the next flag
	}
	words = append(words, "--scope", string(scope), name, "--", e.Command)
	return append(words, e.Args...)
}

// Add returns the text of a configuration file with the server name as e says. What else the
// file holds stays as it is, byte for byte, and so do further members of an entry that is there
// already. An error says where the text cannot be understood.
func (c Client) Add(text []byte, name string, e Entry) ([]byte, error) {
	if c.notation != nil {
		return c.addLines(text, name, e)
	}
	return c.addJSON(text, name, e)
}

// Remove returns the text of a configuration file without the server name.
func (c Client) Remove(text []byte, name string) ([]byte, error) {
	if c.notation != nil {
		return c.removeLines(text, name)
	}
	return c.removeJSON(text, name)
}

// decode returns what a text says.
func (c Client) decode(text []byte) (map[string]any, error) {
	if c.notation == nil {
		return decodeJSON(text)
	}
	file, err := c.notation.decode(bytes.TrimPrefix(text, bom))
	if err != nil {
		err = fmt.Errorf("not %s: %w", c.notation.name, err)
	}
	return file, err
}

// servers returns what a text says of each server.
func (c Client) servers(text []byte) (map[string]map[string]any, error) {
	file, err := c.decode(text)
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
	e.Command, _ = all[name][c.command].(string)
	args, _ := all[name][c.args].([]any)
	for _, arg := range args {
		s, _ := arg.(string)
		e.Args = append(e.Args, s)
	}
	env, _ := all[name][c.env].(map[string]any)
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
	commands, err = c.member(text, c.command)
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
