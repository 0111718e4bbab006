// Package flow tells which site's values an agent sends to another site. A Tracker has, for
// each client, hashes of what sites returned to it; Find looks for them in what the client
// is about to send.
//
// What is recognised is a value: a short string as a whole, a word with digits or an @, a
// number, a name in a text, or a passage of a longer text; also if letter case, separators
// or spaces were changed, and in base64, hex, percent-encoding or JSON in a string
// (spec/docs/FLOWS.md says what is not). The text itself is not kept.
//
// A value belongs to the site that returned it first. It is nobody's if the client sent it
// before any site returned it, or if three sites have returned it; and to a site that has
// returned it itself, it does not flow.
package flow
