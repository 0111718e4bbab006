package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tabhub/describe"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Listed is a page's schema in the form that clients are shown. Model APIs refuse a whole
// request for one schema that they do not take, so it is always JSON Schema 2020-12 for an
// object with properties, with names that each API takes, without alternatives at the top,
// without keywords that are wrong or unknown, and with objects where JSON Schema allows true
// and false, too (spec/docs/MODELS.md, "What model APIs refuse").
type Listed struct {
	JSON    json.RawMessage // the bytes of the page's schema, if nothing had to be changed
	Wrong   []string        // what was left out because it is wrong, for the page's author
	Changed []string        // what is listed otherwise than the page has it, for the same
	About   string          // what a model has to be told besides, "" if nothing
	Names   *Names          // of arguments; nil if they are the page's
}

// Nothing is how a schema is listed of which nothing is known.
var Nothing = json.RawMessage(`{"type":"object","properties":{}}`)

// maxNotes bounds what is said of a schema, maxWork the bytes that are read of it, again and again.
const (
	maxNotes = 10
	maxWork  = 4 << 20
)

// Input returns how a schema of a tool's arguments, valid JSON, is listed. The arguments that
// it describes may be named otherwise than the page has them: see Schema.Arguments.
func Input(raw json.RawMessage) Listed { return newListed(raw, false) }

// Output returns how a schema of a tool's results is listed: with those keywords only that
// Schema.Check and the clients evaluate alike, and nothing that makes a result misfit that
// fits the page's schema. One that results fit that are no objects is not listed, its JSON is nil:
// MCP has structuredContent for objects alone, and clients take no result of such a tool without.
func Output(raw json.RawMessage) Listed { return newListed(raw, true) }

func newListed(raw json.RawMessage, output bool) Listed {
	l := lister{
		root: raw, output: output, work: maxWork,
		changed: !rawjson.Portable(raw), hides: describe.HidesInJSON(raw),
		aliases: map[string]string{}, names: map[*byte]string{},
	}
	f := l.fields(raw)
	if output && !l.onlyObjects(raw, 0) {
		const what = `must be of objects alone, as MCP has no other structuredContent: its type must be "object"`
		return Listed{Wrong: []string{cmp.Or(l.foreign(f, true), what)}}
	}
	f = l.top(f)
	out := l.object(nil, f, nil, 0)
	out = l.definitions(out)
	for _, d := range l.fields(l.rootDefs) {
		l.changed = l.changed || !slices.ContainsFunc(l.defs, func(of definition) bool { return of.name == d.key })
	}
	if !l.changed {
		out = raw
	}
	if l.work < 0 || len(out) > 2*spec.MaxSchema { // definitions within each other may be written twice
		l.wrong(nil, "takes too much work to be listed: it has too many references or alternatives")
		out, l.aliases, l.wrapper, l.about = Nothing, nil, "", ""
	}
	return Listed{out, l.wrongs, l.changes, l.about, l.argumentNames()}
}

// lister writes one schema.
type lister struct {
	root    json.RawMessage
	work    int // how many bytes may still be read
	output  bool
	hides   bool // see describe.HidesInJSON
	changed bool
	lost    int // how many parts that check something were left out

	wrongs, changes []string
	about           string

	keys    map[string]bool   // the names of all properties that can be listed, once one was asked for
	aliases map[string]string // by the page's name
	wrapper string            // the argument that holds all of them, "" if there is none

	names    map[*byte]string // of definitions, by where the page has them
	defs     []definition     // to be written
	rootDefs json.RawMessage  // those of the page at the top
	loops    map[*byte]bool   // see circular
	loses    map[*byte]bool   // whether a schema loses a check when it is listed
}

type definition struct {
	name string
	v    json.RawMessage
	at   *place
}

// field is a member of a schema.
type field struct {
	key string
	v   json.RawMessage
}

type fields []field

func (f fields) index(key string) int {
	return slices.IndexFunc(f, func(m field) bool { return m.key == key })
}

// get returns the value of a keyword, nil if there is none.
func (f fields) get(key string) json.RawMessage {
	if i := f.index(key); i >= 0 {
		return f[i].v
	}
	return nil
}

func (f *fields) set(key string, v json.RawMessage) {
	if i := f.index(key); i >= 0 {
		(*f)[i].v = v
		return
	}
	*f = append(*f, field{key, v})
}

