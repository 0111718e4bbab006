package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// alternatives reports a value that fits none of several schemas: by what they ask
// for where that can be said together, else by the one that it fits best.
func (w *words) alternatives(e *jsonschema.ValidationError) []Violation {
	where := pointer(e.InstanceLocation)
	if what := together(e.Causes, where); what != "" {
		return []Violation{{where, what}}
	}
	var nearest []Violation
	best := 0
	for i, cause := range e.Causes {
		all := w.of(cause)
		if n := distance(behindRef(cause), all); i == 0 || n < best {
			nearest, best = all, n
		}
	}
	what := fmt.Sprintf("fits none of %d alternatives", len(e.Causes))
	for i, v := range nearest[:min(len(nearest), 2)] {
		what += [...]string{"; nearest: ", " and "}[i] + v.String()
	}
	return []Violation{{where, what}}
}

// together returns what alternatives ask for that are all about the type or all
// about the value at where, "" if they are not.
func together(causes []*jsonschema.ValidationError, where string) string {
	var types []string
	var values []any
	var got string
	for _, cause := range causes {
		cause = behindRef(cause)
		if pointer(cause.InstanceLocation) != where {
			return ""
		}
		switch k := cause.ErrorKind.(type) {
		case *kind.Type:
			types, got = append(types, k.Want...), k.Got
		case *kind.Const:
			values, got = append(values, k.Want), shown(k.Got)
		case *kind.Enum:
			values, got = append(values, k.Want...), shown(k.Got)
		default:
			return ""
		}
	}
	switch {
	case values == nil && types != nil:
		slices.Sort(types)
		return "must be " + strings.Join(slices.Compact(types), " or ") + ", got " + got
	case types == nil && values != nil:
		return oneOf(values) + ", got " + got
	}
	return ""
}

// distance says how far a value is from an alternative that it violates so.
func distance(cause *jsonschema.ValidationError, all []Violation) int {
	n := len(all)
	switch cause.ErrorKind.(type) {
	case *kind.Type:
		n += 100
	case *kind.Const, *kind.Enum:
		n += 50
	}
	for _, v := range all {
		// What tells alternatives apart is usually a constant.
		if strings.HasPrefix(v.What, "must be \"") {
			n += 10
		}
	}
	return n
}

// behindRef returns the one error behind references.
func behindRef(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	for len(e.Causes) == 1 {
		if _, ok := e.ErrorKind.(*kind.Reference); !ok {
			break
		}
		e = e.Causes[0]
	}
	return e
}
