// Package call makes the calls of clients: it chooses a tab, has the rules decide and the owner
// asked, sends, judges what came of it, and records it.
//
//	calls.go      Calls: what clients may ask for
//	run.go        one call, from the name to the result: pick, check, admit, send, judge
//	open.go       opens a tab for a call that has none
//	userinput.go  waits while the owner uses the tab
//	gate.go       the one way from clients to tabs: decides, asks, and alone sends
//	flow.go       which sites the client has read before
//	control.go    control requests to browsers and tabs
//	own.go        what clients do on pages by themselves
//	agents.go     Agents: leases and releases tabs for sessions
//	forward.go    requests that go elsewhere than to a tab, such as to an extension of the relay
//	task.go       calls of tasks that an earlier process has sent
//	running.go    what the owner sees of calls in flight, and how they stop them
//	owner.go      what the owner's browsers show of clients
//	page.go       what a call has led to
//
// Packages below: ledger has an entry for each call, with a table of its states; apps knows the programs that
// call, group keeps the tab groups of sessions, and window asks the owner in a browser.
//
// A call takes a snapshot of the state for each attempt and holds nothing of it when it has ended.
// Counters of calls in flight are atomic; those of a tab are reached through a state.Candidate. The
// mutexes of the gate, the ledger, apps and inputWaits are leaves: nothing else is taken under them.
package call