func (f *fields) drop(keys ...string) (dropped bool) {
	n := len(*f)
	*f = slices.DeleteFunc(*f, func(m field) bool { return slices.Contains(keys, m.key) })
	return len(*f) < n
}

// fields returns the members of an object in the page's order; of two of one name the last.
func (l *lister) fields(v json.RawMessage) fields {
	var f fields
	if len(v) == 0 || v[0] != '{' || l.work < 0 {
		return f
	}
	l.work -= len(v)
	f = make(fields, 0, 6)
	for key, v := range rawjson.Members(v) {
		f = append(f, field{key, v})
	}
	if len(f) > 1 && len(f) < 16 {
		for i := range f {
			if f[i+1:].index(f[i].key) >= 0 {
				return l.last(f)
			}
		}
		return f
	}
	return l.last(f)
}

// last returns the last of the members of each name.
func (l *lister) last(f fields) fields {
	seen := make(map[string]int, len(f))
	for i, m := range f {
		seen[m.key] = i
	}
	if len(seen) < len(f) {
		l.changed = true
		i := -1
		f = slices.DeleteFunc(f, func(m field) bool { i++; return seen[m.key] != i })
	}
	return f
}

// wrong notes what is left out of a place because it is wrong.
func (l *lister) wrong(at *place, format string, args ...any) {
	l.changed = true
	l.lost++
	l.wrongs = note(l.wrongs, at, format, args...)
}

// change notes what is listed otherwise at a place.
func (l *lister) change(at *place, format string, args ...any) {
	l.changed = true
	l.changes = note(l.changes, at, format, args...)
}

func note(all []string, at *place, format string, args ...any) []string {
	if len(all) == maxNotes {
		return all
	}
	text := fmt.Sprintf(format, args...)
	if at != nil {
		text = at.pointer() + ": " + text
	}
	return append(all, text)
}

// schema appends a schema that stands at a place, for a value of some types (0: any).
func (l *lister) schema(out []byte, v json.RawMessage, at *place, types typeSet) []byte {
	switch v[0] {
	case 't':
		l.changed = true
		return append(out, "{}"...)
	case 'f':
		l.changed = true
		return append(out, `{"not":{}}`...)
	case '{':
		if name, ok := l.names[&v[0]]; ok {
			l.changed = true
			return append(out, refTo(name)...)
		}
		return l.object(out, l.fields(v), at, types)
	}
	l.wrong(at, "must be an object, true or false")
	return append(out, "{}"...)
}

func refTo(name string) string { return `{"$ref":"#/$defs/` + name + `"}` }

// object appends a schema that has these fields.
func (l *lister) object(out []byte, f fields, at *place, types typeSet) []byte {
	f = l.wellFormed(f, at)
	l.modern(&f, at)
	l.required(&f, at)
	if types = l.types(&f, at, types); types == never {
		l.changed = true
		return append(out, `{"not":{}}`...)
	}
	l.complete(&f, at, types)
	out = append(out, '{')
	for _, m := range f {
		out = l.keyword(out, m, &f, at, types)
	}
	return append(out, '}')
}

// keyword appends a member of a schema, unless it turns out that it must be left out.
func (l *lister) keyword(out []byte, m field, f *fields, of *place, types typeSet) []byte {
	start, lost := len(out), l.lost
	out = rawjson.AppendKey(out, m.key)
	k := keywords2020[m.key].kind
	var at *place
	if k >= kindSchema {
		at = &place{of, m.key}
	}
	switch k {
	case kindSchema, kindItems:
		switch m.key {
		case "additionalProperties":
			if m.v[0] == 't' || m.v[0] == 'f' {
				return append(out, m.v...)
			}
			types = 0
		case "propertyNames":
			types = typeString
		case "not", "if", "then", "else":
		default:
			types = 0
		}
		out = l.schema(out, m.v, at, types)
	case kindSchemas:
		if m.key == "prefixItems" {
			types = 0
		}
		out = append(out, '[')
		i := 0
		for e := range rawjson.Elements(m.v) {
			if i > 0 {
				out = append(out, ',')
			}
			out = l.schema(out, e, &place{at, strconv.Itoa(i)}, types)
			i++
		}
		out = append(out, ']')
		if m.key == "oneOf" && l.lost > lost && f.get("anyOf") == nil {
			// A value that fits one of them may fit two now.
			copy(out[start:], bytes.Replace(out[start:], []byte("oneOf"), []byte("anyOf"), 1))
		}
	case kindProperties:
		out = l.members(out, m, at, types)
	case kindNames:
		out = l.appendNames(out, m.v)
	case kindDependencies:
		out = append(out, '{')
		for _, d := range l.fields(m.v) {
			out = l.appendNames(rawjson.AppendKey(out, l.alias(d.key)), d.v)
		}
		out = append(out, '}')
	case kindText:
		if !rawjson.Portable(m.v) {
			s, _ := rawjson.String(m.v)
			m.v = rawjson.AppendString(nil, s)
		}
		out = append(out, l.clean(m.v)...)
	case kindTexts:
		out = append(out, l.clean(m.v)...)
	case kindReference:
		s, _ := rawjson.String(m.v)
		out = append(out, l.ref(s)...)
	default:
		out = append(out, m.v...)
	}
	return out
}

