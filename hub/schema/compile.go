package schema

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// compiler makes nodes of one decoded schema. The schema must be well-formed; what is
// not yields nodes that check less.
type compiler struct {
	doc     any
	draft   draft
	pattern func(string) (*lazyPattern, error)
	// check reports what is wrong with a part that a reference leads to, which may be
	// in a place that is no schema's.
	check func(part any) error

	nodes   map[string]*node // by JSON pointer
	pending []reference
	err     error // the first one
}

// reference is a reference that is not yet resolved.
type reference struct {
	from         *node
	keyword, ref string
}

// compile returns the node of the whole schema.
func (c *compiler) compile() (*node, error) {
	c.nodes = map[string]*node{}
	root := c.node(c.doc, "")
	for len(c.pending) > 0 && c.err == nil {
		r := c.pending[len(c.pending)-1]
		c.pending = c.pending[:len(c.pending)-1]
		to, err := c.resolve(r.ref)
		if err != nil {
			return nil, fmt.Errorf("%s %.100q %w", r.keyword, r.ref, err)
		}
		r.from.refs = append(r.from.refs, to)
	}
	return root, c.err
}

// node returns the node of the schema v at a pointer, made once.
func (c *compiler) node(v any, at string) *node {
	if n := c.nodes[at]; n != nil {
		return n
	}
	n := &node{never: v == false}
	c.nodes[at] = n
	if s, ok := v.(map[string]any); ok {
		c.fill(n, definition{c, s, at})
	}
	return n
}

// fill sets the fields of n.
func (c *compiler) fill(n *node, d definition) {
	refs := []string{"$ref"}
	switch {
	case c.draft == draft2019:
		refs = append(refs, "$recursiveRef")
	case c.draft >= draft2020:
		// There is one dynamic scope, the schema itself: no part with a name of its
		// own may have references.
		refs = append(refs, "$dynamicRef")
	}
	for _, key := range refs {
		if ref, ok := d.s[key].(string); ok {
			c.pending = append(c.pending, reference{n, key, ref})
			if c.draft < draft2019 {
				return // it stands for all of the schema
			}
		}
	}
	d.values(n)
	d.strings(n)
	d.arrays(n)
	d.objects(n)
	n.allOf, n.anyOf, n.oneOf = d.list("allOf"), d.list("anyOf"), d.list("oneOf")
	n.not = d.schema("not")
	if c.draft >= draft07 {
		n.cond, n.then, n.elseThe = d.schema("if"), d.schema("then"), d.schema("else")
	}
}

// resolve returns the node that a reference within the schema leads to.
func (c *compiler) resolve(ref string) (*node, error) {
	fragment, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil, errors.New("is not part of the schema")
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, err
	}
	at := fragment
	if fragment != "" && fragment[0] != '/' {
		all := c.anchors(c.doc, "", fragment)
		switch len(all) {
		case 0:
			return nil, errors.New("is not found")
		case 1:
			at = all[0]
		default:
			return nil, fmt.Errorf("leads to %d parts of the schema", len(all))
		}
	}
	part, found := c.part(at)
	if !found {
		return nil, errors.New("is not found")
	}
	if n := c.nodes[at]; n != nil {
		return n, nil
	}
	if err := c.check(part); err != nil {
		return nil, fmt.Errorf("leads to what is no schema: %w", err)
	}
	return c.node(part, at), nil
}

// part returns the value at a JSON pointer.
func (c *compiler) part(at string) (v any, found bool) {
	v = c.doc
	if at == "" {
		return c.doc, true
	}
	for token := range strings.SplitSeq(at[1:], "/") {
		switch in := v.(type) {
		case map[string]any:
			v, found = in[strings.NewReplacer("~1", "/", "~0", "~").Replace(token)]
		case []any:
			i, err := strconv.Atoi(token)
			if found = err == nil && i >= 0 && i < len(in); found {
				v = in[i]
			}
		default:
			found = false
		}
		if !found {
			return nil, false
		}
	}
	return v, true
}

// anchors returns pointers to the schemas within v that give themselves a name.
func (c *compiler) anchors(v any, at, name string) (all []string) {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			all = append(all, c.anchors(e, at+"/"+strconv.Itoa(i), name)...)
		}
	case map[string]any:
		switch {
		case c.draft == draft04 && v["id"] == "#"+name,
			(c.draft == draft06 || c.draft == draft07) && v["$id"] == "#"+name,
			c.draft >= draft2019 && v["$anchor"] == name,
			c.draft >= draft2020 && v["$dynamicAnchor"] == name:
			all = append(all, at)
		}
		for _, key := range schemaKeywords {
			all = append(all, c.anchors(v[key], at+"/"+key, name)...)
		}
		for _, key := range mapKeywords {
			m, _ := v[key].(map[string]any)
			for member, sub := range m {
				all = append(all, c.anchors(sub, at+"/"+key+"/"+escape(member), name)...)
			}
		}
	}
	return all
}
