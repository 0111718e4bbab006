// Package flow knows which sites each client has read, and can show what of them stands in
// what it sends.
//
// What is decided by is the sites alone: a Tracker has a set of them for each client, which
// nothing that a client does to a text gets around. So that a person who is asked sees more
// than that, it also has the texts that sites have returned to a client last, and that it has
// sent. They are kept as they are, and compared when somebody looks.
//
// What is recognised then is a value: a short string as a whole, a word with digits or an @, a
// number, a name in a text, or a passage of a longer text; also if letter case, separators
// or spaces were changed, and in base64, hex, percent-encoding or JSON in a string
// (spec/docs/FLOWS.md says what is not).
//
// A value belongs to the site that returned it first. It is nobody's if the client sent it
// before any site returned it, or if three sites have returned it; and to a site that has
// returned it itself, it does not flow.
package flow
