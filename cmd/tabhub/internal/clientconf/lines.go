package clientconf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// notation is one in which members stand on lines of their own: TOML and YAML. Such a file is
// edited by its lines. A parser says where each member stands, only lines of the server's entry
// are written anew, and the parser then has to find that nothing else says something new.
type notation struct {
	name      string
	separator string // between a member's name and its value
	// decode returns what a text says. Its errors say where it cannot be understood.
	decode func(text []byte) (map[string]any, error)
	// scan returns the members of a text that decode takes, each before those below it.
	scan func(text []byte) ([]span, error)
	// begin returns the lines with which a new entry begins, those in whose place they go, and
	// the indent of its members.
	begin func(text []byte, spans []span, section, name string) (start, end int, lines, indent string, err error)
	none  string // what a section says that has no members; "": nothing
}

// span is the lines of a member, with all that is below it.
type span struct {
	path             []string
	start, head, end int    // bytes of the text: where the first line begins and ends, and the last one ends
	open             bool   // members can be put after the first line
	indent           string // of these
	comment          string // behind the value
}

// errForm says that something is written as no program writes it.
var errForm = errors.New("is written in a form that is not edited here; take it out by hand and try again")

// lineEdit is a text that is being edited. What it says is known from before.
type lineEdit struct {
	*notation
	text  []byte
	spans []span
	unset []string // variables that are not to stay
}

// replace puts lines in the place of others.
func (t *lineEdit) replace(start, end int, lines string) (err error) {
	if start > 0 && start == len(t.text) && t.text[start-1] != '\n' && lines != "" {
		lines = "\n" + lines
	}
	t.text = slices.Concat(t.text[:start], []byte(lines), t.text[end:])
	t.spans, err = t.scan(t.text)
	return err
}

func (t *lineEdit) find(path []string) (span, bool) {
	i := slices.IndexFunc(t.spans, func(s span) bool { return slices.Equal(s.path, path) })
	if i < 0 {
		return span{}, false
	}
	return t.spans[i], true
}

func (t *lineEdit) line(indent string, m member) string {
	value := string(compact(m.value))
	if object, ok := m.value.(map[string]any); ok {
		var all []string
		for _, key := range slices.Sorted(maps.Keys(object)) {
			all = append(all, string(marshal(key))+t.separator+string(marshal(object[key])))
		}
		value = "{" + strings.Join(all, ", ") + "}"
	}
	return indent + m.name + t.separator + value + "\n"
}

// add puts an entry into the text that has none.
func (t *lineEdit) add(section, name string, members []member) error {
	start, end, lines, indent, err := t.begin(t.text, t.spans, section, name)
	if err != nil {
		return err
	}
	for _, m := range members {
		lines += t.line(indent, m)
	}
	return t.replace(start, end, lines)
}

// set gives a member of an entry, which says old, another value. A variable is set among those
// that the entry has.
func (t *lineEdit) set(entry []string, old map[string]any, m member) error {
	said, there := old[m.name]
	inner, _ := said.(map[string]any)
	variables, many := m.value.(map[string]any)
	path := append(slices.Clone(entry), m.name)
	s, found := t.find(path)
	switch {
	case many && found && s.open:
		for _, key := range slices.Backward(slices.Sorted(maps.Keys(variables))) {
			if err := t.set(path, inner, member{key, variables[key]}); err != nil {
				return err
			}
		}
		for _, key := range t.unset {
			if _, there := inner[key]; there {
				if err := t.cut(append(path, key)...); err != nil {
					return err
				}
			}
		}
		return nil
	case many && inner != nil: // on one line
		m.value = merged(inner, variables, t.unset)
	}
	if there && reflect.DeepEqual(plain(said), plain(m.value)) {
		return nil
	}
	if found {
		line := t.text[s.start:s.head]
		indent := string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
		return t.replace(s.start, s.end, strings.TrimSuffix(t.line(indent, m), "\n")+s.comment+"\n")
	}
	s, found = t.find(entry)
	if there || !found || !s.open {
		return errForm
	}
	return t.replace(s.head, s.head, t.line(s.indent, m))
}

