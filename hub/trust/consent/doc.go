// Package consent asks the owner. A Desk holds the open questions, brings each to a place where
// the owner can answer (a paired browser's window, the client's own user, the dashboard, the
// tabhub command), and turns the answer into what it allows: one call, a session, or a
// rule. Package policy decides what is asked.
//
// A question waits while its call does. If the call ends without an answer, the question is
// deferred: it stays open for some minutes, and a yes permits the same call once.
package consent
