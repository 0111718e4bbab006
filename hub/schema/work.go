package schema

import (
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// maxWork is how much work a schema may cause for one value without members.
	maxWork = 100_000
	// maxWorkDepth is how deeply a schema's recursion into itself is followed.
	maxWorkDepth = 64
	// maxCheck is how much work one check may take: a second or so at the very worst.
	maxCheck = 5_000_000
)

// edges are the schemas that a schema hands a value on to.
type edges struct {
	cost  int                  // of the schema itself
	same  []*jsonschema.Schema // they look at the same value
	parts [][]*jsonschema.Schema
	// parts are groups that look at the members or elements: of each group one
	// schema looks at each of them.
}

// workOf returns a bound for the work that a schema causes, by the depth of the
// value: so many times is a value looked at, at most, for each value within it.
// Depths beyond the last entry cost what it says. A schema that would never end, or
// not soon, is an error.
//
// Without it a page could register a few hundred bytes, references to twice the
// next reference and so on, that keep the hub busy for years.
func workOf(root *jsonschema.Schema) ([]int, error) {
	order, graph, err := sortSchemas(root)
	if err != nil {
		return nil, err
	}
	var all []int
	last := map[*jsonschema.Schema]int{}
	for stable := false; !stable; {
		if len(all) == maxWorkDepth {
			return append(all, maxCheck+1), nil
		}
		now := make(map[*jsonschema.Schema]int, len(order))
		stable = len(all) > 0
		for _, s := range order {
			e := graph[s]
			n := e.cost
			for _, sub := range e.same {
				n = min(n+now[sub], maxCheck+1)
			}
			for _, group := range e.parts {
				most := 0
				for _, sub := range group {
					most = max(most, last[sub])
				}
				n = min(n+most, maxCheck+1)
			}
			now[s] = n
			stable = stable && n == last[s]
		}
		if now[root] > maxWork && len(all) < 2 {
			return nil, errors.New("its combinations and references multiply to more work than is reasonable")
		}
		all, last = append(all, now[root]), now
	}
	return all, nil
}

// affordable reports whether a value of so many values, nested so deeply, can be
// checked in reasonable time.
func (f *full) affordable(nodes, depth int) bool {
	return f.work[min(depth, len(f.work)-1)] <= maxCheck/nodes
}

// sortSchemas returns all schemas that root leads to, each after those that look at
// the same value.
func sortSchemas(root *jsonschema.Schema) (order []*jsonschema.Schema, graph map[*jsonschema.Schema]edges, err error) {
	graph = map[*jsonschema.Schema]edges{}
	open := map[*jsonschema.Schema]bool{}
	var later []*jsonschema.Schema
	var visit func(s *jsonschema.Schema) error
	visit = func(s *jsonschema.Schema) error {
		if open[s] {
			return errors.New("has a reference that leads back to itself without going into a member")
		}
		if _, done := graph[s]; done {
			return nil
		}
		e := edgesOf(s)
		graph[s] = e
		open[s] = true
		for _, sub := range e.same {
			if err := visit(sub); err != nil {
				return err
			}
		}
		delete(open, s)
		order = append(order, s)
		for _, group := range e.parts {
			later = append(later, group...)
		}
		return nil
	}
	for later = append(later, root); len(later) > 0; {
		s := later[len(later)-1]
		later = later[:len(later)-1]
		if err := visit(s); err != nil {
			return nil, nil, err
		}
	}
	return order, graph, nil
}

func edgesOf(s *jsonschema.Schema) edges {
	e := edges{cost: 1 + len(s.Required)}
	if s.Enum != nil {
		e.cost += len(s.Enum.Values)
	}
	same := func(subs ...*jsonschema.Schema) {
		for _, sub := range subs {
			if sub != nil {
				e.same = append(e.same, sub)
			}
		}
	}
	same(s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else)
	if s.DynamicRef != nil {
		same(s.DynamicRef.Ref)
	}
	same(s.AllOf...)
	same(s.AnyOf...)
	same(s.OneOf...)
	for _, sub := range s.DependentSchemas {
		same(sub)
	}
	for _, d := range s.Dependencies {
		if sub, ok := d.(*jsonschema.Schema); ok {
			same(sub)
		}
	}

	part := func(subs ...any) {
		var group []*jsonschema.Schema
		for _, sub := range subs {
			switch sub := sub.(type) {
			case *jsonschema.Schema:
				if sub != nil {
					group = append(group, sub)
				}
			case []*jsonschema.Schema:
				group = append(group, sub...)
			}
		}
		if group != nil {
			e.parts = append(e.parts, group)
		}
	}
	members := []any{s.AdditionalProperties}
	for _, sub := range s.Properties {
		members = append(members, sub)
	}
	part(members...)
	for _, sub := range s.PatternProperties {
		e.cost += 8 // an expression to match with each name
		part(sub)
	}
	part(s.UnevaluatedProperties)
	part(s.PropertyNames)
	part(s.Items, s.AdditionalItems, s.PrefixItems, s.Items2020)
	part(s.Contains)
	part(s.UnevaluatedItems)
	return e
}
