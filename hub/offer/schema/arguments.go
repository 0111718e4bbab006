package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tabhub/spec/rawjson"
)

// Names says how clients are to name arguments that the page names otherwise, see Input. It
// is immutable.
type Names struct {
	aliases map[string]string // by the page's name
	keys    map[string]string // the page's names, by alias
	wrapper string            // the argument that holds all of them, "" if there is none
}

// Arguments returns the arguments that a client gave, which are valid JSON, as the page takes
// them: under the page's names, and as what its schema asks for where the client gave that as
// text. notes says what was taken for something else, for the client. With check, the error says
// what does not fit the schema: it is a *Violations, in the client's words. Without, only what was
// renamed for clients gets its name back.
func (s *Schema) Arguments(args json.RawMessage, names *Names, check bool) (_ json.RawMessage, notes []string, _ error) {
	if len(args) == 0 {
		args = json.RawMessage(`{}`)
	}
	v, err := rawjson.Decode(args)
	if err != nil {
		return nil, nil, about("arguments", err)
	}
	if err := measure(&v); err != nil {
		return nil, nil, about("arguments", err)
	}
	t := taking{schema: s, names: names, args: &v}
	t.text(&v, typeObject, "the arguments")
	if names != nil {
		if err := t.rename(); err != nil {
			return nil, nil, err
		}
	}
	if check {
		err = t.check()
	}
	if t.changed {
		args = rawjson.Append(nil, &v)
	}
	return args, t.notes, err
}

// taking makes the arguments of a client into those of a page.
type taking struct {
	schema  *Schema
	names   *Names
	args    *rawjson.Value
	changed bool
	notes   []string
	left    budget
}

// maxRounds bounds how often texts are looked for within texts.
const maxRounds = 8

// check evaluates the arguments. Text that stands for what the schema asks for is taken for that.
func (t *taking) check() error {
	t.left = maxCheck
	if t.left.evaluate(t.schema.root, t.args, nil, true) == nil || t.left <= 0 {
		return nil
	}
	for range maxRounds {
		t.left = maxCheck
		all := t.left.evaluate(t.schema.root, t.args, nil, false)
		if len(all) == 0 || t.left <= 0 {
			return nil
		}
		if !t.texts(all) {
			return t.schema.refuse(all, t.args, t.names)
		}
	}
	return nil
}

// texts takes the texts that fail for being texts for what they stand for.
func (t *taking) texts(all []failure) (changed bool) {
	for _, f := range all {
		switch f.keyword {
		case "type":
			if f.want.(typeSet)&typeString == 0 && f.got == typeString {
				changed = t.mend(f, f.want.(typeSet), nil) || changed
			}
		case "enum":
			changed = t.mend(f, 0, f.want.([]rawjson.Value)) || changed
		case "anyOf":
			changed = t.branch(f) || changed
		}
	}
	return changed
}

// branch takes texts as one of several schemas asks for, if none of them is for the text.
func (t *taking) branch(f failure) bool {
	whole := func(b []failure) bool {
		return slices.ContainsFunc(b, func(in failure) bool { return in.at == f.at && in.keyword == "type" && in.got == typeString })
	}
	for _, b := range f.branches {
		if whole(b) != whole(f.branches[0]) {
			return false // one is for a text
		}
	}
	for _, b := range f.meant() {
		if t.texts(b) {
			return true
		}
	}
	return false
}

// mend replaces the text that fails by what it stands for, if that is of the types or one of the
// values. An empty text stands for an argument that is left out.
func (t *taking) mend(f failure, types typeSet, values []rawjson.Value) bool {
	v := f.at.in(t.args)
	if v == nil || v.Kind != rawjson.KindString || f.at == nil {
		return false
	}
	if types != 0 && strings.TrimSpace(v.Text) == "" {
		object := f.at.parent.in(t.args)
		if object.Kind != rawjson.KindObject {
			return false
		}
		object.Members = slices.DeleteFunc(object.Members, func(m rawjson.Member) bool { return m.Name == f.at.token })
		t.changed = true
		t.notes = append(t.notes, f.at.shown(t.names)+": an empty text, taken as left out")
		return true
	}
	if values != nil {
		stands, err := rawjson.Decode([]byte(v.Text))
		if err != nil || stands.Kind == rawjson.KindString || !slices.ContainsFunc(values, func(v rawjson.Value) bool { return equal(v, stands) }) {
			return false
		}
		types = typeOf(&stands)
	}
	return t.text(v, types, f.at.shown(t.names))
}