// members appends an object of schemas.
func (l *lister) members(out []byte, m field, at *place, types typeSet) []byte {
	if m.key != "dependentSchemas" {
		types = 0
	}
	out = append(out, '{')
	for _, sub := range l.fields(m.v) {
		at := &place{at, sub.key}
		name := sub.key
		if m.key == "properties" || m.key == "dependentSchemas" {
			name = l.alias(name)
		}
		out = rawjson.AppendKey(out, name)
		start := len(out)
		out = l.schema(out, sub.v, at, types)
		if name != sub.key && out[start] == '{' && !bytes.Contains(out[start:], []byte(`"description"`)) {
			// The page's own name says most of what there is to know.
			with := rawjson.AppendStringMember([]byte{'{'}, "description", describe.Clean(sub.key, spec.MaxTitle))
			if len(out)-start > 2 {
				with = append(with, ',')
			}
			out = append(append(out[:start:start], with...), out[start+1:]...)
		}
	}
	return append(out, '}')
}

// clean returns what only informs without characters that cannot be seen.
func (l *lister) clean(v json.RawMessage) json.RawMessage {
	if !l.hides {
		return v
	}
	clean := describe.CleanJSON(v)
	l.changed = l.changed || !bytes.Equal(clean, v)
	return clean
}

// appendNames appends an array of names of properties.
func (l *lister) appendNames(out []byte, v json.RawMessage) []byte {
	names := stringsOf(v)
	for i := range names {
		names[i] = l.alias(names[i])
	}
	return appendStrings(out, names)
}

// wellFormed returns the keywords that are known and as they must be.
func (l *lister) wellFormed(f fields, at *place) fields {
	if what := l.foreign(f, at == nil); what != "" {
		l.wrong(at, "%s", what)
	}
	return slices.DeleteFunc(f, func(m field) bool {
		k, known := keywords2020[m.key]
		switch {
		case !known:
			l.changed = true
			for key := range keywords2020 {
				if strings.EqualFold(key, m.key) {
					l.wrong(&place{at, m.key}, "must be spelled %q", key)
				}
			}
			return true
		case l.output && k.onlyInput:
			l.changed = true
			l.lost++
			return true
		case m.key == "required" && (m.v[0] == 't' || m.v[0] == 'f'): // of draft-03, see required
			l.changed = true
			return true
		}
		if why := l.wrongIn(m.key, k.kind, m.v); why != "" {
			if m.key == "properties" && string(bytes.Join(bytes.Fields(m.v), nil)) == "[]" {
				l.changed = true // of PHP
				return true
			}
			l.wrong(&place{at, m.key}, "%s", why)
			return true
		}
		if r, hidden := l.hidden(m.v); hidden && k.kind != kindText && k.kind != kindTexts && !k.nests() {
			l.wrong(&place{at, m.key}, "holds the character %U, which cannot be seen", r)
			return true
		}
		return false
	})
}

// hidden returns a character of a value that cannot be seen, if there is one.
func (l *lister) hidden(v json.RawMessage) (r rune, found bool) {
	if !l.hides {
		return 0, false
	}
	doc, err := rawjson.Decode(v)
	if err != nil {
		return 0, false
	}
	values(&doc, func(v *rawjson.Value) {
		if c, ok := describe.Forbidden(v.Text); ok {
			r, found = c, true
		}
		for _, m := range v.Members {
			if c, ok := describe.Forbidden(m.Name); ok {
				r, found = c, true
			}
		}
	})
	return r, found
}

