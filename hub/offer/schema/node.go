package schema

import (
	"math/big"
	"slices"
	"strings"
	"sync"

	"tabhub/spec/rawjson"
)

// node is one compiled schema. A field that its text does not set checks nothing. A
// node is immutable once it is compiled; references make cycles.
type node struct {
	never bool    // the schema false
	loose bool    // part of it is left to the page: that a value fits says less than the schema does
	refs  []*node // by $ref

	types  typeSet
	values [][]rawjson.Value // of const and of enum: the value is one of each
	bounds []bound           // of a number

	length  size // of a string in characters
	pattern *lazyPattern

	prefix   []*node // of the first elements
	items    *node   // of the others
	count    size    // of the elements
	unique   bool
	contains *node
	matching size // of the elements that fit contains

	properties   map[string]*node
	patterns     []patternProperty
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
	pattern *lazyPattern
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

// typeSet is a set of JSON types, by bit; 0 is all of them.
type typeSet uint8

const (
	typeNull typeSet = 1 << iota
	typeBoolean
	typeInteger
	typeNumber
	typeString
	typeArray
	typeObject
)

var typeNames = map[string]typeSet{
	"null": typeNull, "boolean": typeBoolean, "integer": typeInteger, "number": typeNumber | typeInteger,
	"string": typeString, "array": typeArray, "object": typeObject,
}

// String returns the names of the types.
func (s typeSet) String() string { return strings.Join(s.names(), " or ") }

func (s typeSet) names() []string {
	var all []string
	for i, name := range [...]string{"null", "boolean", "integer", "number", "string", "array", "object"} {
		if s&(1<<i) != 0 && !(name == "integer" && s&typeNumber != 0) {
			all = append(all, name)
		}
	}
	return all
}

// bare returns the node of schemas that ask for those types only, as most do.
func bare(types typeSet) *node { return &allBare()[types] }

var allBare = sync.OnceValue(func() *[typeObject << 1]node {
	all := new([typeObject << 1]node)
	for i := range all {
		all[i] = node{types: typeSet(i), length: anySize, count: anySize, members: anySize, matching: size{1, -1}}
	}
	return all
})

var anySize = size{most: -1}

// nothing is the node of false.
var nothing = &node{never: true}
