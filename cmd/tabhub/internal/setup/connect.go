package setup

import (
	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/shell"
	"tabhub/hub/face/admin"
)

// connectName is the name of the hub's server in clients.
const connectName = "tabhub"

// Connectable says how MCP clients start a program with arguments, as with `tabhub install` but
// without the token, and how they reach the hub at a URL.
func Connectable(program string, args []string, at string) []admin.Connectable {
	start, reach := clientconf.Entry{Command: program, Args: args}, clientconf.Entry{URL: at}
	var all []admin.Connectable
	for _, c := range clientconf.All {
		to := admin.Connectable{Name: c.Name, Title: c.Title, After: c.After}
		if program != "" {
			to.Start = &admin.Connect{Line: shell.Here(append([]string{program, "install", c.Name}, args[1:]...)...), Entry: c.Text(connectName, start)}
		}
		if c.CanReach() {
			to.URL = &admin.Connect{Entry: c.Text(connectName, reach)}
			if words := c.Command(clientconf.User, connectName, &reach); words != nil {
				to.URL.Line = shell.Here(words...)
			}
		}
		for _, link := range c.Links(connectName, at) {
			to.Links = append(to.Links, admin.ConnectLink(link))
		}
		all = append(all, to)
	}
	other := admin.Connectable{Name: "other", Title: "Any other client", URL: &admin.Connect{Line: at}}
	if program != "" {
		other.Start = &admin.Connect{Line: shell.Here(append([]string{program}, args...)...)}
	}
	return append(all, other)
}

// StdioArgs are the arguments with which a client starts a bridge.
func StdioArgs(dataDir string) []string {
	if dataDir == "" {
		return []string{"stdio"}
	}
	if dir, err := home.Abs(dataDir); err == nil {
		dataDir = string(dir)
	}
	return []string{"stdio", "--data-dir", dataDir}
}
