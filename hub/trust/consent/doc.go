// Package consent asks the owner. A Desk holds the open questions, brings each to a place where
// the owner can answer (a paired browser's window, the client's own user, the dashboard, the
// tabhub command), and turns the answer into what it allows: one call, a session, or a
// rule. Package policy decides what is asked.
//
// A question outlives the calls that wait for it. A client may give up and ask again: then the same
// question is asked still, in the same window, and one answer lets one call pass. When no call waits any
// more, the question is deferred: it stays open for a day, and a yes permits the identical call once.
package consent
