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
	var v Value
	if err := Valid(b, decodeDepth); err != nil {
		return v, err
	}
	v.decode(b, skipSpace(b, 0))
	return v, nil
}

// decode makes v the value at b[i], which is known to be valid. It returns the index after
// it.
func (v *Value) decode(b []byte, i int) (end int) {
	switch b[i] {
	case '{':
		v.Kind = KindObject
		for i = skipSpace(b, i+1); b[i] != '}'; i = skipComma(b, i) {
			key, start, _ := skipKey(b, i)
			v.Members = append(v.Members, Member{Name: unquote(key)})
			i = v.Members[len(v.Members)-1].Value.decode(b, start)
		}
		v.Members = byName(v.Members)
		return i + 1
	case '[':
		v.Kind = KindArray
		for i = skipSpace(b, i+1); b[i] != ']'; i = skipComma(b, i) {
			v.Elements = append(v.Elements, Value{})
			i = v.Elements[len(v.Elements)-1].decode(b, i)
		}
		return i + 1
	}
	end = skipValue(b, i)
	switch b[i] {
	case '"':
		v.Kind, v.Text = KindString, unquote(b[i+1:end-1])
		return end
	case 'n':
		v.Kind = KindNull
	case 't', 'f':
		v.Kind = KindBool
	default:
		v.Kind = KindNumber
	}
	v.Text = shared(b[i:end])
	return end
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
