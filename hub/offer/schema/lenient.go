package schema

import (
	"slices"
	"strconv"

	"tabhub/hub/offer/keyword"
	"tabhub/spec/rawjson"
)

// Pages often accept what their schemas do not: a pattern that is stricter than the
// tool, an enum that was filled in later, null where nothing is meant. So violations are
// of two classes.
//
// The hub refuses arguments that the page could not judge: one that is missing, one of another
// type, and one that the schema does not know, which a page would ignore,
// so that a misspelled argument would make the call do something else.
//
// All other violations are lenient: the argument reaches the page under its name and in its type,
// and only its value is not as the schema says. A null for an argument that is not
// required is lenient, too, if the others fit without it. Of alternatives one that has only lenient
// violations is enough; but constants among their members, such as a "kind", choose one of them.

// allLenient reports whether a lenient reading lets all failures pass.
func allLenient(all []failure) bool {
	return !slices.ContainsFunc(all, func(f failure) bool { return !f.lenient() })
}

func (f failure) lenient() bool {
	switch f.keyword {
	case "type", "required", "dependentRequired", "additionalProperties", "propertyNames", "false":
		return f.optional
	case "enum":
		// Values that are all of another type tell which type is meant.
		values, got := f.want.([]rawjson.Value), f.got.(*rawjson.Value)
		return f.optional || len(values) == 0 || slices.ContainsFunc(values, func(v rawjson.Value) bool { return v.Kind == got.Kind })
	case "anyOf":
		return f.optional || slices.ContainsFunc(f.meant(), allLenient)
	}
	return true
}

// meant returns the alternatives that a value can stand for: those of its type with the
// constants among its members, or all if there are none.
func (f failure) meant() [][]failure {
	excludes := func(b failure) bool {
		if b.at == f.at {
			return b.keyword == "type"
		}
		return b.keyword == "enum" && len(b.want.([]rawjson.Value)) == 1
	}
	meant := slices.DeleteFunc(slices.Clone(f.branches), func(b []failure) bool { return slices.ContainsFunc(b, excludes) })
	if len(meant) == 0 {
		return f.branches
	}
	return meant
}

// leaveOut removes from arguments each null that is in place of a member that may be left
// out, and that fails.
func leaveOut(args *rawjson.Value, all []failure) {
	for _, f := range all {
		if f.optional {
			object := valueAt(args, f.at.Parent)
			object.Members = slices.DeleteFunc(object.Members, func(m rawjson.Member) bool { return m.Name == f.at.Token })
		}
		for _, branch := range f.branches {
			leaveOut(args, branch)
		}
	}
}

// valueAt returns the value at a place within arguments.
func valueAt(args *rawjson.Value, p *keyword.Place) *rawjson.Value {
	if p == nil {
		return args
	}
	v := valueAt(args, p.Parent)
	if v.Kind == rawjson.KindArray {
		i, _ := strconv.Atoi(p.Token)
		return &v.Elements[i]
	}
	return v.Member(p.Token)
}
