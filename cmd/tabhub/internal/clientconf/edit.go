package clientconf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// object is a JSON object, with comments, that is being edited.
type object struct {
	path   string // for errors
	value  *hujson.Value
	o      *hujson.Object
	depth  int
	indent string // of one level
}

var bom = []byte("\xef\xbb\xbf")

// edit applies f to the object that text is; an empty text is an empty object. An
// error leaves nothing changed.
func edit(text []byte, f func(root *object) error) ([]byte, error) {
	body, marked := bytes.CutPrefix(text, bom)
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}\n")
	}
	v, err := hujson.Parse(body)
	if err != nil {
		return nil, fmt.Errorf("the file is not JSON, and is left as it is: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("the file is not a JSON object, and is left as it is")
	}
	if err := f(&object{value: &v, o: o, indent: indentOf(o)}); err != nil {
		return nil, err
	}
	out := v.Pack()
	if marked {
		out = append(bytes.Clone(bom), out...)
	}
	return out, nil
}

// indentOf guesses how the file is indented.
func indentOf(o *hujson.Object) string {
	if len(o.Members) > 0 {
		extra := string(o.Members[0].Name.BeforeExtra)
		if i := strings.LastIndexByte(extra, '\n'); i >= 0 {
			if indent := extra[i+1:]; indent != "" && strings.Trim(indent, " \t") == "" {
				return indent
			}
		}
	}
	return "  "
}

func (o *object) index(name string) int {
	for i, m := range o.o.Members {
		if l, ok := m.Name.Value.(hujson.Literal); ok && l.String() == name {
			return i
		}
	}
	return -1
}

func (o *object) has(name string) bool { return o.index(name) >= 0 }

// object returns the member name, which is made if it is missing.
func (o *object) object(name string) (*object, error) {
	path := strings.TrimPrefix(o.path+"."+name, ".")
	i := o.index(name)
	if i < 0 {
		o.insert(name, &hujson.Object{})
		i = 0
	}
	v := &o.o.Members[i].Value
	inner, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%q in the file is not an object, and the file is left as it is", path)
	}
	return &object{path: path, value: v, o: inner, depth: o.depth + 1, indent: o.indent}, nil
}

// set sets a member to a string or a list of strings.
func (o *object) set(name string, value any) {
	v, err := hujson.Parse(compact(value))
	if err != nil {
		panic(err) // it was just marshalled
	}
	if i := o.index(name); i >= 0 {
		if old := o.o.Members[i].Value.Clone(); !same(old, v) {
			o.o.Members[i].Value.Value = v.Value
		}
		return
	}
	o.insert(name, v.Value)
}

// compact is JSON with a space after each comma, as people write lists.
func compact(value any) []byte {
	list, ok := value.([]string)
	if !ok {
		return marshal(value)
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for i, s := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.Write(marshal(s))
	}
	b.WriteByte(']')
	return b.Bytes()
}

func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // strings and lists of them
	}
	return bytes.TrimSpace(b.Bytes())
}

// same reports whether two values mean the same.
func same(a, b hujson.Value) bool {
	a, b = a.Clone(), b.Clone()
	a.Minimize()
	b.Minimize()
	return bytes.Equal(a.Pack(), b.Pack())
}

// insert puts a member first, where nothing that follows has to move.
func (o *object) insert(name string, value hujson.ValueTrimmed) {
	newline := "\n" + strings.Repeat(o.indent, o.depth+1)
	m := hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra(newline), Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value},
	}
	if len(o.o.Members) == 0 {
		// Comments of the empty object stay, before the member.
		if kept := strings.TrimRight(string(o.o.AfterExtra), " \t\r\n"); kept != "" {
			m.Name.BeforeExtra = hujson.Extra(kept + newline)
		}
		o.o.AfterExtra = hujson.Extra("\n" + strings.Repeat(o.indent, o.depth))
	}
	o.o.Members = append([]hujson.ObjectMember{m}, o.o.Members...)
}

// remove takes a member away, if there is one.
func (o *object) remove(name string) {
	i := o.index(name)
	if i < 0 {
		return
	}
	gone := o.o.Members[i]
	o.o.Members = append(o.o.Members[:i:i], o.o.Members[i+1:]...)
	if i == 0 || i < len(o.o.Members) {
		return
	}
	// A comma follows the last member if and only if its AfterExtra is not nil.
	last := &o.o.Members[i-1].Value
	switch {
	case gone.Value.AfterExtra == nil && last.AfterExtra != nil:
		o.o.AfterExtra = append(last.AfterExtra, o.o.AfterExtra...)
		last.AfterExtra = nil
	case gone.Value.AfterExtra != nil && last.AfterExtra == nil:
		last.AfterExtra = hujson.Extra{}
	}
}

// text returns a member that is a string, else "".
func (o *object) text(name string) string {
	if i := o.index(name); i >= 0 {
		if l, ok := o.o.Members[i].Value.Value.(hujson.Literal); ok && l.Kind() == '"' {
			return l.String()
		}
	}
	return ""
}
