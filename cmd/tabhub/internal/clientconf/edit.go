package clientconf

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// file is a configuration file, JSON with comments, for editing.
type file struct {
	root            hujson.Value
	marked          bool   // begins with a byte order mark
	newline, indent string // as it is written
}

var bom = []byte("\xef\xbb\xbf")

// parse reads a text; an empty one is an empty object.
func parse(text []byte) (*file, error) {
	f := &file{newline: "\n", indent: "  "}
	body, marked := bytes.CutPrefix(text, bom)
	if f.marked = marked; len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{\n}\n")
	}
	if bytes.Contains(body, []byte("\r\n")) {
		f.newline = "\r\n"
	}
	var err error
	if f.root, err = hujson.Parse(bytes.Clone(body)); err != nil { // hujson keeps the text, and Patch changes it
		return nil, fmt.Errorf("not JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	o, ok := f.root.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("not a JSON object")
	}
	if len(o.Members) > 0 {
		if line, ok := lastLine(o.Members[0].Name.BeforeExtra); ok && line != "" && strings.Trim(line, " \t") == "" {
			f.indent = line
		}
	}
	return f, nil
}

func (f *file) pack() []byte {
	out := f.root.Pack()
	if f.marked {
		out = append(bytes.Clone(bom), out...)
	}
	return out
}

// lastLine returns the space before a member on its line, and whether the line begins there.
func lastLine(space hujson.Extra) (line string, own bool) {
	i := bytes.LastIndexByte(space, '\n')
	return string(space[i+1:]), i >= 0
}

// decode returns the value of a text.
func decode(text []byte) (map[string]any, error) {
	f, err := parse(text)
	if err != nil {
		return nil, err
	}
	f.root.Standardize()
	var says map[string]any
	return says, json.Unmarshal(f.root.Pack(), &says)
}

// find returns the member that path leads to, nil if there is none. It refuses a
// member that is there twice, as a client may take either, and a path through a value that is not an
// object.
func (f *file) find(path ...string) (found *hujson.ObjectMember, err error) {
	o := f.root.Value.(*hujson.Object)
	for i, name := range path {
		if o == nil {
			return nil, fmt.Errorf("%q is not an object", strings.Join(path[:i], "."))
		}
		found = nil
		for j := range o.Members {
			if nameOf(o.Members[j]) != name {
				continue
			}
			if found != nil {
				return nil, fmt.Errorf("%q is there twice", strings.Join(path[:i+1], "."))
			}
			found = &o.Members[j]
		}
		if found == nil {
			return nil, nil
		}
		o, _ = found.Value.Value.(*hujson.Object)
	}
	return found, nil
}

// nameOf returns the name of a member.
func nameOf(m hujson.ObjectMember) string {
	l, _ := m.Name.Value.(hujson.Literal)
	return l.String()
}

// set sets a member to a string or a list of strings. If value is nil, it sets a missing member to
// an empty object. The objects on the path exist.
func (f *file) set(value any, path ...string) error {
	m, err := f.find(path...)
	if err != nil {
		return err
	}
	if value == nil {
		if m != nil {
			_, err = f.find(append(path, "")...) // it is an object
			return err
		}
		value = struct{}{}
	}
	v, err := hujson.Parse(compact(value))
	if err != nil {
		return err
	}
	if m != nil {
		if !same(m.Value, v) {
			m.Value.Value = v.Value
		}
		return nil
	}
	o := f.root.Value.(*hujson.Object)
	if around, _ := f.find(path[:len(path)-1]...); around != nil {
		o = around.Value.Value.(*hujson.Object)
	}
	f.insert(o, len(path), hujson.ObjectMember{
		Name:  hujson.Value{Value: hujson.String(path[len(path)-1])},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: v.Value},
	})
	return nil
}