// definitions ends the schema with what it refers to.
func (l *lister) definitions(out []byte) []byte {
	if len(l.defs) == 0 {
		return out
	}
	out = append(out[:len(out)-1], `,"$defs":{`...)
	for i := 0; i < len(l.defs); i++ { // writing one may find others
		d := l.defs[i]
		out = rawjson.AppendKey(out, d.name)
		if d.v[0] != '{' {
			out = l.schema(out, d.v, d.at, 0)
			continue
		}
		out = l.object(out, l.fields(d.v), d.at, 0)
	}
	return append(out, "}}"...)
}

// ref returns the reference by which a schema is listed to which the page refers.
func (l *lister) ref(ref string) json.RawMessage {
	path, _ := pathOf(ref)
	if len(path) == 0 && l.wrapper == "" {
		return rawjson.AppendString(nil, "#")
	}
	v, to := l.find(path)
	if v == nil { // too much work
		return json.RawMessage(`"#"`)
	}
	name, ok := l.names[&v[0]]
	if !ok {
		name = "root"
		if len(path) > 0 {
			name = path[len(path)-1]
		}
		for i := 1; !isKey(name) || slices.ContainsFunc(l.defs, func(d definition) bool { return d.name == name }); i++ {
			name = "d" + strconv.Itoa(len(l.defs)+i)
		}
		l.names[&v[0]] = name
		l.defs = append(l.defs, definition{name, v, to})
	}
	if own := "#/$defs/" + name; own != ref {
		l.changed = true
	}
	return rawjson.AppendString(nil, "#/$defs/"+name)
}

// find returns what stands at a path of the page's schema, nil if nothing does.
func (l *lister) find(path []string) (v json.RawMessage, at *place) {
	if l.work -= len(l.root); l.work < 0 {
		return nil, nil
	}
	v = l.root
next:
	for _, token := range path {
		at = &place{at, token}
		switch v[0] {
		case '{':
			var found json.RawMessage
			for key, v := range rawjson.Members(v) {
				if key == token {
					found = v
				}
			}
			if v = found; v != nil {
				continue next
			}
		case '[':
			i, n := 0, -1
			if k, err := strconv.Atoi(token); err == nil {
				n = k
			}
			for e := range rawjson.Elements(v) {
				if i == n {
					v = e
					continue next
				}
				i++
			}
		}
		return nil, at
	}
	return v, at
}

// isKey reports whether each model API takes a name of a property.
func isKey(s string) bool {
	if s == "" || len(s) > 64 || s == "__proto__" {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-') {
			return false
		}
	}
	return true
}

// alias returns the name by which a property of the page is listed: always the same one for
// a name, which is that of no other property.
func (l *lister) alias(name string) string {
	if isKey(name) {
		return name
	}
	if alias, ok := l.aliases[name]; ok {
		return alias
	}
	name = strings.Clone(name)
	if l.keys == nil {
		l.keys = map[string]bool{}
		allKeys(l.root, l.keys)
	}
	var b strings.Builder
	for _, r := range name {
		if isKey(string(r)) {
			b.WriteRune(r)
		} else if b.Len() > 0 && b.String()[b.Len()-1] != '_' {
			b.WriteByte('_')
		}
	}
	short := strings.TrimRight(b.String()[:min(b.Len(), 50)], "_")
	if !isKey(short) {
		short = "arg"
	}
	alias := short
	for i := 2; l.keys[alias]; i++ {
		alias = short + "_" + strconv.Itoa(i)
	}
	l.keys[alias] = true
	l.aliases[name] = alias
	l.change(nil, "%s is called %s, as model APIs refuse such names", quoted(name), alias)
	return alias
}

// allKeys collects the names of all members that there are in a value, and its texts, which may be
// names, too.
func allKeys(v json.RawMessage, to map[string]bool) {
	switch v[0] {
	case '{':
		for key, v := range rawjson.Members(v) {
			to[key] = true
			allKeys(v, to)
		}
	case '[':
		for e := range rawjson.Elements(v) {
			allKeys(e, to)
		}
	case '"':
		s, _ := rawjson.String(v)
		to[s] = true
	}
}

func (l *lister) argumentNames() *Names {
	if len(l.aliases) == 0 && l.wrapper == "" {
		return nil
	}
	n := &Names{aliases: l.aliases, keys: make(map[string]string, len(l.aliases)), wrapper: l.wrapper}
	for key, alias := range l.aliases {
		n.keys[alias] = key
	}
	return n
}
