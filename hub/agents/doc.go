// Package agents has what the sessions of clients have of tabs: which tabs a session's calls
// prefer, which it has leased, which it has opened (its tab group), and which of the leased ones
// the owner uses. Routing asks it what one session has of one tab (Standing); what it
// keeps of a session outlives the process in one document of the store.
//
// Like package state, which holds an Agents, it has no lock, clock, I/O or goroutine. Tabs are
// known by address alone; what else is needed of them comes through the interface Tabs.
//
// # Changing and reading
//
// A Tx changes an Agents, and is part of a state.Tx. Only what each call changes is changed
// without one, by Standing.Begin and End; these values are atomic:
//
//	Session.used, Session.latest               when the session was used, and where its latest call went
//	lease.calls, lease.renewed, lease.saved    calls in the leased tab, and when it was used
//
// Begin and End report when what is stored of them is stale; the caller then has a Tx save the
// session.
package agents
