// Package hub is one user's world: the tabs that are open, what they offer, and
// the calls to them. It registers tools, resources and prompts, names them, keeps
// them over the loss of a connection, chooses the tab that a call goes to, sends
// it at most once, and tells its watchers what changed (spec/docs/RULES.md, "The hub").
//
// It knows no socket, no bucket and no MCP library: tabs are reached through a
// tabtransport.TabHubTransport, what must outlive the process goes to a
// storage.DomainToolStorage, and the faces in hub/mcpserver and hub/httpd call it.
//
// # State
//
// All state of a Hub is guarded by one mutex and changed only inside Hub.update,
// which collects what must follow (writes to the store, requests given up,
// notices) and does it after the mutex is released. What tabs have registered is
// immutable; an update replaces it. A call reads what it needs under the read lock
// once per attempt and holds no state when it has ended.
//
//	peer    a browser or a single tab at the far end of a connection
//	tab     one tab; stays, "away", while its connection is lost, until the grace ends
//	item    one tool, resource or prompt as a tab registered it
//	domain  all tabs and items of one domain key
//	offer   one item name within a domain: who has it, under which public names
package hub
