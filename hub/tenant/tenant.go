package tenant

import (
	"context"
	"errors"

	"tabhub/hub"
	"tabhub/hub/broadcast"
	"tabhub/hub/builtin"
	"tabhub/hub/builtin/instance"
	"tabhub/hub/demo"
	"tabhub/hub/face/mcpserver"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// Tenant is one user of a hub process. Its fields are set before it is handed out, and do
// not change.
type Tenant struct {
	User spec.UserID
	Hub  *hub.Hub
	// Record is the record of Hub. Nil: there is none.
	Record *record.Recorder
	// Changed is fired when what Hub and Record show has changed. Nil: never.
	Changed *broadcast.Signal
	// MCP serves Hub to MCP clients.
	MCP *mcpserver.Server
	// Builtin are the tools of the hub itself that MCP lists.
	Builtin []builtin.Tool
	// Instances are the browsers that were started for the user. Nil: none can be.
	Instances *instance.Instances
	// Demo is the tab of the demo. Nil: it has not joined.
	Demo *demo.Tab
	// Credentials are those of the user that are kept with Hub. Nil: they are not.
	Credentials Credentials
	// Share is what the user takes of the process. Nil: that is not bounded.
	Share *Share
	// Here is done, with cause tabtransport.ErrGoingAway, when the user's Hub is closed and another
	// process may open it. Nil: never.
	Here context.Context
	// GiveBack is called at the end of Close, for what the Hub had of the user's alone. Nil:
	// there is nothing.
	GiveBack func(context.Context) error
}

// Credentials are known to a process for as long as it has the user's Hub.
type Credentials interface {
	// Settle makes the Hub store what is not stored yet. It does not wait for that.
	Settle()
	// Unload forgets them; what was admitted with them ends.
	Unload()
}

// Close closes the parts of a Tenant: requests in flight are answered until ctx is done, then clients,
// browsers and tabs are disconnected. It is idempotent.
func (t *Tenant) Close(ctx context.Context) error {
	if t.MCP != nil {
		_ = t.MCP.Close(ctx) // that it cut requests short, Hub.Close reports as well
	}
	if t.Demo != nil {
		t.Demo.Close()
	}
	if t.Instances != nil {
		t.Instances.Close()
	}
	if t.Credentials != nil {
		t.Credentials.Settle()
	}
	err := t.Hub.Close(ctx)
	if t.Record != nil {
		t.Record.Close()
	}
	if t.Credentials != nil {
		t.Credentials.Unload() // before another process may load them
	}
	if t.GiveBack != nil {
		err = errors.Join(err, t.GiveBack(ctx))
	}
	return err
}
