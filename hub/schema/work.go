package schema

import (
	"errors"
	"maps"
	"slices"

	"tabhub/spec/rawjson"
)

const (
	// maxWork is how much work a schema may cause for one value, its members apart.
	maxWork = 100_000
	// maxCheck is how much work one check may take: a second or so at the very worst.
	maxCheck = 5_000_000
)

// budget is the work that is left for a check. Without it a page could register a few
// hundred bytes, references that multiply with the depth of the arguments, that keep
// the hub busy for years.
type budget int

// spend takes what evaluating v costs and reports whether there is enough left.
func (b *budget) spend(n *node, v *rawjson.Value) bool {
	if *b <= 0 {
		return false
	}
	*b -= budget(n.cost() + len(v.Members) + len(v.Elements))
	if n.unique || n.values != nil && (v.Members != nil || v.Elements != nil) {
		values(v, func(*rawjson.Value) { *b-- }) // it is compared in depth
	}
	return *b > 0
}

// cost is how much work a node causes for any value.
func (n *node) cost() int {
	cost := 1 + len(n.required) + 8*len(n.patternProperties) // an expression to match with each name
	for _, values := range n.values {
		cost += len(values)
	}
	return cost
}

// checkWork refuses a schema that would never end, or not soon, for one value. Only
// references make one.
func checkWork(root *node) error {
	work := map[*node]int{} // 0 while it is summed up
	parts := []*node{root}
	var add func(n *node) error
	add = func(n *node) error {
		if w, found := work[n]; found && w == 0 {
			return errors.New("has a reference that leads back to itself without going into a member")
		} else if found {
			return nil
		}
		work[n] = 0
		sum := n.cost()
		for _, sub := range n.same() {
			if err := add(sub); err != nil {
				return err
			}
			if sum += work[sub]; sum > maxWork {
				return errors.New("its combinations and references multiply to more work than is reasonable")
			}
		}
		work[n] = sum
		parts = append(parts, n.parts()...)
		return nil
	}
	for len(parts) > 0 {
		n := parts[len(parts)-1]
		parts = parts[:len(parts)-1]
		if err := add(n); err != nil {
			return err
		}
	}
	return nil
}

// same returns the nodes that n hands its value on to.
func (n *node) same() []*node {
	all := slices.Concat(n.refs, n.allOf, n.anyOf, n.oneOf, []*node{n.not, n.cond, n.then, n.otherwise})
	for _, d := range n.dependencies {
		all = append(all, d.schema)
	}
	return slices.DeleteFunc(all, func(sub *node) bool { return sub == nil })
}

// parts returns the nodes that n hands members, their names or elements on to.
func (n *node) parts() []*node {
	all := slices.Concat(slices.Collect(maps.Values(n.properties)), n.prefix,
		[]*node{n.additional, n.names, n.items, n.contains, n.unevaluatedProperties, n.unevaluatedItems})
	for _, p := range n.patternProperties {
		all = append(all, p.schema)
	}
	return slices.DeleteFunc(all, func(sub *node) bool { return sub == nil })
}
