package keyword

import (
	"encoding/json"
	"slices"

	"tabhub/spec/rawjson"
)

// Field is a member of an object, such as a keyword of a schema.
type Field struct {
	Key   string
	Value json.RawMessage
}

// Fields are the members of an object in the order in which they are written.
type Fields []Field

// FieldsOf returns the members of an object, none if v is something else. Of two members with
// one name it returns the last, and repeated is true.
func FieldsOf(v json.RawMessage) (f Fields, repeated bool) {
	if len(v) == 0 || v[0] != '{' {
		return nil, false
	}
	f = make(Fields, 0, 6)
	for key, v := range rawjson.Members(v) {
		f = append(f, Field{key, v})
	}
	if len(f) < 16 && !slices.ContainsFunc(f, func(m Field) bool { return &f[f.Index(m.Key)].Value[0] != &m.Value[0] }) {
		return f, false
	}
	last := make(map[string]int, len(f))
	for i, m := range f {
		last[m.Key] = i
	}
	if len(last) == len(f) {
		return f, false
	}
	i := -1
	return slices.DeleteFunc(f, func(m Field) bool { i++; return last[m.Key] != i }), true
}

// Index returns the index of a field, -1 if there is none.
func (f Fields) Index(key string) int {
	return slices.IndexFunc(f, func(m Field) bool { return m.Key == key })
}

// Get returns the value of a field, nil if there is none.
func (f Fields) Get(key string) json.RawMessage {
	if i := f.Index(key); i >= 0 {
		return f[i].Value
	}
	return nil
}

// Has reports whether there is a field.
func (f Fields) Has(key string) bool { return f.Index(key) >= 0 }

// Set changes the value of a field, or appends the field.
func (f *Fields) Set(key string, v json.RawMessage) {
	if i := f.Index(key); i >= 0 {
		(*f)[i].Value = v
		return
	}
	*f = append(*f, Field{key, v})
}

// Drop removes fields, and reports whether there were any.
func (f *Fields) Drop(keys ...string) (dropped bool) {
	n := len(*f)
	*f = slices.DeleteFunc(*f, func(m Field) bool { return slices.Contains(keys, m.Key) })
	return len(*f) < n
}

// JSON returns the object that has these members.
func (f Fields) JSON() json.RawMessage {
	out := []byte{'{'}
	for _, m := range f {
		out = rawjson.AppendMember(out, m.Key, m.Value)
	}
	return append(out, '}')
}

// ArrayOf returns an array of these values.
func ArrayOf(all ...json.RawMessage) json.RawMessage {
	size := len("[]")
	for _, v := range all {
		size += len(v) + len(",")
	}
	out := append(make([]byte, 0, size), '[')
	for i, v := range all {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// Elements returns the elements of an array, none if v is something else.
func Elements(v json.RawMessage) (all []json.RawMessage) {
	if len(v) == 0 {
		return nil
	}
	return slices.Collect(rawjson.Elements(v))
}

// Strings returns the strings of an array. What is no string is "".
func Strings(v json.RawMessage) (all []string) {
	for _, e := range Elements(v) {
		s, _ := rawjson.String(e)
		all = append(all, s)
	}
	return all
}

// AppendStrings appends an array of strings.
func AppendStrings(out []byte, all []string) []byte {
	out = append(out, '[')
	for i, s := range all {
		if i > 0 {
			out = append(out, ',')
		}
		out = rawjson.AppendString(out, s)
	}
	return append(out, ']')
}

func allStrings(v json.RawMessage) bool {
	return v[0] == '[' && !slices.ContainsFunc(Elements(v), func(e json.RawMessage) bool { return e[0] != '"' })
}
