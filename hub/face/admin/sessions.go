package admin

import (
	"cmp"
	"slices"
	"time"

	"tabhub/describe"
	"tabhub/hub/call/apps"
	"tabhub/hub/face/endpoint"
	"tabhub/hub/face/mcpserver/methods"
)

// ClientSession is an element of GET /api/sessions: a client that is connected, or has called lately.
// Clients with the same credential and the same name share their calls.
type ClientSession struct {
	methods.SessionInfo
	Connected bool      `json:"connected"`
	Calls     int64     `json:"calls"`
	Last      time.Time `json:"last,omitzero"` // the time of its last call
}

// maxSaid bounds the names that clients give themselves.
const maxSaid = 80

// getSessions lists the clients that are connected, or have called lately, the last to call
// first.
func (api *API) getSessions(r *endpoint.Request) error {
	type key struct{ client, said string }
	byKey := map[key]apps.App{}
	for _, app := range r.Tenant.Hub.Owner.Apps() {
		byKey[key{app.Client, app.Said}] = app
	}
	out := []ClientSession{}
	sessions := r.Tenant.MCP.Sessions()
	if api.o.RelayClients != nil {
		sessions = append(sessions, api.o.RelayClients(r.Identity.User)...)
	}
	for _, info := range sessions {
		app := byKey[key{info.Client, info.Said}]
		out = append(out, ClientSession{info, true, app.Calls, app.Last})
	}
	for _, app := range byKey {
		if !app.Connected {
			out = append(out, ClientSession{methods.SessionInfo{Client: app.Client, Said: app.Said}, false, app.Calls, app.Last})
		}
	}
	for i := range out {
		out[i].Said = describe.Clean(out[i].Said, maxSaid)
	}
	slices.SortFunc(out, func(a, b ClientSession) int {
		return cmp.Or(b.Last.Compare(a.Last), a.Since.Compare(b.Since), cmp.Compare(a.Client, b.Client), cmp.Compare(a.Said, b.Said))
	})
	return r.Answer(out)
}
