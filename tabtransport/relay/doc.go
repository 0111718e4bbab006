// Package relay carries messages between MCP clients and browser extensions that
// speak the MCP Proxy Protocol 1.0 or its predecessor, the Browser MCP proxy
// protocol. spec/RELAY.md tells both protocols in full.
//
// # The protocols
//
// An extension connects to /extension and waits: it is asked to authenticate, and
// from then on only answers. A client connects to /mcp and speaks first: it shakes
// hands, lists the extensions of its user, connects to one, and every method that
// is not the relay's own goes to that extension. Both are JSON-RPC 2.0. On /relay
// both sides speak the predecessor, which has no envelope: a peer says what it is in
// its first message, errors are strings, a client may hold several connections, and
// what an extension sends is routed by the tab that it names.
//
// A dialect knows how a message looks to one kind of peer; all else is common. So a
// client of either protocol reaches an extension of either.
//
// # State and its owners
//
//	Relay      the tenants by user id
//	tenant     all of one user: extensions, clients, connections. One mutex guards
//	           it. Nothing in a tenant refers to another, so no message can cross.
//	extension  an identity that outlives its WebSockets: (user, client_id). It has at
//	           most one session, the WebSocket that serves it now
//	client     a client's WebSocket
//	connection binds a client to an extension; it holds the requests that the client
//	           waits for
//	lane       messages of a client about the first of which the owner is asked
//	remote     what the goroutine that reads a WebSocket knows of its peer, whose role
//	           is that of a client or of an extension
//
// A message is read, taken apart once, routed under the tenant's lock, and put into
// the queue of the WebSocket it is for, see package wsconn. Its parameters and result
// are the bytes that the sender wrote. Queueing a frame never blocks. Frames that depend
// on the order of events (a connection, its end) are queued under the lock, so a peer gets
// them in the order of the events.
//
// Each client has a Gate, which decides about what it sends to extensions, and hears of
// them. What it admits is an InFlight, which the request has until it is no longer
// pending: the client's owner sees it, and may end it.
//
// # What happens when something goes away
//
// A request that an extension has not answered when its WebSocket is lost ends at
// once with an error that says it may have taken effect; none is sent twice. Connections
// of an extension with a stable identity wait for it for the grace, then end.
package relay
