// Package policy decides who may do what where: an Action is allowed, the owner is to be
// asked first, or it is denied. It is pure: it knows no clock, no lock and no disk. Hub
// builds the Action of each call and has a Set decide; hub/trust/consent asks the owner.
//
// A Set is made of rules. Those of the owner, the answers that the owner has given and
// those of the preset (Mode) count alike: of the rules that match an action the most
// specific one decides, and the strictest of those that are not more specific than each
// other. A rule is more specific than another if it says at least as much in who, where and
// what, and more in one of the three. The rules of a policy file, if one matches, decide
// alone.
//
// Two things can only make a decision stricter: the rules about flows, which are about what a
// client does that has read some site, and of which the same holds with from as a fourth
// dimension; and that what was allowed with another definition (Rule.Pin) is asked for again,
// unless a later rule says something as specific of it.
//
// Above the rules are bounds that no rule lifts: what the owner has paused, what the
// credential of the client is good for, and that in ModeReadOnly nothing but reading is
// done.
//
// Cedar and CEL were looked at. Cedar knows permit and forbid, but not ask, and a forbid
// always wins, so "never there, but this one tool is fine" cannot be said in one line; CEL
// gives expressions and leaves all of the above to be written around them. cedar-go would
// add 37 packages and 0.6 MB to the program.
package policy
