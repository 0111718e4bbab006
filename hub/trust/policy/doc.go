// Package policy decides what a client may do at a site: an Action is allowed, denied, or the
// owner is asked first. It is pure: it knows no clock, no lock and no disk. The hub builds the
// Action of each call, a Set decides, and package consent asks the owner.
//
// A Set is made of rules. The owner's rules, the rules that answers have made, and those of the
// preset (Mode) count alike: of the rules that match an action the most
// specific one decides, and the strictest of those that are not more specific than each
// other. A rule is more specific than another if it says at least as much of the client, the site,
// the tool and the pack, and more of one of the four. If a rule of a policy file matches, the file decides
// alone.
//
// Two things only make a decision stricter. Rules about flows are about what a
// client does that has read some site; that site is their fifth dimension.
// And a tool that was allowed with another definition (Rule.Pin) is asked about again,
// unless a later rule about it is as specific.
//
// No rule lifts the bounds above the rules: pauses, the scope of the client's credential, the
// browsers that it is bound to, and ModeReadOnly.
//
// Cedar and CEL were looked at. Cedar knows permit and forbid, but not ask, and a forbid
// always wins, so "never there, but this one tool is fine" cannot be said in one line; CEL
// gives expressions and leaves all of the above to be written around them. cedar-go would
// add 37 packages and 0.6 MB to the program.
package policy
