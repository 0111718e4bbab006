package setup

import (
	"maps"
	"net/url"
	"slices"

	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/cmd/tabhub/internal/command"
)

// clientReport says where a client's configuration has tabhub.
type clientReport struct {
	Name      string         `json:"name"`
	Title     string         `json:"title"`
	Installed bool           `json:"installed"` // it seems to be on this machine
	Entries   []clientServer `json:"entries"`
	Problem   string         `json:"problem,omitempty"` // why a file of it cannot be read
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

// clientReports reads the configurations of the user's clients, and those of the project in this
// directory. An entry with a URL is tabhub's if it has its name, or if isHub says so.
func clientReports(a *command.App, isHub func(*url.URL) bool) ([]clientReport, error) {
	system, err := system(a)
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
			text, err := c.Read(path)
			var started, reached map[string]string
			if err == nil {
				started, err = c.Find(text, connectName)
			}
			if err == nil {
				reached, err = c.URLs(text)
			}
			if err != nil {
				r.Problem = path + ": " + err.Error()
			}
			for _, name := range slices.Sorted(maps.Keys(started)) {
				r.Entries = append(r.Entries, clientServer{Name: name, Scope: scope, File: path, Command: started[name], entry: c.Started(text, name)})
			}
			for _, name := range slices.Sorted(maps.Keys(reached)) {
				at, err := url.Parse(reached[name])
				if err == nil && started[name] == "" && (name == connectName || isHub != nil && isHub(at)) {
					r.Entries = append(r.Entries, clientServer{Name: name, Scope: scope, File: path, URL: at.Scheme + "://" + at.Host + at.Path}) // the rest may have a token
				}
			}
		}
		all = append(all, r)
	}
	return all, nil
}

// listInstalled prints the clients.
func listInstalled(a *command.App, asJSON bool) error {
	all, err := clientReports(a, nil)
	if err != nil {
		return err
	}
	if asJSON {
		return a.PrintValue(all)
	}
	t := a.Table("client", "here", "tabhub", "scope", "file")
	for _, r := range all {
		here := "no"
		if r.Installed {
			here = "yes"
		}
		switch {
		case r.Problem != "":
			t.Row(r.Name, here, command.StateCell("problem"), "", r.Problem)
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
	a.Hint("`tabhub install CLIENT` adds it, `tabhub setup` guides you through the whole setup.")
	return nil
}
