package schema

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"tabhub/spec/rawjson"
)

// plan is a simple schema in a form that judges raw arguments. What it accepts is
// valid for sure; what it does not accept may still be. It is immutable.
type plan struct {
	types   typeSet
	values  []string // the enum's or const's scalars as raw JSON; nil: any
	anyOf   []*plan
	allOf   []*plan
	minimum bound
	maximum bound
	minSize int // of a string in characters
	maxSize int // -1: any
	minLen  int // of an array
	maxLen  int // -1: any
	items   *plan

	members  map[string]member
	required uint64 // bits of the members that must be there
	closed   bool   // there may be no others
	others   *plan  // what others must be; nil: anything
}

// member is a known member of an object.
type member struct {
	plan *plan
	bit  uint64 // in plan.required; 0: optional
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

// bound is a minimum or maximum.
type bound struct {
	value    float64
	set      bool
	whole    bool // an integer that float64 holds exactly
	excluded bool // value itself is out
}

// maxWhole is the end of the integers that float64 holds exactly.
const maxWhole = 1 << 53

// number returns the value of a raw number, and whether it is an integer that the
// result holds exactly.
func number(raw []byte) (f float64, whole bool) {
	f, err := strconv.ParseFloat(string(raw), 64)
	return f, err == nil && !bytes.ContainsAny(raw, ".eE") && f > -maxWhole && f < maxWhole
}

// holds reports whether a number is for sure beyond b in direction sign.
func (b bound) holds(f float64, whole bool, sign float64) bool {
	// Rounding keeps the order of what it does not make equal.
	return !b.set || f*sign > b.value*sign || f == b.value && whole && b.whole && !b.excluded
}

// accepts reports whether v, a valid JSON value without space around it, is valid
// for sure.
func (p *plan) accepts(v []byte) bool {
	if p.values != nil && !slices.Contains(p.values, string(v)) {
		return false
	}
	var kind typeSet
	ok := true
	switch v[0] {
	case '{':
		kind, ok = typeObject, p.acceptsObject(v)
	case '[':
		kind, ok = typeArray, p.acceptsArray(v)
	case '"':
		kind, ok = typeString, p.acceptsString(v)
	case 't', 'f':
		kind = typeBoolean
	case 'n':
		kind = typeNull
	default:
		kind, ok = p.acceptsNumber(v)
	}
	if !ok || p.types != 0 && p.types&kind == 0 {
		return false
	}
	for _, sub := range p.allOf {
		if !sub.accepts(v) {
			return false
		}
	}
	return len(p.anyOf) == 0 || slices.ContainsFunc(p.anyOf, func(sub *plan) bool { return sub.accepts(v) })
}

func (p *plan) acceptsNumber(v []byte) (kind typeSet, ok bool) {
	if len(v) > 24 || bytes.ContainsAny(v, "eE") {
		return 0, false
	}
	kind = typeInteger
	if bytes.IndexByte(v, '.') >= 0 {
		kind = typeNumber
	}
	if !p.minimum.set && !p.maximum.set {
		return kind, true
	}
	f, whole := number(v)
	return kind, p.minimum.holds(f, whole, 1) && p.maximum.holds(f, whole, -1)
}

func (p *plan) acceptsString(v []byte) bool {
	if p.minSize == 0 && p.maxSize < 0 {
		return true
	}
	if bytes.IndexByte(v, '\\') >= 0 {
		return false
	}
	n := utf8.RuneCount(v) - len(`""`)
	return n >= p.minSize && (p.maxSize < 0 || n <= p.maxSize)
}

func (p *plan) acceptsArray(v []byte) bool {
	if p.items == nil && p.minLen == 0 && p.maxLen < 0 {
		return true
	}
	n := 0
	for e := range rawjson.Elements(v) {
		if n++; p.items != nil && !p.items.accepts(e) {
			return false
		}
	}
	return n >= p.minLen && (p.maxLen < 0 || n <= p.maxLen)
}

func (p *plan) acceptsObject(v []byte) bool {
	if len(p.members) == 0 && !p.closed && p.others == nil && p.required == 0 {
		return true
	}
	missing := p.required
	for key, value := range rawjson.Members(v) {
		m, known := p.members[key]
		switch {
		case known:
			missing &^= m.bit
			if m.plan != nil && !m.plan.accepts(value) {
				return false
			}
		case p.closed, p.others != nil && !p.others.accepts(value):
			return false
		}
	}
	return missing == 0
}
