package schema

import (
	"fmt"
	"slices"
	"strings"

	"tabhub/spec/rawjson"
)

// alternatives says that a value fits none of several schemas: by what they ask for
// where that can be said together, else by the one that it fits best.
func (f failure) alternatives() Violation {
	where := f.at.pointer()
	if what := f.together(); what != "" {
		return Violation{where, what}
	}
	var nearest []Violation
	best := 0
	for i, branch := range f.branches {
		all := inWords(branch)
		if n := distance(branch, all); i == 0 || n < best {
			nearest, best = all, n
		}
	}
	what := fmt.Sprintf("fits none of %d alternatives", len(f.branches))
	for i, v := range nearest[:min(len(nearest), 2)] {
		what += [...]string{"; nearest: ", " and "}[i] + v.String()
	}
	return Violation{where, what}
}

// together returns what the branches ask for if they are all about the type or all
// about the value, "" if they are not.
func (f failure) together() string {
	var types typeSet
	var values []rawjson.Value
	var got any
	for _, branch := range f.branches {
		if len(branch) != 1 || branch[0].at != f.at {
			return ""
		}
		switch got = branch[0].got; want := branch[0].want.(type) {
		case typeSet:
			types |= want
		case []rawjson.Value:
			values = append(values, want...)
		default:
			return ""
		}
	}
	switch {
	case values == nil:
		names := types.names()
		slices.Sort(names)
		return "must be " + strings.Join(names, " or ") + ", got " + got.(typeSet).String()
	case types == 0:
		return oneOf(values) + ", got " + shown(got.(*rawjson.Value))
	}
	return ""
}

// distance says how far a value is from a branch that it fails.
func distance(branch []failure, all []Violation) int {
	n := len(all)
	if !allLenient(branch) {
		n += 1000
	}
	if len(branch) == 1 {
		switch branch[0].keyword {
		case "type":
			n += 100
		case "enum":
			n += 50
		}
	}
	for _, v := range all {
		// What tells alternatives apart is usually a constant.
		if strings.HasPrefix(v.What, "must be \"") {
			n += 10
		}
	}
	return n
}
