package main

import (
	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/cmd/tabhub/internal/shell"
	"tabhub/hub/face/admin"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/spec"
)

// connectName is what clients call the hub's server.
const connectName = "tabhub"

// connect says how MCP clients are connected to this hub.
func (p *process) connect() []admin.Connectable {
	program, _ := installed() // "": by URL only
	return connectable(program, stdioArgs(p.app.dataDir), p.config.baseURL(p.info.Addrs[0])+"/mcp")
}

// connectable says how MCP clients start a program with arguments, as `tabhub install` does it
// but for the token, and how they reach the hub at a URL.
func connectable(program string, args []string, at string) []admin.Connectable {
	start, reach := clientconf.Entry{Command: program, Args: args}, clientconf.Entry{URL: at}
	var all []admin.Connectable
	for _, c := range clientconf.All {
		to := admin.Connectable{Name: c.Name, Title: c.Title, After: c.After}
		if program != "" {
			to.Start = &admin.Connect{Line: shell.Here(append([]string{program, "install", c.Name}, args[1:]...)...), Entry: c.Text(connectName, start)}
		}
		if c.CanReach() {
			to.URL = &admin.Connect{Line: clientCommand(c, &reach), Entry: c.Text(connectName, reach)}
		}
		for _, link := range c.Links(connectName, at) {
			to.Links = append(to.Links, admin.ConnectLink(link))
		}
		all = append(all, to)
	}
	other := admin.Connectable{Name: "other", Title: "Any other client", URL: &admin.Connect{Line: at}}
	if program != "" {
		line := shell.Here(append([]string{program}, args...)...)
		other.Start = &admin.Connect{Line: line}
	}
	return append(all, other)
}

// clientCommand is the command of the client's own program that adds an entry, "" if it has none.
func clientCommand(c clientconf.Client, e *clientconf.Entry) string {
	words := c.Command(clientconf.User, connectName, e)
	if words == nil {
		return ""
	}
	return shell.Here(words...)
}

// relayClients describes a user's clients of the relay.
func (p *process) relayClients(user spec.UserID) []methods.SessionInfo {
	var all []methods.SessionInfo
	for _, c := range p.relay.Clients(user) {
		all = append(all, methods.SessionInfo{Client: c.Credential, Said: c.Name, Transport: "relay", Since: c.Since})
	}
	return all
}
