package daemon

import (
	"tabhub/cmd/tabhub/internal/build"
	"tabhub/cmd/tabhub/internal/setup"
	"tabhub/cmd/tabhub/internal/telemetry"
	"tabhub/hub/face/admin"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
)

// connect says how MCP clients are connected to this hub.
func (p *Process) connect() []admin.Connectable {
	program, _ := build.Installed() // "": by URL only
	return setup.Connectable(program, setup.StdioArgs(p.App.DataDir), p.Config.BaseURL(p.Info.Addrs[0])+"/mcp")
}

// relayClients describes a user's clients of the relay.
func (p *Process) relayClients(user spec.UserID) []methods.SessionInfo {
	var all []methods.SessionInfo
	for _, c := range p.relay.Clients(user) {
		all = append(all, methods.SessionInfo{Client: c.Credential, Said: c.Name, Transport: "relay", Since: c.Since})
	}
	return all
}

// Hubs says how the hubs of all users are.
func (p *Process) Hubs() (all []telemetry.Hub) {
	for _, t := range p.Tenants.Open() {
		all = append(all, telemetry.Hub{
			Status: t.Hub.Status(), Questions: consent.Unanswered(t.Hub.Owner.Desk().Open()), Record: t.Record.Status(), Queued: t.Record.Queued(),
		})
	}
	return all
}

// inform says how the process is.
func (p *Process) inform() admin.Info {
	info := p.Info
	info.Sockets = p.Tabs.Stats()
	info.Refused = p.refused.latest()
	if p.policy != nil {
		info.PolicyFile = new(admin.PolicyFile(p.policy.State()))
	}
	return info
}
