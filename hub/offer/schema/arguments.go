package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tabhub/hub/offer/keyword"
	"tabhub/spec/rawjson"
)

// Names says how clients name those arguments that the page names otherwise. It is immutable.
type Names struct {
	aliases map[string]string // by the page's name
	keys    map[string]string // the page's names, by alias
}

// NewNames returns the Names with these aliases, by the page's name; nil if there are none.
func NewNames(aliases map[string]string) *Names {
	if len(aliases) == 0 {
		return nil
	}
	n := &Names{aliases: aliases, keys: make(map[string]string, len(aliases))}
	for key, alias := range aliases {
		n.keys[alias] = key
	}
	return n
}

// Arguments returns the arguments that a client gave, which are valid JSON, as the page takes
// them: under the page's names, and as what its schema asks for where the client gave that as
// text. notes tells the client what was taken for something else. With check, the error says
// what does not fit the schema: it is a *Violations, in the client's words. Without, only
// arguments that clients name otherwise get the page's names.
func (s *Schema) Arguments(args json.RawMessage, names *Names, check bool) (_ json.RawMessage, notes []string, _ error) {
	v, err := decodeArguments(args)
	if err != nil {
		return nil, nil, about(err)
	}
	if len(args) == 0 {
		args = json.RawMessage(`{}`)
	}
	t := taking{schema: s, names: names, args: &v, left: maxCheck}
	t.text(&v, keyword.Object, "the arguments")
	if names != nil {
		if err := t.rename(&v, nil, []*node{s.root}); err != nil {
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
			if f.want.(keyword.Types)&keyword.String == 0 && f.got == keyword.String {
				changed = t.mend(f, f.want.(keyword.Types), nil) || changed
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
		return slices.ContainsFunc(b, func(in failure) bool { return in.at == f.at && in.keyword == "type" && in.got == keyword.String })
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
func (t *taking) mend(f failure, types keyword.Types, values []rawjson.Value) bool {
	v := valueAt(t.args, f.at)
	if v == nil || v.Kind != rawjson.KindString || f.at == nil {
		return false
	}
	if types != 0 && strings.TrimSpace(v.Text) == "" {
		object := valueAt(t.args, f.at.Parent)
		if object.Kind != rawjson.KindObject {
			return false
		}
		object.Members = slices.DeleteFunc(object.Members, func(m rawjson.Member) bool { return m.Name == f.at.Token })
		t.changed = true
		t.notes = append(t.notes, t.names.place(f.at).Pointer()+": an empty text, taken as left out")
		return true
	}
	if values != nil {
		stands, err := rawjson.Decode([]byte(v.Text))
		if err != nil || stands.Kind == rawjson.KindString || !slices.ContainsFunc(values, func(v rawjson.Value) bool { return equal(v, stands) }) {
			return false
		}
		types = typeOf(&stands)
	}
	return t.text(v, types, t.names.place(f.at).Pointer())
}

// text replaces a text by what it stands for, if that is of the types.
func (t *taking) text(v *rawjson.Value, types keyword.Types, what string) bool {
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
	if is&types == 0 && !(is == keyword.Float && types&keyword.Integer != 0 && isInt(stands.Text)) {
		return false
	}
	*v = stands
	t.changed = true
	t.notes = append(t.notes, fmt.Sprintf("%s: given as text, taken as %s", what, is))
	return true
}

// rename gives the members of a value the names that they have in the schemas that it is to fit.
func (t *taking) rename(v *rawjson.Value, at *keyword.Place, of []*node) error {
	if v.Members == nil && v.Elements == nil {
		return nil
	}
	of = sameValue(of)
	if t.left -= budget(len(of) * (1 + len(v.Members) + len(v.Elements))); t.left <= 0 {
		return about(errTooMuch)
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
		if err := t.rename(&v.Elements[i], &keyword.Place{Parent: at, Token: strconv.Itoa(i)}, sub); err != nil {
			return err
		}
	}
	for i := range v.Members {
		m := &v.Members[i]
		if key, ok := t.names.keys[m.Name]; ok && slices.ContainsFunc(of, func(n *node) bool { return n.properties[key] != nil }) {
			if v.Member(key) != nil {
				where := (&keyword.Place{Parent: at, Token: m.Name}).Pointer()
				return &Violations{words: where + ": is the same argument as " + keyword.Quoted(key) + ", which is given, too"}
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
		if err := t.rename(&m.Value, &keyword.Place{Parent: at, Token: m.Name}, sub); err != nil {
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
		for at := f.at; at != nil; at = at.Parent {
			at.Token = n.alias(at.Token)
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

// place returns a place as clients know it.
func (n *Names) place(p *keyword.Place) *keyword.Place {
	if p == nil {
		return nil
	}
	return &keyword.Place{Parent: n.place(p.Parent), Token: n.alias(p.Token)}
}
