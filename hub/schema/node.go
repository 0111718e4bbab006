package schema

import (
	"strings"

	"tabhub/spec/rawjson"
)

// node is one compiled schema. A field that its text does not set checks nothing. A
// node is immutable once it is compiled; references make cycles.
type node struct {
	never bool    // the schema false
	loose bool    // may accept more than its text, see loosen
	refs  []*node // by $ref, $dynamicRef and $recursiveRef

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
	matching size // the elements that contains accepts

	properties        map[string]*node
	patternProperties []patternProperty
	additional        *node
	names             *node
	required          []string
	members           size
	dependencies      []dependency

	allOf, anyOf, oneOf        []*node
	not, cond, then, otherwise *node

	unevaluatedItems, unevaluatedProperties *node
	containsEvaluates                       bool // what contains accepts is evaluated, since 2020-12
}

// size bounds a count.
type size struct{ least, most int } // most -1: any

// bound is what one keyword asks of a number.
type bound struct {
	keyword string
	value   number
}

// patternProperty is what members are whose names match a pattern.
type patternProperty struct {
	pattern *lazyPattern
	schema  *node
}

// dependency is what an object must be that has a member of a name.
type dependency struct {
	name     string
	required []string
	schema   *node // nil: any
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

// bare are the nodes of schemas that ask for types only, which most are.
var bare = func() (all [typeObject << 1]node) {
	for i := range all {
		all[i] = node{types: typeSet(i), length: size{most: -1}, count: size{most: -1}, members: size{most: -1}, matching: size{1, -1}}
	}
	return all
}()

// nothing is the node of false.
var nothing = &node{never: true}
