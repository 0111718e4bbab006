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
	c.settle()
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
	if k.anyName {
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
	// anyName: the names that patternProperties are about are not all known.
	anyName bool
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
		case err == nil:
			k.pending = append(k.pending, reference{n, v.Text})
		default: // to a part by a name that it gives itself
			n.loose = true
		}
	case "$dynamicRef", "$recursiveRef":
		n.loose = true
	case "unevaluatedItems", "unevaluatedProperties":
		n.loose = true
		k.node(v, at)
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
			n.loose = n.loose || v.Text == "true" // of draft-04
			return
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
	case "minProperties":
		n.members.least = k.count(at, v)
	case "maxProperties":
		n.members.most = k.count(at, v)
	case "minContains":
		n.matching.least = k.count(at, v)
	case "maxContains":
		n.matching.most = k.count(at, v)
	case "uniqueItems":
		n.unique = k.is(at, v, rawjson.KindBool, "true or false") && v.Text == "true"
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
		n.required = k.texts(at, v)
	case "properties":
		n.properties = k.members(at, v)
	case "additionalProperties":
		n.additional = k.node(v, at)
	case "allOf":
		n.allOf = k.list(at, v)
	case "anyOf":
		n.anyOf = append(n.anyOf, k.list(at, v))
	case "oneOf":
		n.oneOf = k.list(at, v)
	case "not":
		n.not = k.node(v, at)
	case "if":
		n.cond = k.node(v, at)
	case "then":
		n.then = k.node(v, at)
	case "else":
		n.otherwise = k.node(v, at)
	case "contains":
		n.contains = k.node(v, at)
	case "propertyNames":
		n.names = k.node(v, at)
	case "patternProperties":
		for name, sub := range k.members(at, v) {
			if pattern := k.matcher(at, name); pattern != nil {
				n.patterns = append(n.patterns, patternProperty{pattern, sub})
			} else {
				k.anyName = true
			}
		}
	case "dependencies", "dependentRequired", "dependentSchemas":
		k.is(at, v, rawjson.KindObject, "an object")
		for i := range v.Members {
			m := &v.Members[i]
			d := dependency{name: m.Name}
			if key == "dependentRequired" || key == "dependencies" && m.Value.Kind == rawjson.KindArray {
				d.required = k.texts(&place{at, m.Name}, &m.Value)
			} else {
				d.node = k.node(&m.Value, &place{at, m.Name})
			}
			n.dependencies = append(n.dependencies, d)
		}
	case "$defs", "definitions":
		k.members(at, v)
	case "contentSchema":
		k.node(v, at)
	}
}

func (k *keywords) texts(at *place, v *rawjson.Value) (all []string) {
	if k.is(at, v, rawjson.KindArray, "an array") {
		for _, e := range v.Elements {
			k.is(at, &e, rawjson.KindString, "an array of strings")
			all = append(all, e.Text)
		}
	}
	return all
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
		k.n.loose = true
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
		ends := true
		n.parts(func(sub *node, same bool) { ends = ends && (!same || sub == nil || visit(sub)) })
		done[n] = ends
		return ends
	}
	for _, n := range c.nodes {
		if !visit(n) {
			return errors.New("has a reference that leads back to itself without going into a member")
		}
	}
	return nil
}

// settle finds which nodes are loose, as those that need loose ones are, and leaves to the page what
// cannot be decided of these.
func (c *compiler) settle() {
	for changed := true; changed; {
		changed = false
		for _, n := range c.nodes {
			if n.loose {
				continue
			}
			n.parts(func(sub *node, _ bool) { n.loose = n.loose || sub != nil && sub.loose })
			changed = changed || n.loose
		}
	}
	for _, n := range c.nodes {
		n.settle()
	}
}
