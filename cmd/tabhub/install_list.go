package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"time"

	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/cmd/tabhub/internal/shell"
)

// clientReport is what is known here of a client.
type clientReport struct {
	Name      string         `json:"name"`
	Title     string         `json:"title"`
	Installed bool           `json:"installed"` // it seems to be on this machine
	Entries   []clientServer `json:"entries"`
	Problem   string         `json:"problem,omitempty"` // why a file of it is not understood
	Unseen    string         `json:"unseen,omitempty"`  // why it is not known what entries it has
}

// clientServer is an entry of a client that leads to tabhub.
type clientServer struct {
	Name    string           `json:"name"`
	Scope   clientconf.Scope `json:"scope"`
	File    string           `json:"file"`
	Command string           `json:"command,omitempty"`
	URL     string           `json:"url,omitempty"`

	entry clientconf.Entry // with a Command
}

// clientReports looks at the clients of this user, and at the project in this directory. An entry
// with a URL is tabhub's by its name, or if isHub says so.
func (a *app) clientReports(ctx context.Context, isHub func(*url.URL) bool) ([]clientReport, error) {
	system, err := a.system()
	if err != nil {
		return nil, err
	}
	var all []clientReport
	for _, c := range clientconf.All {
		r := clientReport{Name: c.Name, Title: c.Title, Installed: c.Installed(system), Entries: []clientServer{}}
		seen := make(map[string]bool) // in the home directory, a project's file may be the user's
		for _, scope := range c.Scopes {
			path, err := c.Path(system, scope)
			if err != nil || seen[path] {
				continue // the client is not there
			}
			seen[path] = true
			text, err := clientText(ctx, c, path)
			var started, reached map[string]string
			if err == nil {
				started, err = c.Find(text, connectName)
			}
			if err == nil {
				reached, err = c.URLs(text)
			}
			if errors.Is(err, errUnseen) {
				r.Unseen = err.Error()
			} else if err != nil {
				r.Problem = path + ": " + err.Error()
			}
			for _, name := range slices.Sorted(maps.Keys(started)) {
				r.Entries = append(r.Entries, clientServer{Name: name, Scope: scope, File: path, Command: started[name], entry: c.Started(text, name)})
			}
			for _, name := range slices.Sorted(maps.Keys(reached)) {
				at, err := url.Parse(reached[name])
				if err == nil && started[name] == "" && (name == connectName || isHub != nil && isHub(at)) {
					r.Entries = append(r.Entries, clientServer{Name: name, Scope: scope, File: path, URL: at.Scheme + "://" + at.Host + at.Path}) // no more may hold a token
				}
			}
		}
		all = append(all, r)
	}
	return all, nil
}

// listInstalled prints the clients.
func (a *app) listInstalled(ctx context.Context, asJSON bool) error {
	all, err := a.clientReports(ctx, nil)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printValue(all)
	}
	t := a.table("client", "here", "tabhub", "scope", "file")
	for _, r := range all {
		here := "no"
		if r.Installed {
			here = "yes"
		}
		switch {
		case r.Problem != "":
			t.Row(r.Name, here, stateCell("problem"), "", r.Problem)
		case r.Unseen != "":
			t.Row(r.Name, here, "unknown", "", r.Unseen)
		case len(r.Entries) == 0:
			t.Row(r.Name, here, "no", "", "")
		}
		for _, e := range r.Entries {
			t.Row(r.Name, here, "yes", string(e.Scope), e.File)
		}
	}
	if err := t.Print(); err != nil {
		return err
	}
	a.hint("`tabhub install CLIENT` puts it in, `tabhub setup` guides through all there is to do.")
	return nil
}

// errUnseen says that a client's servers are not known here.
var errUnseen = errors.New("cannot be looked at")

// clientText returns what servers a client has: its file at path, or what its own command lists,
// as JSON.
func clientText(ctx context.Context, c clientconf.Client, path string) ([]byte, error) {
	if c.Edited() {
		return clientconf.Read(path)
	}
	words := c.Lister()
	switch {
	case words == nil:
		return nil, fmt.Errorf("%s %w: look yourself, or run `%s configure`", path, errUnseen, c.Name)
	case !onPath(words[0]):
		return nil, fmt.Errorf("%s %w, as %s is not on your PATH; where it is, run `%s`", path, errUnseen, words[0], shell.Here(words[:len(words)-1]...))
	}
	ctx, stop := context.WithTimeout(ctx, 15*time.Second)
	defer stop()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, _ = os.UserHomeDir() // in a project it would list that's, too
	out, err := cmd.Output()
	if err == nil {
		return c.Listed(out)
	}
	said := ""
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		said = ": " + oneLine(string(failed.Stderr))
	}
	return nil, fmt.Errorf("`%s`: %w%s", shell.Here(words...), err, said)
}
