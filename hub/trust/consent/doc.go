// Package consent asks the owner. A Desk has the questions that are open, gets them to
// whoever can answer (a paired browser's window, the client's own user, the dashboard, the
// tabhub command), and makes of an answer what it is good for: one call, a session, or a
// rule.
//
// It decides nothing: what is to be asked, package policy says.
package consent
