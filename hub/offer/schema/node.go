package schema

import (
	"math/big"
	"slices"
	"sync"

	"tabhub/hub/offer/keyword"
	"tabhub/spec/rawjson"
)

// node is one compiled schema. A field that its text does not set checks nothing. A
// node is immutable once it is compiled; references make cycles.
type node struct {
	never bool    // the schema false
	loose bool    // part of it is left to the page: that a value fits says less than the schema does
	refs  []*node // by $ref

	types  keyword.Types
	values [][]rawjson.Value // of const and of enum: the value is one of each
	bounds []bound           // of a number

	length  size // of a string in characters
	pattern *keyword.Pattern

	prefix   []*node // of the first elements
	items    *node   // of the others
	count    size    // of the elements
	unique   bool
	contains *node
	matching size // of the elements that fit contains

	properties   map[string]*node
	patterns     []patternProperty
	anyName      bool // the names that patternProperties are about are not all known
	additional   *node
	names        *node
	required     []string
	members      size
	dependencies []dependency

	allOf []*node
	anyOf [][]*node // the value fits one of each
	oneOf []*node
	not   *node

	cond, then, otherwise *node
}

// patternProperty is of the members whose names match.
type patternProperty struct {
	pattern *keyword.Pattern
	node    *node
}

// dependency is what the member of that name asks for.
type dependency struct {
	name     string
	required []string
	node     *node // may be nil
}

// parts calls f for each schema that n needs to be evaluated, of the same value or of one within.
func (n *node) parts(f func(sub *node, same bool)) {
	for _, all := range append([][]*node{n.refs, n.allOf, n.oneOf, {n.not, n.cond, n.then, n.otherwise}}, n.anyOf...) {
		for _, sub := range all {
			f(sub, true)
		}
	}
	for _, d := range n.dependencies {
		f(d.node, true)
	}
	for _, sub := range append(slices.Clone(n.prefix), n.items, n.contains, n.additional, n.names) {
		f(sub, false)
	}
	for _, sub := range n.properties {
		f(sub, false)
	}
	for _, p := range n.patterns {
		f(p.node, false)
	}
}

// settle leaves to the page what would refuse a value because it fits a loose schema.
func (n *node) settle() {
	loose := func(sub *node) bool { return sub != nil && sub.loose }
	if loose(n.not) {
		n.not = nil
	}
	if loose(n.cond) {
		n.cond = nil
	}
	if loose(n.contains) {
		n.contains = nil
	}
	if slices.ContainsFunc(n.oneOf, loose) {
		n.anyOf, n.oneOf = append(n.anyOf, n.oneOf), nil
	}
}

// size bounds a count.
type size struct{ least, most int } // most -1: any

// bound is what one keyword asks of a number.
type bound struct {
	keyword string
	value   *big.Rat
}

// bare returns the node of schemas that ask for those types only, as most do.
func bare(types keyword.Types) *node { return &allBare()[types] }

var allBare = sync.OnceValue(func() *[keyword.Object << 1]node {
	all := new([keyword.Object << 1]node)
	for i := range all {
		all[i] = node{types: keyword.Types(i), length: anySize, count: anySize, members: anySize, matching: size{1, -1}}
	}
	return all
})

var anySize = size{most: -1}

var (
	// nothing is the node of false.
	nothing = &node{never: true}
	// unknown is the node of what is no schema.
	unknown = &node{loose: true, length: anySize, count: anySize, members: anySize, matching: size{1, -1}}
)
