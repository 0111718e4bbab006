package admin

import (
	"tabhub/hub/face/endpoint"
)

// Connectable is an element of GET /api/connect: an MCP client, and how it is connected. No
// part of it holds a secret.
type Connectable struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	After string `json:"after,omitempty"` // what to do for it to see a change
	// Start has it start a bridge, on the hub's own machine; nil where it cannot.
	Start *ConnectWay `json:"start,omitempty"`
	// URL has it go to the hub's address, where it signs in; nil if it cannot.
	URL   *ConnectWay   `json:"url,omitempty"`
	Links []ConnectLink `json:"links,omitempty"` // that a browser opens it with, to be connected by URL
}

// ConnectWay is what connects a client. Each part is enough.
type ConnectWay struct {
	Line  string `json:"line,omitempty"`  // a command line
	Entry string `json:"entry,omitempty"` // of the client's configuration
}

// ConnectLink is a link to a program.
type ConnectLink struct {
	Title string `json:"title"`
	HRef  string `json:"href"`
}

// getConnect says how clients are connected. Users of a hub with accounts are elsewhere than
// the hub's program.
func (api *API) getConnect(r *endpoint.Request) error {
	all := []Connectable{}
	if api.o.Connect != nil {
		all = append(all, api.o.Connect()...)
	}
	for i := range all {
		if api.o.Accounts {
			all[i].Start = nil
		}
	}
	return r.Answer(all)
}
