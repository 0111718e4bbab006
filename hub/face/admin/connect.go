package admin

import (
	"tabhub/hub/face/endpoint"
)

// Connectable is an element of GET /api/connect: an MCP client, and how to connect it. It holds no
// secret.
type Connectable struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	After string `json:"after,omitempty"` // what makes it see a change
	// Start makes it start a bridge, on the hub's machine; nil where it cannot.
	Start *Connect `json:"start,omitempty"`
	// URL makes it connect to the hub's address, where it signs in; nil if it cannot.
	URL   *Connect      `json:"url,omitempty"`
	Links []ConnectLink `json:"links,omitempty"` // with which a browser opens it, to be connected by URL
}

// Connect is what connects a client. Each part is enough.
type Connect struct {
	Line  string `json:"line,omitempty"`  // a command line
	Entry string `json:"entry,omitempty"` // of the client's configuration
}

// ConnectLink is a link to a program.
type ConnectLink struct {
	Title string `json:"title"`
	HRef  string `json:"href"`
}

// getConnect says how to connect clients. Users of a hub with accounts are not on the hub's machine.
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
