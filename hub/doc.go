// Package hub serves one user: the tabs that are open, what they offer, and the calls
// to them. It registers tools, resources and prompts, names them, remembers them over
// the loss of a connection, chooses the tab that a call goes to, sends it at most once,
// and tells its watchers what changed (spec/PROTOCOL.md, "The rules of the hub").
//
// It knows no socket, no bucket and no MCP library: tabs are reached through a
// tabtransport.TabHubTransport, what must outlive the process goes to a
// storage.DomainToolStorage, and the faces in hub/face/mcpserver and hub/face/httpd call it.
//
// # What is where
//
// What pages offer is read by package hub/offer/item. What a hub knows, what a message
// changes of it and where a call goes is decided by package hub/state, which does
// nothing. This package has the lock around that state, and does what it decides:
//
//	update.go     the one way to change the state, and what follows: writes, timers, disconnects
//	transport.go  what the transport tells: connections, messages, losses
//	register.go   a tab registers what it offers
//	call.go       a call, from the name to the result; open.go opens a tab for it
//	list.go       the lists, rendered; notify.go tells watchers that they changed
//	subscribe.go  resources whose updates somebody wants
//
// # Who guards what
//
// Hub.mu guards the state. It is changed inside Hub.update alone, under the lock held
// exclusively, by the methods of a state.Tx; what these leave to do (writes to the
// store, connections to close, timers to start) is done when the lock is released.
// Everything else reads it under the lock shared, in sections that do not block. A call
// takes a snapshot for each attempt and holds nothing of the state when it has ended.
// Items and Listings are immutable.
//
// Outside of the state are counters of calls under way (atomic; those of a tab are
// reached through a state.Candidate), the Listings that were rendered last (each with a
// lock of its own, taken before Hub.mu), and the watchers (guarded by the notifier).
//
// # How it ends
//
// Close waits for calls and stops. A Hub stops by itself when the store refuses a write
// because another hub has loaded the user's state since: from then on it changes and
// writes nothing, its calls end with NOT_CONNECTED, and its connections are closed, so
// that they come to the other hub. Done and Err tell its owner.
package hub
