package schema

import (
	"errors"
	"maps"
	"slices"
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
	cost  int     // of the schema itself
	same  []*node // they look at the same value
	parts [][]*node
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
func workOf(root *node) ([]int, error) {
	order, graph, err := sortSchemas(root)
	if err != nil {
		return nil, err
	}
	var all []int
	last := map[*node]int{}
	for stable := false; !stable; {
		if len(all) == maxWorkDepth {
			return append(all, maxCheck+1), nil
		}
		now := make(map[*node]int, len(order))
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

// sortSchemas returns all schemas that root leads to, each after those that look at
// the same value.
func sortSchemas(root *node) (order []*node, graph map[*node]edges, err error) {
	graph = map[*node]edges{}
	open := map[*node]bool{}
	var later []*node
	var visit func(s *node) error
	visit = func(s *node) error {
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

// cost is how much work a node causes itself.
func (n *node) cost() int {
	cost := 1 + len(n.required) + 8*len(n.patternProperties) // an expression to match with each name
	for _, values := range n.values {
		cost += len(values)
	}
	return cost
}

func edgesOf(n *node) edges {
	e := edges{cost: n.cost()}
	same := func(subs ...*node) {
		for _, sub := range subs {
			if sub != nil {
				e.same = append(e.same, sub)
			}
		}
	}
	same(n.refs...)
	same(n.not, n.cond, n.then, n.elseThe)
	same(n.allOf...)
	same(n.anyOf...)
	same(n.oneOf...)
	for _, d := range n.dependencies {
		same(d.schema)
	}
	group := func(subs ...*node) {
		subs = slices.DeleteFunc(subs, func(sub *node) bool { return sub == nil })
		if len(subs) > 0 {
			e.parts = append(e.parts, subs)
		}
	}
	group(append(slices.Collect(maps.Values(n.properties)), n.additional)...)
	for _, p := range n.patternProperties {
		group(p.schema)
	}
	group(n.unevaluatedProperties)
	group(n.names)
	group(append(slices.Clone(n.prefix), n.items)...)
	group(n.contains)
	group(n.unevaluatedItems)
	return e
}
