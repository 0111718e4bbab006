// Package core has the state of one user behind its lock, between the transport and the store
// (Core), and the rules that the owner has made (Rules).
//
// What a message changes of the state is decided by package state, which does nothing. This
// package has the lock around it, and does what follows:
//
//	update.go     the one way to change the state, and what follows: writes, timers, disconnects
//	transport.go  what the transport tells: connections, messages, losses
//	register.go   a tab registers what it offers
//	packs.go      tools of packs are what the owner's packs say
//	documents.go  what other packages keep in the user's store
//	rules.go      the policy, and what a caller sees of the state
//
// # What guards what
//
// Core.mu guards the state. It is changed inside Core.Update alone, under the lock held
// exclusively, by the methods of a state.Tx; what these leave to do (writes to the store,
// connections to close, timers to start, Hooks) is done when the lock is released. Everything else
// reads it under the lock shared, in sections that do not block: View, or RLock and State.
// Rules.editing is taken before Core.mu.
//
// # How it ends
//
// Refuse, Drain and Finish are the steps of an orderly end. A Core stops by itself when the store
// refuses a write because another hub has loaded the user's state since: from then on it changes
// and writes nothing, its calls end with NOT_CONNECTED, and its connections are closed, so that
// they come to the other hub. Done and Err tell its owner.
package core
