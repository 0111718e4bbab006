package schema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tabhub/hub/offer/keyword"
	"tabhub/spec/rawjson"
)

// maxViolations is how many violations are listed.
const maxViolations = 5

// Violations says what is wrong with arguments, in words that a model can act on.
type Violations struct {
	words   string
	Lenient bool // a lenient reading of the schema lets the arguments pass
}

func (v *Violations) Error() string { return v.words }

// violation is one thing that is wrong.
type violation struct {
	where string // JSON pointer to the value; "arguments" for all of them
	what  string // "must be integer, got string"
}

func (v violation) String() string { return v.where + ": " + v.what }

// about is the only violation, of all arguments.
func about(err error) *Violations { return &Violations{words: "arguments: " + err.Error()} }

// violations puts failures in words.
func violations(failures []failure) *Violations {
	all := inWords(failures)
	var lines []string
	for _, v := range all[:min(len(all), maxViolations)] {
		lines = append(lines, v.String())
	}
	if n := len(all) - maxViolations; n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", n))
	}
	return &Violations{strings.Join(lines, "; "), allLenient(failures)}
}

// inWords returns what failures say, in a fixed order.
func inWords(failures []failure) []violation {
	var all []violation
	for _, f := range failures {
		all = append(all, f.violations()...)
	}
	slices.SortFunc(all, func(a, b violation) int {
		return cmp.Or(cmp.Compare(a.where, b.where), cmp.Compare(a.what, b.what))
	})
	return slices.Compact(all)
}

// violations returns what a failure says: one violation, or one for each member that
// it is about.
func (f failure) violations() []violation {
	switch f.keyword {
	case "required":
		return f.each("is required")
	case "dependentRequired":
		return f.each("is required together with " + keyword.Quoted(f.want.(string)))
	case "propertyNames":
		return []violation{{pointer(f.at), "is not an allowed name: " + inWords(f.branches[0])[0].what}}
	case "additionalProperties":
		return f.each("is not a known member" + known(f.want.(*node)))
	case "anyOf":
		return []violation{{pointer(f.at), f.alternatives()}}
	}
	return []violation{{pointer(f.at), f.what()}}
}

// alternatives says that a value fits none of several schemas: by what they ask for
// where that can be said together, else by the one that it fits best.
func (f failure) alternatives() string {
	if what := f.together(); what != "" {
		return what
	}
	var nearest []violation
	for i, branch := range f.meant() {
		if all := inWords(branch); i == 0 || len(all) < len(nearest) {
			nearest = all
		}
	}
	what := fmt.Sprintf("fits none of %d alternatives", len(f.branches))
	for i, v := range nearest[:min(len(nearest), 2)] {
		what += [...]string{"; nearest: ", " and "}[i] + v.String()
	}
	return what
}

// together returns what the branches ask for if they are all about the type or all
// about the value, "" if they are not.
func (f failure) together() string {
	var types keyword.Types
	var values []rawjson.Value
	var got any
	for _, branch := range f.branches {
		if len(branch) != 1 || branch[0].at != f.at {
			return ""
		}
		switch got = branch[0].got; want := branch[0].want.(type) {
		case keyword.Types:
			types |= want
		case []rawjson.Value:
			values = append(values, want...)
		default:
			return ""
		}
	}
	switch {
	case values == nil && types != 0:
		names := types.Names()
		slices.Sort(names)
		return "must be " + strings.Join(names, " or ") + ", got " + got.(keyword.Types).String()
	case values != nil && types == 0:
		return oneOf(values) + ", got " + shown(got.(*rawjson.Value))
	}
	return ""
}

// each returns a violation for each member that f has got.
func (f failure) each(what string) []violation {
	var all []violation
	for _, name := range f.got.([]string) {
		all = append(all, violation{(&keyword.Place{Parent: f.at, Token: name}).Pointer(), what})
	}
	return all
}

// known lists the members that a schema knows.
func known(n *node) string {
	if len(n.properties) == 0 {
		return ""
	}
	return "; known are " + listed(slices.Sorted(maps.Keys(n.properties)), 10)
}

// pointer returns the JSON pointer of a place, as a client knows it.
func pointer(p *keyword.Place) string { return cmp.Or(p.Pointer(), "arguments") }
