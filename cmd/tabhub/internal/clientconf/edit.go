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

// object is a JSON object, with comments, that is being edited.
type object struct {
	*hujson.Object
	path   string // for errors
	depth  int
	style  *style
	inline bool // stands on one line
}

// style is how a file is written.
type style struct{ newline, indent string }

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
		return nil, fmt.Errorf("not JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("not a JSON object")
	}
	if err := f(&object{Object: o, style: styleOf(body, o), inline: isInline(o, false)}); err != nil {
		return nil, err
	}
	out := v.Pack()
	if marked {
		out = append(bytes.Clone(bom), out...)
	}
	return out, nil
}

// decode returns what a text says; an empty one is an empty object.
func decode(text []byte) (map[string]any, error) {
	var file map[string]any
	_, err := edit(text, func(root *object) error {
		v := hujson.Value{Value: root.Object}
		v = v.Clone()
		v.Standardize()
		return json.Unmarshal(v.Pack(), &file)
	})
	return file, err
}

// Add returns the text of a configuration file with the server name as e says. What else the
// file holds stays as it is, byte for byte, and so do further members of an entry that is there
// already. An error says where the text cannot be understood.
func (c Client) Add(text []byte, name string, e Entry) ([]byte, error) {
	return edit(text, func(root *object) error {
		section, err := root.object(c.section)
		if err != nil {
			return err
		}
		entry, err := section.object(name)
		if err != nil {
			return err
		}
		stale := c.stale(e)
		for _, member := range append(stale, "command", "args", "type", cmp.Or(c.url, "url")) {
			if err := entry.once(member); err != nil {
				return err
			}
		}
		for _, member := range stale {
			entry.remove(member)
		}
		// Against the order in which they are to stand: each new one goes first.
		if err := entry.setEnv(e); err != nil {
			return err
		}
		typed := false
		for _, m := range slices.Backward(c.members(e)) {
			typed = typed || m.name == "type"
			entry.set(m.name, m.value)
		}
		if !typed && entry.has("type") {
			entry.set("type", map[bool]string{true: "http", false: "stdio"}[e.URL != ""])
		}
		return nil
	})
}

// setEnv sets and removes variables of an entry, whose others stay.
func (o *object) setEnv(e Entry) error {
	if len(e.Env) == 0 && (len(e.Unset) == 0 || !o.has("env")) {
		return nil
	}
	env, err := o.object("env")
	if err != nil {
		return err
	}
	keys := slices.Sorted(maps.Keys(e.Env))
	for _, key := range append(keys, e.Unset...) {
		if err := env.once(key); err != nil {
			return err
		}
	}
	for _, key := range keys {
		env.set(key, e.Env[key])
	}
	for _, key := range e.Unset {
		env.remove(key)
	}
	if env.isEmpty() {
		o.remove("env")
	}
	return nil
}

// Remove returns the text of a configuration file without the server name, and without the
// section of servers if nothing else is in it.
func (c Client) Remove(text []byte, name string) ([]byte, error) {
	return edit(text, func(root *object) error {
		if !root.has(c.section) {
			return nil
		}
		section, err := root.object(c.section)
		if err != nil {
			return err
		}
		if err := section.once(name); err != nil {
			return err
		}
		if section.has(name) {
			section.remove(name)
			if section.isEmpty() {
				root.remove(c.section)
			}
		}
		return nil
	})
}

// styleOf guesses how the file is written.
func styleOf(text []byte, o *hujson.Object) *style {
	s := &style{newline: "\n", indent: "  "}
	if bytes.Contains(text, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	if len(o.Members) > 0 {
		extra := string(o.Members[0].Name.BeforeExtra)
		if i := strings.LastIndexByte(extra, '\n'); i >= 0 {
			if indent := extra[i+1:]; indent != "" && strings.Trim(indent, " \t") == "" {
				s.indent = indent
			}
		}
	}
	return s
}

// isInline reports whether an object's first member stands on the line of its brace.
// An empty one is written as what is around it.
func isInline(o *hujson.Object, around bool) bool {
	if len(o.Members) == 0 {
		return around && !bytes.ContainsRune(o.AfterExtra, '\n')
	}
	return !bytes.ContainsRune(o.Members[0].Name.BeforeExtra, '\n')
}

// line returns the space before a member at a depth.
func (o *object) line(depth int) string {
	return o.style.newline + strings.Repeat(o.style.indent, depth)
}

// nameOf returns the name of a member.
func nameOf(m hujson.ObjectMember) string {
	l, _ := m.Name.Value.(hujson.Literal)
	return l.String()
}

func (o *object) names() []string {
	var names []string
	for _, m := range o.Members {
		names = append(names, nameOf(m))
	}
	return names
}

func (o *object) index(name string) int { return slices.Index(o.names(), name) }

func (o *object) isEmpty() bool { return len(o.Members) == 0 && isBlank(o.AfterExtra) }

func (o *object) has(name string) bool { return o.index(name) >= 0 }

// once returns an error if a member is there more than once: which of them a client
// takes is not known.
func (o *object) once(name string) error {
	if i := o.index(name); i >= 0 && slices.Contains(o.names()[i+1:], name) {
		return fmt.Errorf("%q is there twice", o.pathOf(name))
	}
	return nil
}

func (o *object) pathOf(name string) string { return strings.TrimPrefix(o.path+"."+name, ".") }

// object returns the member name, which is made if it is missing.
func (o *object) object(name string) (*object, error) {
	if err := o.once(name); err != nil {
		return nil, err
	}
	if !o.has(name) {
		o.insert(name, &hujson.Object{})
	}
	inner, ok := o.Members[o.index(name)].Value.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%q is not an object", o.pathOf(name))
	}
	return &object{Object: inner, path: o.pathOf(name), depth: o.depth + 1, style: o.style, inline: isInline(inner, o.inline)}, nil
}

// set sets a member to a string or a list of strings.
func (o *object) set(name string, value any) {
	v, err := hujson.Parse(compact(value))
	if err != nil {
		panic(err) // it was just marshalled
	}
	if i := o.index(name); i >= 0 {
		if old := o.Members[i].Value; !same(old, v) {
			o.Members[i].Value.Value = v.Value
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
