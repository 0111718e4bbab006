package keyword

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"tabhub/spec/rawjson"
)

// Types is a set of JSON types, by bit; 0 is all of them.
type Types uint8

// The types of JSON Schema.
const (
	Null Types = 1 << iota
	Boolean
	Integer
	Float // a number that is not whole
	String
	Array
	Object

	Number = Integer | Float
)

// typeNames are the types in the order of their bits.
var typeNames = [...]string{"null", "boolean", "integer", "number", "string", "array", "object"}

// otherTypeNames are what pages call the types besides.
var otherTypeNames = map[string]string{
	"int": "integer", "long": "integer", "float": "number", "double": "number", "decimal": "number", "bool": "boolean", "str": "string", "text": "string",
	"list": "array", "tuple": "array", "dict": "object", "map": "object", "none": "null", "nil": "null",
}

// Named returns the type of a name, 0 if there is none.
func Named(name string) Types {
	i := slices.Index(typeNames[:], name)
	if i < 0 {
		name = strings.ToLower(name)
		i = slices.Index(typeNames[:], cmp.Or(otherTypeNames[name], name))
	}
	switch {
	case i < 0:
		return 0
	case name == "number", 1<<i == Float:
		return Number
	}
	return 1 << i
}

// TypesOf returns the types that the keyword type names; wrong says what is wrong with it, ""
// if nothing is.
func TypesOf(v json.RawMessage) (types Types, wrong string) {
	var names []string
	if s, ok := rawjson.String(v); ok {
		names = append(names, s)
	} else if allStrings(v) {
		names = Strings(v)
	}
	for _, name := range names {
		one := Named(name)
		if one == 0 {
			return 0, Cut(name) + " is no type"
		}
		types |= one
	}
	if types == 0 {
		return 0, "must name a type"
	}
	return types, ""
}

// Names returns the names of the types; a number may be an integer, too.
func (t Types) Names() (all []string) {
	for i, name := range typeNames {
		if t&(1<<i) != 0 && !(name == "integer" && t&Float != 0) {
			all = append(all, name)
		}
	}
	return all
}

// String returns the names of the types as a phrase.
func (t Types) String() string { return strings.Join(t.Names(), " or ") }

// JSON returns the value of the keyword type.
func (t Types) JSON() json.RawMessage {
	names := t.Names()
	if len(names) == 1 {
		return rawjson.AppendString(nil, names[0])
	}
	return AppendStrings(nil, names)
}

// OnlyTypes returns the types that a schema asks for, if it asks for nothing else.
func (f Fields) OnlyTypes() (types Types, ok bool) {
	for _, m := range f {
		switch m.Key {
		case "type":
			var wrong string
			if types, wrong = TypesOf(m.Value); wrong != "" {
				return 0, false
			}
		case "title", "description", "default", "examples":
		default:
			return 0, false
		}
	}
	return types, true
}
