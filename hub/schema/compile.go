package schema

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"tabhub/spec/rawjson"
)

const (
	maxObjects = 1000 // in a schema
	maxRefs    = 1000 // references in a schema
)

// compiler makes nodes of one schema.
type compiler struct {
	doc      *rawjson.Value
	nodes    map[*rawjson.Value]*node // but bare ones
	pending  []reference
	programs int   // instructions of all patterns
	err      error // the first one
}

// reference is a reference that is not yet resolved.
type reference struct {
	from *node
	ref  string
}

// compile returns the node of a whole schema.
func compile(doc *rawjson.Value) (*node, error) {
	c := &compiler{doc: doc, nodes: map[*rawjson.Value]*node{}}
	root := c.node(doc, nil)
	for n := 0; len(c.pending) > 0 && c.err == nil; n++ {
		r := c.pending[0]
		if c.pending = c.pending[1:]; n == maxRefs {
			return nil, fmt.Errorf("more than %d references", maxRefs)
		}
		to, err := c.resolve(r.ref)
		if err != nil {
			return nil, fmt.Errorf("$ref %.100q %w", r.ref, err)
		}
		r.from.refs = append(r.from.refs, to)
	}
	if c.err == nil {
		c.err = c.ends()
	}
	return root, c.err
}

// resolve returns the node that a reference within the schema leads to.
func (c *compiler) resolve(ref string) (*node, error) {
	path, err := pathOf(ref)
	if err != nil {
		return nil, err
	}
	v := c.doc
	var at *place
	for _, token := range path {
		at = &place{at, token}
		if i, err := strconv.Atoi(token); v.Kind == rawjson.KindArray && err == nil && i >= 0 && i < len(v.Elements) {
			v = &v.Elements[i]
		} else if v = v.Member(token); v == nil {
			return nil, errors.New("is not found")
		}
	}
	n := c.node(v, at)
	if c.err != nil {
		return nil, fmt.Errorf("leads to what is no schema: %w", c.err)
	}
	return n, nil
}

// node returns the node of a schema that stands at a place.
func (c *compiler) node(v *rawjson.Value, at *place) *node {
	if n := c.nodes[v]; n != nil {
		return n
	}
	switch v.Kind {
	case rawjson.KindObject:
		if types, ok := onlyTypes(v); ok {
			return &bare[types]
		}
	case rawjson.KindBool:
		if v.Text == "false" {
			return nothing
		}
		return &bare[0]
	default:
		c.fail(at, "must be an object, true or false")
		return &bare[0]
	}
	n := new(bare[0])
	c.nodes[v] = n
	k := keywords{compiler: c, at: at, n: n}
	for i := range v.Members {
		k.take(v.Members[i].Name, &v.Members[i].Value)
	}
	if v.Member("patternProperties") != nil {
		n.additional = nil // which members are additional is not known here
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
		case "title", "description", "default", "examples":
		default:
			return 0, false
		}
	}
	return types, true
}

func (c *compiler) fail(at *place, format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%s: "+format, append([]any{at.pointer()}, args...)...)
	}
}

// keywords reads the keywords of one schema.
type keywords struct {
	*compiler
	at    *place
	n     *node
	extra *node // additionalItems
}

