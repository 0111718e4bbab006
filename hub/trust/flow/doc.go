// Package flow knows which sites each client has read, and can show what of them stands in
// what it sends.
//
// Rules decide by the sites alone: a Tracker has a set of them for each client, so a client cannot
// get around the rules by changing a text. To show the owner more, a Tracker also has the texts that
// sites have returned to a client last, and that the client has sent. It compares them when
// somebody looks.
//
// A comparison recognises values: a short string as a whole, a word with digits or an @, a
// number, a name in a text, or a passage of a longer text; also if letter case, separators
// or spaces have changed, and in base64, hex, percent-encoding or JSON in a string
// (spec/docs/POLICY.md says what it does not recognise).
//
// A value belongs to the site that returned it first. It belongs to no site if the client sent it
// before any site returned it, or if three sites have returned it; and it does not flow to a site
// that has returned it, too.
package flow
