package schema

import (
	"fmt"
	"math"
	"slices"

	"tabhub/spec/rawjson"
)

// maxObjects is how many objects there may be in a schema.
const maxObjects = 1000

// compiler makes nodes of one schema. What is not well-formed yields nodes that check
// less, and raises a doubt that the meta-schema settles.
type compiler struct {
	doc     *rawjson.Value
	draft   draft
	meta    func() *node // the meta-schema; nil: the schema is one
	loosens bool         // has a pattern that cannot be matched here, see loosen

	nodes     map[*rawjson.Value]*node // but bare ones
	anchors   []anchor
	refs      []string // each once
	uses      int      // of references so far
	pending   []reference
	programs  int // instructions of all patterns
	unmatched bool
	doubt     bool
	err       error // the first one
}

// compile returns the node of a whole schema.
func compile(doc *rawjson.Value, d draft, meta func() *node) (*node, error) {
	for loosens := false; ; loosens = true {
		c := &compiler{doc: doc, draft: d, meta: meta, loosens: loosens, nodes: map[*rawjson.Value]*node{}}
		root, err := c.root()
		if err != nil || loosens || !c.unmatched {
			return root, err
		}
	}
}

func (c *compiler) root() (*node, error) {
	root, err := c.wellFormed(c.doc)
	if err != nil {
		return nil, err
	}
	for len(c.pending) > 0 {
		r := c.pending[len(c.pending)-1]
		c.pending = c.pending[:len(c.pending)-1]
		to, err := c.resolve(r.ref)
		if err != nil {
			return nil, fmt.Errorf("%s %.100q %w", r.keyword, r.ref, err)
		}
		r.from.refs = append(r.from.refs, to)
	}
	if c.uses == 0 {
		return root, nil
	}
	return root, checkWork(root)
}

// wellFormed returns the node of a part. The error says in a line why it is no schema.
func (c *compiler) wellFormed(v *rawjson.Value) (*node, error) {
	c.doubt = false
	n := c.node(v)
	if c.err != nil || !c.doubt || c.meta == nil {
		return n, c.err
	}
	if all := new(budget(maxCheck)).evaluate(c.meta(), v, nil, false, nil); all != nil {
		return nil, violations(all)
	}
	return n, nil
}

// node returns the node of a schema.
func (c *compiler) node(v *rawjson.Value) *node {
	if n := c.nodes[v]; n != nil {
		return n
	}
	switch v.Kind {
	case rawjson.KindObject:
		if types, ok := onlyTypes(v); ok {
			return &bare[types]
		}
	case rawjson.KindBool:
		c.expect(c.draft > draft04)
		if v.Text == "false" {
			return nothing
		}
		return &bare[0]
	default:
		c.expect(false)
		return &bare[0]
	}
	n := new(bare[0])
	c.nodes[v] = n
	k := keywords{compiler: c, v: v, n: n}
	uses := c.uses
	for i := range v.Members {
		k.take(v.Members[i].Name, &v.Members[i].Value)
	}
	k.settle()
	if k.id != "" && v != c.doc && c.uses > uses {
		c.fail(`$id %.100q is refused: only the whole schema may have one, or a part without references`, k.id)
	}
	return n
}

// onlyTypes returns the types that a schema asks for, if it asks for nothing else.
func onlyTypes(v *rawjson.Value) (types typeSet, ok bool) {
	for i := range v.Members {
		m := &v.Members[i]
		switch m.Name {
		case "type":
			if types = typeNames[m.Value.Text]; types == 0 || m.Value.Kind != rawjson.KindString {
				return 0, false
			}
		case "title", "description":
			if m.Value.Kind != rawjson.KindString {
				return 0, false
			}
		case "default", "examples":
		default:
			return 0, false
		}
	}
	return types, true
}

func (c *compiler) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// expect raises a doubt unless what it is told is true of all well-formed schemas.
func (c *compiler) expect(ok bool) { c.doubt = c.doubt || !ok }

// size returns a count; one that no value reaches if it is larger than an int.
func (c *compiler) size(v *rawjson.Value, otherwise int) int {
	if v.Kind != rawjson.KindNumber {
		c.expect(false)
		return otherwise
	}
	n := numberOf(v.Text)
	c.expect(n.rat == nil && n.small >= 0)
	switch {
	case n.rat == nil:
		return int(n.small)
	case n.rat.Num().IsInt64():
		return int(n.rat.Num().Int64())
	}
	return math.MaxInt
}

// types returns the value of the keyword type.
func (c *compiler) types(v *rawjson.Value) (all typeSet) {
	names := v.Elements
	if v.Kind != rawjson.KindArray {
		names = []rawjson.Value{*v}
	}
	for _, name := range names {
		one := typeNames[name.Text]
		c.expect(name.Kind == rawjson.KindString && one != 0 && all&one == 0)
		all |= one
	}
	c.expect(all != 0)
	return all
}

// texts returns the strings of an array.
func (c *compiler) texts(v *rawjson.Value) []string {
	c.expect(v.Kind == rawjson.KindArray && (len(v.Elements) > 0 || c.draft > draft04))
	all := make([]string, 0, len(v.Elements))
	for _, e := range v.Elements {
		// Whether many are distinct the meta-schema sees sooner.
		c.expect(e.Kind == rawjson.KindString && len(all) < 64 && !slices.Contains(all, e.Text))
		all = append(all, e.Text)
	}
	return all
}

// matcher returns the matcher of a pattern, nil if there is none.
func (c *compiler) matcher(pattern string) *lazyPattern {
	size := programOf(pattern)
	if size > maxProgram {
		c.unmatched = true
		return nil
	}
	if c.programs += size; c.programs > maxPrograms {
		c.fail("pattern %.100q takes too much work", pattern)
	}
	return newPattern(pattern)
}

// loosen takes out of a node whatever could refuse a value because a pattern within it
// cannot be matched here: what is left accepts all that the whole schema accepts, and
// the page checks the rest. References count as such patterns: what they lead to may
// have one.
func (n *node) loosen() {
	if n.not != nil && n.not.loose {
		n.not = nil
	}
	if n.cond != nil && n.cond.loose {
		n.cond, n.then, n.otherwise = nil, nil, nil
	}
	if n.contains != nil && n.contains.loose {
		n.matching.most = -1
	}
	if slices.ContainsFunc(n.oneOf, func(sub *node) bool { return sub.loose }) {
		// At least one of them fits; whether a second one does is the page's to say.
		one := new(bare[0])
		one.anyOf = n.oneOf
		n.allOf, n.oneOf = append(n.allOf, one), nil
	}
	n.unevaluatedProperties, n.unevaluatedItems = nil, nil
}
