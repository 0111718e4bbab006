// Package hub serves one user: the tabs that are open, what they offer, and the calls
// to them (spec/PROTOCOL.md, "The rules of the hub"). It composes what the packages below do:
//
//	agents   what sessions of clients have of tabs: leases, tab groups (pure)
//	state    what is known of browsers, tabs, items and names, and where a call goes (pure)
//	core     the state behind its lock, between the transport and the store; the owner's rules
//	lists    what clients are listed, and how they and pages learn of changes
//	call     makes calls: chooses, has the owner asked, sends, judges; call/ledger has them
//
// A Hub has one of each, and what the owner looks at and names: browsers, tabs, sites. It knows no
// socket, no bucket and no MCP library: tabs are reached through a tabtransport.TabHubTransport,
// what must outlive the process goes to a storage.DomainToolStorage, and the faces in hub/face call
// it.
package hub
