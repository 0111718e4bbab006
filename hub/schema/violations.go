package schema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxViolations is how many violations are listed.
const maxViolations = 5

// Violations says what is wrong with arguments, in words that a model can act on.
type Violations struct {
	List []Violation // at most 5, in a fixed order
	More int         // how many others there are
	// Lenient says that a lenient reading of the schema lets the arguments pass.
	Lenient bool
}

// Violation is one thing that is wrong.
type Violation struct {
	Where string // JSON pointer to the value; "arguments" for all of them
	What  string // "must be integer, got string"
}

func (v *Violations) Error() string {
	lines := make([]string, 0, len(v.List)+1)
	for _, one := range v.List {
		lines = append(lines, one.String())
	}
	if v.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", v.More))
	}
	return strings.Join(lines, "; ")
}

func (v Violation) String() string { return v.Where + ": " + v.What }

// about is the only violation, of a place that err speaks of.
func about(where string, err error) *Violations {
	return &Violations{List: []Violation{{where, err.Error()}}}
}

// violations puts failures in words.
func violations(failures []failure) *Violations {
	all := inWords(failures)
	n := min(len(all), maxViolations)
	return &Violations{List: all[:n:n], More: len(all) - n, Lenient: allLenient(failures)}
}

// inWords returns what failures say, in a fixed order.
func inWords(failures []failure) []Violation {
	var all []Violation
	for _, f := range failures {
		all = append(all, f.violations()...)
	}
	slices.SortFunc(all, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.What, b.What))
	})
	return slices.Compact(all)
}

// violations returns what a failure says: one violation, or one for each member that
// it is about.
func (f failure) violations() []Violation {
	switch f.keyword {
	case "required":
		return f.each("is required")
	case "dependentRequired":
		return f.each("is required together with " + quoted(f.want.(string)))
	case "additionalProperties":
		return f.each("is not a known member" + known(f.want.(*node)))
	case "anyOf":
		return []Violation{f.alternatives()}
	case "propertyNames":
		return []Violation{{f.at.pointer(), "is not an allowed name: " + inWords(f.branches[0])[0].What}}
	}
	return []Violation{{f.at.pointer(), f.what()}}
}

// each returns a violation for each member that f has got.
func (f failure) each(what string) []Violation {
	var all []Violation
	for _, name := range f.got.([]string) {
		all = append(all, Violation{(&place{f.at, name}).pointer(), what})
	}
	return all
}

// known lists the members that a schema knows.
func known(n *node) string {
	if len(n.properties) == 0 {
		return ""
	}
	return "; known are " + list(slices.Sorted(maps.Keys(n.properties)), 10)
}

// pointer returns the JSON pointer of a place.
func (p *place) pointer() string {
	if p == nil {
		return "arguments"
	}
	var tokens []string
	for ; p != nil; p = p.parent {
		tokens = append(tokens, "/"+escape(cut(p.token)))
	}
	slices.Reverse(tokens)
	return strings.Join(tokens, "")
}
