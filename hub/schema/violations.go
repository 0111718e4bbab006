package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxViolations is how many violations are listed.
const maxViolations = 5

// Violations says what is wrong with arguments, in words that a model can act on.
type Violations struct {
	List []Violation // at most 5, in a fixed order
	More int         // how many others there are
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

// violations puts what the validator found in words. root helps to name the members
// that there are; it may be nil.
func violations(err *jsonschema.ValidationError, root *jsonschema.Schema) *Violations {
	w := words{root: root}
	all := w.of(err)
	slices.SortFunc(all, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.What, b.What))
	})
	all = slices.Compact(all)
	n := min(len(all), maxViolations)
	return &Violations{List: all[:n:n], More: len(all) - n}
}

type words struct {
	root  *jsonschema.Schema
	graph map[*jsonschema.Schema]edges
}

// of returns the violations that an error consists of.
func (w *words) of(e *jsonschema.ValidationError) []Violation {
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		var all []Violation
		for _, cause := range e.Causes {
			all = append(all, w.of(cause)...)
		}
		return all
	case *kind.Required:
		return each(e, k.Missing, "is required")
	case *kind.AdditionalProperties:
		return each(e, k.Properties, "is not a known member"+w.known(e.SchemaURL))
	case *kind.Dependency:
		return each(e, k.Missing, "is required together with "+quoted(k.Prop))
	case *kind.DependentRequired:
		return each(e, k.Missing, "is required together with "+quoted(k.Prop))
	case *kind.AnyOf:
		return w.alternatives(e)
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return w.alternatives(e)
		}
	case *kind.PropertyNames:
		what := "is not an allowed name"
		for _, cause := range e.Causes {
			for _, v := range w.of(cause) {
				return []Violation{{pointer(e.InstanceLocation, k.Property), what + ": " + v.What}}
			}
		}
		return []Violation{{pointer(e.InstanceLocation, k.Property), what}}
	}
	return []Violation{{pointer(e.InstanceLocation), leaf(e.ErrorKind)}}
}

func each(e *jsonschema.ValidationError, members []string, what string) []Violation {
	var all []Violation
	for _, m := range members {
		all = append(all, Violation{pointer(e.InstanceLocation, m), what})
	}
	return all
}

// known lists the members that a schema knows.
func (w *words) known(schemaURL string) string {
	if w.root == nil {
		return ""
	}
	if w.graph == nil {
		_, w.graph, _ = sortSchemas(w.root)
	}
	for s := range w.graph {
		if s.Location != schemaURL || len(s.Properties) == 0 {
			continue
		}
		var names []string
		for name := range s.Properties {
			names = append(names, name)
		}
		slices.Sort(names)
		return "; known are " + list(names, 10)
	}
	return ""
}

// pointer returns the JSON pointer of a place.
func pointer(path []string, more ...string) string {
	var b strings.Builder
	for _, tokens := range [...][]string{path, more} {
		for _, t := range tokens {
			b.WriteByte('/')
			b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(cut(t)))
		}
	}
	if b.Len() == 0 {
		return "arguments"
	}
	return b.String()
}