// insert puts a member of a depth first, so that no other member needs a comma. A comment on the
// line of the brace stays there.
func (f *file) insert(o *hujson.Object, depth int, m hujson.ObjectMember) {
	line := func(depth int) hujson.Extra { return hujson.Extra(f.newline + strings.Repeat(f.indent, depth)) }
	if len(o.Members) == 0 {
		m.Name.BeforeExtra = slices.Concat(bytes.TrimRight(o.AfterExtra, blank), line(depth))
		o.AfterExtra = line(depth - 1)
	} else if next := &o.Members[0].Name; bytes.ContainsRune(next.BeforeExtra, '\n') {
		head, rest, _ := bytes.Cut(next.BeforeExtra, []byte("\n"))
		m.Name.BeforeExtra, next.BeforeExtra = slices.Concat(bytes.TrimRight(head, blank), line(depth)), slices.Concat(hujson.Extra(f.newline), rest)
	} else if len(bytes.Trim(next.BeforeExtra, blank)) == 0 {
		m.Name.BeforeExtra, next.BeforeExtra = next.BeforeExtra, hujson.Extra(" ")
	}
	o.Members = slices.Insert(o.Members, 0, m)
}

// remove removes a member, if it exists, and its comments.
func (f *file) remove(path ...string) error {
	m, err := f.find(path...)
	if m == nil || err != nil {
		return err
	}
	pointer := ""
	for _, name := range path {
		pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	return f.root.Patch(marshal([]map[string]string{{"op": "remove", "path": pointer}}))
}

// removeEmpty removes an object that has become empty.
func (f *file) removeEmpty(path ...string) error {
	m, err := f.find(path...)
	if m == nil || err != nil {
		return err
	}
	if o, ok := m.Value.Value.(*hujson.Object); !ok || len(o.Members) > 0 || len(bytes.Trim(o.AfterExtra, blank)) > 0 {
		return nil
	}
	return f.remove(path...)
}

const blank = " \t\r\n"

// Add returns the text of a configuration file with the entry e of the server name. All else in the
// file stays as it is, and so do other members of an existing entry. The error names the place that
// cannot be parsed.
func (c Client) Add(text []byte, name string, e Entry) ([]byte, error) {
	f, err := parse(text)
	if err != nil {
		return nil, err
	}
	entry := func(member ...string) []string { return append([]string{c.section, name}, member...) }
	if err := cmp.Or(f.set(nil, c.section), f.set(nil, entry()...)); err != nil {
		return nil, err
	}
	members := c.members(e)
	if m, _ := f.find(entry("type")...); m != nil && members[0].name != "type" {
		members = append(members, member{"type", map[bool]string{true: "http", false: "stdio"}[e.URL != ""]})
	}
	for _, name := range c.stale(e) {
		err = cmp.Or(err, f.remove(entry(name)...))
	}
	if m, _ := f.find(entry("env")...); m != nil || len(e.Env) > 0 {
		err = cmp.Or(err, f.set(nil, entry("env")...))
		for _, key := range e.Unset {
			err = cmp.Or(err, f.remove(entry("env", key)...))
		}
		for _, key := range slices.Backward(slices.Sorted(maps.Keys(e.Env))) {
			err = cmp.Or(err, f.set(e.Env[key], entry("env", key)...))
		}
		err = cmp.Or(err, f.removeEmpty(entry("env")...))
	}
	for _, m := range slices.Backward(members) { // insert puts each first
		err = cmp.Or(err, f.set(m.value, entry(m.name)...))
	}
	if err != nil {
		return nil, err
	}
	return f.pack(), nil
}

// Remove returns the text of a configuration file without the server name, and without the
// section of servers if nothing else is in it.
func (c Client) Remove(text []byte, name string) ([]byte, error) {
	f, err := parse(text)
	if err != nil {
		return nil, err
	}
	m, err := f.find(c.section, name)
	if m == nil || err != nil {
		return text, err
	}
	if err := cmp.Or(f.remove(c.section, name), f.removeEmpty(c.section)); err != nil {
		return nil, err
	}
	if o := f.root.Value.(*hujson.Object); len(o.Members) == 0 && len(bytes.Trim(o.AfterExtra, blank)) == 0 {
		o.AfterExtra = nil
	}
	return f.pack(), nil
}

// compact is JSON with a space after each comma, as people write lists.
func compact(value any) []byte {
	list, ok := value.([]string)
	if !ok {
		return marshal(value)
	}
	var all [][]byte
	for _, s := range list {
		all = append(all, marshal(s))
	}
	return slices.Concat([]byte("["), bytes.Join(all, []byte(", ")), []byte("]"))
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

// same reports whether two values are equal, apart from space and comments.
func same(a, b hujson.Value) bool {
	a, b = a.Clone(), b.Clone()
	a.Minimize()
	b.Minimize()
	return bytes.Equal(a.Pack(), b.Pack())
}