// text replaces a text by what it stands for, if that is of the types.
func (t *taking) text(v *rawjson.Value, types typeSet, what string) bool {
	if v.Kind != rawjson.KindString {
		return false
	}
	stands, err := rawjson.Decode([]byte(v.Text))
	if err != nil {
		return false
	}
	if err := measure(&stands); err != nil {
		return false
	}
	is := typeOf(&stands)
	if is&types == 0 && !(is == typeNumber && types&typeInteger != 0 && isInt(stands.Text)) {
		return false
	}
	*v = stands
	t.changed = true
	t.notes = append(t.notes, fmt.Sprintf("%s: given as text, taken as %s", what, is))
	return true
}

// rename gives arguments the page's names.
func (t *taking) rename() error {
	v := t.args
	if w := t.names.wrapper; w != "" && len(v.Members) == 1 && v.Members[0].Name == w {
		inner := v.Members[0].Value
		t.text(&inner, typeObject, w)
		if inner.Kind != rawjson.KindObject {
			return about("/"+w, errNoObject)
		}
		*v = inner
		t.changed = true
	}
	if len(t.names.keys) == 0 {
		return nil
	}
	t.left = maxCheck
	return t.renameIn(v, nil, []*node{t.schema.root})
}

var errNoObject = errors.New("must be an object that holds the arguments")

// renameIn gives the members of a value the names that they have in the schemas that it is to fit.
func (t *taking) renameIn(v *rawjson.Value, at *place, of []*node) error {
	if v.Members == nil && v.Elements == nil {
		return nil
	}
	of = sameValue(of)
	if t.left -= budget(len(of) * (1 + len(v.Members) + len(v.Elements))); t.left <= 0 {
		return about("arguments", errTooMuch)
	}
	for i := range v.Elements {
		var sub []*node
		for _, n := range of {
			if i < len(n.prefix) {
				sub = append(sub, n.prefix[i])
			} else if n.items != nil {
				sub = append(sub, n.items)
			}
		}
		if err := t.renameIn(&v.Elements[i], &place{at, strconv.Itoa(i)}, sub); err != nil {
			return err
		}
	}
	for i := range v.Members {
		m := &v.Members[i]
		if key, ok := t.names.keys[m.Name]; ok && slices.ContainsFunc(of, func(n *node) bool { return n.properties[key] != nil }) {
			if v.Member(key) != nil {
				return about((&place{at, m.Name}).pointer(), fmt.Errorf("is the same argument as %s, which is given, too", quoted(key)))
			}
			m.Name, t.changed = key, true
		}
		var sub []*node
		for _, n := range of {
			if p := n.properties[m.Name]; p != nil {
				sub = append(sub, p)
			} else if n.additional != nil {
				sub = append(sub, n.additional)
			}
			for _, p := range n.patterns {
				if p.pattern.MatchString(m.Name) {
					sub = append(sub, p.node)
				}
			}
		}
		if err := t.renameIn(&m.Value, &place{at, m.Name}, sub); err != nil {
			return err
		}
	}
	slices.SortFunc(v.Members, func(a, b rawjson.Member) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

var errTooMuch = errors.New("take too much work to be read")

// sameValue returns the nodes and all that they lead to for the same value.
func sameValue(of []*node) (all []*node) {
	seen := map[*node]bool{}
	var visit func(n *node)
	visit = func(n *node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		all = append(all, n)
		n.parts(func(sub *node, same bool) {
			if same {
				visit(sub)
			}
		})
	}
	for _, n := range of {
		visit(n)
	}
	return all
}

// alias returns the name that clients use for one of the page's.
func (n *Names) alias(key string) string {
	if n != nil {
		if alias, ok := n.aliases[key]; ok {
			return alias
		}
	}
	return key
}

// translate makes failures speak of arguments as clients name them.
func (n *Names) translate(all []failure) {
	if n == nil {
		return
	}
	for i := range all {
		f := &all[i]
		for at := f.at; at != nil; at = at.parent {
			at.token = n.alias(at.token)
		}
		if of, ok := f.want.(*node); ok {
			known := *of
			known.properties = make(map[string]*node, len(of.properties))
			for key, sub := range of.properties {
				known.properties[n.alias(key)] = sub
			}
			f.want = &known
		}
		if names, ok := f.got.([]string); ok {
			for i := range names {
				names[i] = n.alias(names[i])
			}
		}
		for _, b := range f.branches {
			n.translate(b)
		}
	}
}

// shown is the place as clients know it.
func (p *place) shown(n *Names) string {
	var tokens []string
	for ; p != nil; p = p.parent {
		tokens = append(tokens, "/"+pointers.Replace(cut(n.alias(p.token))))
	}
	slices.Reverse(tokens)
	return strings.Join(tokens, "")
}
