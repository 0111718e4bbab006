package schema

import (
	"math/big"
	"strings"

	"tabhub/spec/rawjson"
)

// node is one compiled schema. A field that its text does not set checks nothing. A
// node is immutable once it is compiled; references make cycles.
type node struct {
	never bool    // the schema false
	refs  []*node // by $ref

	types  typeSet
	values [][]rawjson.Value // of const and of enum: the value is one of each
	bounds []bound           // of a number

	length  size // of a string in characters
	pattern *lazyPattern

	prefix []*node // of the first elements
	items  *node   // of the others
	count  size    // of the elements

	properties map[string]*node
	additional *node
	required   []string

	allOf []*node
	anyOf [][]*node // of anyOf and of oneOf: the value fits one of each
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

// bare are the nodes of schemas that ask for types only, which most are.
var bare = func() (all [typeObject << 1]node) {
	for i := range all {
		all[i] = node{types: typeSet(i), length: size{most: -1}, count: size{most: -1}}
	}
	return all
}()

// nothing is the node of false.
var nothing = &node{never: true}
