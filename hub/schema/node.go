package schema

import "math/big"

// node is one compiled schema. A field that its text does not set checks nothing. A
// node is immutable once compileNode has returned it; references make cycles.
type node struct {
	never bool    // the schema false
	refs  []*node // by $ref, $dynamicRef and $recursiveRef

	types    typeSet
	constant *any
	enum     []any

	minimum, maximum, above, below, multipleOf *big.Rat

	minLength, maxLength *int
	pattern              *lazyPattern

	prefix             []*node // of the first elements
	items              *node   // of the others
	minItems, maxItems *int
	unique             bool

	contains                 *node
	minContains, maxContains *int
	containsEvaluates        bool // what contains accepts is evaluated, since 2020-12

	properties                   map[string]*node
	patternProperties            map[*lazyPattern]*node
	additional                   *node
	names                        *node
	required                     []string
	minProperties, maxProperties *int
	dependencies                 []dependency

	allOf, anyOf, oneOf      []*node
	not, cond, then, elseThe *node

	unevaluatedItems, unevaluatedProperties *node
}

// dependency is what an object must be that has a member of a name.
type dependency struct {
	name     string
	required []string
	schema   *node // nil: any
}

// draft is a version of JSON Schema, as a number that grows.
type draft int

const (
	draft04   draft = 4
	draft06   draft = 6
	draft07   draft = 7
	draft2019 draft = 2019
	draft2020 draft = 2020
)
