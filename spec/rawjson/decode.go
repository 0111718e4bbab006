package rawjson

import (
	"slices"
	"strings"
)

// decodeDepth bounds the recursion of Decode. It is what encoding/json takes.
const decodeDepth = 10_000

// Kind is the type of a Value.
type Kind uint8

const (
	KindNull Kind = iota
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

// Value is a decoded JSON value. It shares memory with the text that it is from.
type Value struct {
	Kind     Kind
	Text     string // a string, unescaped; null, true, false or a number as it is written
	Elements []Value
	Members  []Member // by name, each name once
}

// Member is a member of an object.
type Member struct {
	Name  string
	Value Value
}

// Member returns the member of a name, nil if v has none.
func (v *Value) Member(name string) *Value {
	i, found := slices.BinarySearchFunc(v.Members, name, func(m Member, name string) int { return strings.Compare(m.Name, name) })
	if !found {
		return nil
	}
	return &v.Members[i].Value
}

// Decode checks b as Valid does and returns its value. Where a name is given twice
// the last one counts. Nesting is bounded by 10,000.
func Decode(b []byte) (Value, error) {
	d := decoder{b: b}
	var v Value
	if err := d.value(&v, 0); err != nil {
		return Value{}, err
	}
	if err := scanEnd(b, d.i); err != nil {
		return Value{}, err
	}
	return v, nil
}

type decoder struct {
	b []byte
	i int
}

func (d *decoder) fail(what string) error { return &SyntaxError{d.i, what} }

// space skips space and returns the next byte, 0 at the end.
func (d *decoder) space() byte {
	if d.i = skipSpace(d.b, d.i); d.i < len(d.b) {
		return d.b[d.i]
	}
	return 0
}

// value decodes the next value into v.
func (d *decoder) value(v *Value, depth int) (err error) {
	c := d.space()
	start := d.i
	switch {
	case (c == '{' || c == '[') && depth >= decodeDepth:
		return d.fail(errDeep)
	case c == '{':
		v.Kind = KindObject
		v.Members, err = d.members(depth + 1)
		return err
	case c == '[':
		v.Kind = KindArray
		v.Elements, err = d.elements(depth + 1)
		return err
	case start >= len(d.b):
		return d.fail(errEnd)
	case c == '"':
		if d.i, err = scanString(d.b, start+1); err == nil {
			v.Kind, v.Text = KindString, unquote(d.b[start+1:d.i-1])
		}
		return err
	}
	if d.i, err = scanScalar(d.b, start); err != nil {
		return err
	}
	switch c {
	case 'n':
		v.Kind = KindNull
	case 't', 'f':
		v.Kind = KindBool
	default:
		v.Kind = KindNumber
	}
	v.Text = shared(d.b[start:d.i])
	return nil
}

func (d *decoder) members(depth int) ([]Member, error) {
	d.i++
	if d.space() == '}' {
		d.i++
		return nil, nil
	}
	all := make([]Member, 0, 4)
	for {
		start := skipSpace(d.b, d.i)
		end, next, err := scanKey(d.b, start)
		if err != nil {
			return nil, err
		}
		d.i = next
		all = append(all, Member{Name: unquote(d.b[start+1 : end])})
		if err := d.value(&all[len(all)-1].Value, depth); err != nil {
			return nil, err
		}
		switch d.space() {
		case ',':
			d.i++
		case '}':
			d.i++
			return byName(all), nil
		default:
			return nil, d.fail("expected , or }")
		}
	}
}

// byName sorts members and drops those that another of the same name follows.
func byName(all []Member) []Member {
	slices.SortStableFunc(all, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	n := 0
	for i := range all {
		if i+1 < len(all) && all[i].Name == all[i+1].Name {
			continue
		}
		if n < i {
			all[n] = all[i]
		}
		n++
	}
	return all[:n]
}

func (d *decoder) elements(depth int) ([]Value, error) {
	d.i++
	if d.space() == ']' {
		d.i++
		return nil, nil
	}
	var all []Value
	for {
		all = append(all, Value{})
		if err := d.value(&all[len(all)-1], depth); err != nil {
			return nil, err
		}
		switch d.space() {
		case ',':
			d.i++
		case ']':
			d.i++
			return all, nil
		default:
			return nil, d.fail("expected , or ]")
		}
	}
}