// merged returns the variables of an entry that had some.
func merged(old, set map[string]any, unset []string) map[string]any {
	all := maps.Clone(old)
	for _, key := range unset {
		delete(all, key)
	}
	maps.Copy(all, set)
	return all
}

// cut takes away the lines of a member, and of what is below it.
func (t *lineEdit) cut(path ...string) error {
	var all []span
	for _, s := range t.spans {
		below := len(s.path) >= len(path) && slices.Equal(s.path[:len(path)], path)
		if below && (len(all) == 0 || s.start >= all[len(all)-1].end) {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return errForm
	}
	for _, s := range slices.Backward(all) {
		t.text = slices.Concat(t.text[:s.start], t.text[s.end:])
	}
	return t.replace(0, 0, "")
}

// plain is a value as JSON has it.
func plain(v any) any {
	var out any
	b, err := json.Marshal(v)
	if err != nil || json.Unmarshal(b, &out) != nil {
		return v
	}
	return out
}

// addLines is Client.Add for a file of lines.
func (c Client) addLines(text []byte, name string, e Entry) ([]byte, error) {
	want := make(map[string]any) // what the entry is to say
	out, err := c.editLines(text, name, func(t *lineEdit, old map[string]any) error {
		members := c.members(e)
		if old == nil && c.also != nil {
			members = append(members, c.also(name)...)
		}
		maps.Copy(want, old)
		stale := c.stale(e)
		if had, _ := old[c.env].(map[string]any); len(had) > 0 && len(e.Env) == 0 && e.URL == "" {
			if left := merged(had, nil, e.Unset); len(left) == 0 {
				stale = append(stale, c.env)
			} else if len(left) < len(had) {
				members = append(members, member{c.env, map[string]any{}})
			}
		}
		t.unset = e.Unset
		for _, m := range members {
			variables, many := m.value.(map[string]any)
			if inner, _ := old[m.name].(map[string]any); many && inner != nil {
				m.value = merged(inner, variables, e.Unset)
			}
			want[m.name] = m.value
		}
		if old == nil {
			return t.add(c.section, name, members)
		}
		for _, m := range slices.Backward(members) {
			if err := t.set([]string{c.section, name}, old, m); err != nil {
				return err
			}
		}
		// Last, as nothing can be put into an entry that has no member left.
		for _, stale := range stale {
			if _, there := old[stale]; there {
				delete(want, stale)
				if err := t.cut(c.section, name, stale); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if all, err := c.servers(out); err != nil || !reflect.DeepEqual(plain(all[name]), plain(want)) {
		return nil, fmt.Errorf("%q %w", c.section+"."+name, errForm)
	}
	return out, nil
}

// removeLines is Client.Remove for a file of lines.
func (c Client) removeLines(text []byte, name string) ([]byte, error) {
	out, err := c.editLines(text, name, func(t *lineEdit, old map[string]any) error {
		if old == nil {
			return nil
		}
		if err := t.cut(c.section, name); err != nil {
			return err
		}
		s, _ := t.find([]string{c.section})
		colon := s.start + len(c.section) + 1
		if said, err := t.decode(t.text); t.none == "" || err != nil || said[c.section] != nil || colon > s.head {
			return nil
		}
		return t.replace(colon, colon, t.none)
	})
	if err == nil && c.has(out, name) {
		return nil, fmt.Errorf("%q %w", c.section+"."+name, errForm)
	}
	return out, err
}

// editLines applies f to a text, and to what the entry says, which is nil if there is none.
func (c Client) editLines(text []byte, name string, f func(t *lineEdit, old map[string]any) error) ([]byte, error) {
	body, marked := bytes.CutPrefix(text, bom)
	ends := bytes.Count(body, []byte("\r\n"))
	mixed := ends > 0 && bytes.Count(body, []byte("\n")) > ends || bytes.Count(body, []byte("\r")) > ends
	body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	n := c.notation
	before, err := n.decode(body)
	if err != nil {
		return nil, fmt.Errorf("not %s: %w", n.name, err)
	}
	old, err := c.entryOf(before, name)
	if err != nil {
		return nil, err
	}
	t := &lineEdit{notation: n, text: body}
	if err = t.replace(0, 0, ""); err == nil {
		err = f(t, old)
	}
	if err != nil {
		return nil, fmt.Errorf("%q %w", c.section+"."+name, err)
	}
	if bytes.Equal(t.text, body) {
		return text, nil
	}
	if mixed {
		return nil, errors.New("its lines end in different ways; save it with the ends of one system")
	}
	after, err := n.decode(t.text)
	if err != nil || !reflect.DeepEqual(c.without(before, name), c.without(after, name)) {
		return nil, fmt.Errorf("%q %w", c.section+"."+name, errForm)
	}
	out := t.text
	if ends > 0 {
		out = bytes.ReplaceAll(out, []byte("\n"), []byte("\r\n"))
	}
	if marked {
		out = append(bytes.Clone(bom), out...)
	}
	return out, nil
}

// entryOf returns what a decoded file says of a server, nil if it has none of that name.
func (c Client) entryOf(file map[string]any, name string) (map[string]any, error) {
	said := any(file)
	for i, key := range []string{c.section, name} {
		object, ok := said.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%q is not an object", c.section)
		}
		if said = object[key]; said == nil {
			if _, empty := object[key]; empty && i == 1 {
				return nil, fmt.Errorf("%q is empty", c.section+"."+name)
			}
			return nil, nil
		}
	}
	entry, ok := said.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%q is not an object", c.section+"."+name)
	}
	return entry, nil
}

// without returns a decoded file without a server, and without a section that is empty then.
func (c Client) without(file map[string]any, name string) map[string]any {
	file = maps.Clone(file)
	section, _ := file[c.section].(map[string]any)
	section = maps.Clone(section)
	delete(section, name)
	if delete(file, c.section); len(section) > 0 {
		file[c.section] = section
	}
	if len(file) == 0 {
		return nil
	}
	return file
}

// maskLines returns the lines of the server's entry, without what may be secret, and a line of
// stars for each other one.
func (c Client) maskLines(text []byte, name string) string {
	t := &lineEdit{notation: c.notation, text: bytes.ReplaceAll(bytes.TrimPrefix(text, bom), []byte("\r\n"), []byte("\n"))}
	if t.replace(0, 0, "") != nil {
		return ""
	}
	var shown strings.Builder
	at := 0
	for line := range strings.Lines(string(t.text)) {
		shown.WriteString(c.maskLine(t.deepest(at), at, name, line))
		at += len(line)
	}
	return shown.String()
}

// deepest returns the member that the line at an offset is of.
func (t *lineEdit) deepest(at int) (found span) {
	for _, s := range t.spans {
		if s.start <= at && at < s.end && len(s.path) >= len(found.path) {
			found = s
		}
	}
	return found
}

func (c Client) maskLine(s span, at int, name, line string) string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	own := len(s.path) > 1 && s.path[0] == c.section && s.path[1] == name
	switch {
	case strings.TrimSpace(line) == "":
		return line
	case own && at == s.start && s.open, len(s.path) == 1 && s.path[0] == c.section && at == s.start && s.open:
		line, _, _ = strings.Cut(line, "#")
		return strings.TrimRight(line, " \t\n") + "\n"
	case own && at == s.start && len(s.path) == 3 && slices.Contains([]string{c.command, c.args, c.url, "type", "name", "enabled", "timeout"}, s.path[2]):
		if s.comment != "" {
			line = strings.Replace(line, s.comment, " # ***", 1)
		}
		return line
	case own && at == s.start:
		return indent + s.path[len(s.path)-1] + c.notation.separator + "\"***\"\n"
	}
	return indent + "***\n"
}