// take reads one keyword, whatever draft it is of. Of those that are not checked here the
// schemas within must be schemas: clients read them, too.
func (k *keywords) take(key string, v *rawjson.Value) {
	n, at := k.n, &place{k.at, key}
	switch key {
	case "$ref":
		switch _, err := pathOf(v.Text); {
		case k.is(at, v, rawjson.KindString, "a string") && !strings.HasPrefix(v.Text, "#"):
			k.fail(at, `%.100q is refused: only references within the schema ("#…") are followed`, v.Text)
		case err == nil: // else it is to a part by a name that it gives itself
			k.pending = append(k.pending, reference{n, v.Text})
		}
	case "type":
		n.types = k.types(at, v)
	case "const":
		n.values = append(n.values, []rawjson.Value{*v})
	case "enum":
		if k.is(at, v, rawjson.KindArray, "an array") {
			n.values = append(n.values, v.Elements)
		}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		if v.Kind == rawjson.KindBool && key[0] == 'e' {
			return // of draft-04
		}
		if k.is(at, v, rawjson.KindNumber, "a number") {
			value := numberOf(v.Text)
			if key == "multipleOf" && value.Sign() <= 0 {
				k.fail(at, "must be more than 0")
			}
			n.bounds = append(n.bounds, bound{key, value})
		}
	case "minLength":
		n.length.least = k.count(at, v)
	case "maxLength":
		n.length.most = k.count(at, v)
	case "minItems":
		n.count.least = k.count(at, v)
	case "maxItems":
		n.count.most = k.count(at, v)
	case "minProperties", "maxProperties", "minContains", "maxContains":
		k.count(at, v)
	case "pattern":
		if k.is(at, v, rawjson.KindString, "a string") {
			n.pattern = k.matcher(at, v.Text)
		}
	case "items":
		if v.Kind != rawjson.KindArray {
			n.items = k.node(v, at)
			return
		}
		n.prefix, n.items = k.list(at, v), k.extra
	case "additionalItems":
		k.extra = k.node(v, at)
	case "prefixItems":
		n.prefix = k.list(at, v)
	case "required":
		if k.is(at, v, rawjson.KindArray, "an array") {
			for _, e := range v.Elements {
				k.is(at, &e, rawjson.KindString, "an array of strings")
				n.required = append(n.required, e.Text)
			}
		}
	case "properties":
		n.properties = k.members(at, v)
	case "additionalProperties":
		n.additional = k.node(v, at)
	case "allOf":
		n.allOf = k.list(at, v)
	case "anyOf", "oneOf": // that no second one fits is the page's to say
		n.anyOf = append(n.anyOf, k.list(at, v))
	case "$defs", "definitions", "patternProperties", "dependentSchemas":
		k.members(at, v)
	case "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema":
		k.node(v, at)
	}
}

func (k *keywords) is(at *place, v *rawjson.Value, kind rawjson.Kind, what string) bool {
	if v.Kind != kind {
		k.fail(at, "must be %s", what)
	}
	return v.Kind == kind
}

// count returns the value of a keyword that is a count; one that no value reaches if it is
// larger than an int.
func (k *keywords) count(at *place, v *rawjson.Value) int {
	if !k.is(at, v, rawjson.KindNumber, "a number") {
		return 0
	}
	n := numberOf(v.Text)
	switch {
	case !n.IsInt() || n.Sign() < 0:
		k.fail(at, "must be a whole number of at least 0")
		return 0
	case n.Num().IsInt64():
		return int(n.Num().Int64())
	}
	return math.MaxInt
}

func (k *keywords) types(at *place, v *rawjson.Value) (all typeSet) {
	names := v.Elements
	if v.Kind != rawjson.KindArray {
		names = []rawjson.Value{*v}
	}
	for _, name := range names {
		one := typeNames[name.Text]
		if name.Kind != rawjson.KindString || one == 0 {
			k.fail(at, "%.40s is no type", name.Text)
		}
		all |= one
	}
	if all == 0 {
		k.fail(at, "must name a type")
	}
	return all
}

// matcher returns the matcher of a pattern, nil if the page has to match it.
func (k *keywords) matcher(at *place, pattern string) *lazyPattern {
	size := programOf(pattern)
	if size > maxProgram {
		return nil
	}
	if k.programs += size; k.programs > maxPrograms {
		k.fail(at, "%.100q takes too much work", pattern)
	}
	return newPattern(pattern)
}

// list returns the nodes of a keyword that is an array of schemas.
func (k *keywords) list(at *place, v *rawjson.Value) []*node {
	k.is(at, v, rawjson.KindArray, "an array")
	all := make([]*node, len(v.Elements))
	for i := range v.Elements {
		all[i] = k.node(&v.Elements[i], &place{at, strconv.Itoa(i)})
	}
	return all
}

// members returns the nodes of a keyword that is an object of schemas.
func (k *keywords) members(at *place, v *rawjson.Value) map[string]*node {
	k.is(at, v, rawjson.KindObject, "an object")
	all := make(map[string]*node, len(v.Members))
	for i := range v.Members {
		m := &v.Members[i]
		all[m.Name] = k.node(&m.Value, &place{at, m.Name})
	}
	return all
}

// ends returns why the check of a value would never end, nil if it does: only references
// that lead back to a schema for the same value make it so.
func (c *compiler) ends() error {
	done := map[*node]bool{} // false while what it leads to is looked at
	var visit func(n *node) bool
	visit = func(n *node) bool {
		if ends, seen := done[n]; seen {
			return ends
		}
		done[n] = false
		for _, all := range append([][]*node{n.refs, n.allOf}, n.anyOf...) {
			for _, sub := range all {
				if !visit(sub) {
					return false
				}
			}
		}
		done[n] = true
		return true
	}
	for _, n := range c.nodes {
		if !visit(n) {
			return errors.New("has a reference that leads back to itself without going into a member")
		}
	}
	return nil
}
