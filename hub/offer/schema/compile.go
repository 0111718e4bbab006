package schema

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"tabhub/spec/rawjson"
)

// maxObjects bounds the objects in a schema, and so its parts and references.
const maxObjects = 1000

// compiler makes nodes of one schema.
type compiler struct {
	doc      *rawjson.Value
	nodes    map[*rawjson.Value]*node // but bare ones
	pending  []reference
	programs int // instructions of all patterns
}

// reference is a reference that is not yet resolved.
type reference struct {
	from *node
	path []string
}

// newSchema compiles a schema. A keyword that is not as it must be checks nothing:
// Input says so to the page's author.
func newSchema(doc *rawjson.Value) *Schema {
	c := &compiler{doc: doc, nodes: map[*rawjson.Value]*node{}}
	root := c.node(doc)
	for len(c.pending) > 0 {
		r := c.pending[0]
		c.pending = c.pending[1:]
		if to := c.find(r.path); to != nil {
			r.from.refs = append(r.from.refs, c.node(to))
		} else {
			r.from.loose = true
		}
	}
	c.cutLoops()
	c.settle()
	return &Schema{root, c.size()}
}

// Bytes of what compiled schemas are made of, about.
const (
	nodeSize    = int(unsafe.Sizeof(node{})) + 64 // and its entry among the nodes
	memberSize  = 128                             // of a decoded value, and of a map
	programSize = 64                              // of an instruction
)

// size is how many bytes the nodes and the values that they share take.
func (c *compiler) size() (size int) {
	values(c.doc, func(v *rawjson.Value) { size += memberSize + len(v.Text) })
	return size + len(c.nodes)*nodeSize + c.programs*programSize
}

// find returns what a reference within the schema leads to, nil if there is nothing.
func (c *compiler) find(path []string) *rawjson.Value {
	v := c.doc
	for _, token := range path {
		if i, err := strconv.Atoi(token); v.Kind == rawjson.KindArray && err == nil && i >= 0 && i < len(v.Elements) {
			v = &v.Elements[i]
		} else if v = v.Member(token); v == nil {
			return nil
		}
	}
	return v
}

// node returns the node of a schema.
func (c *compiler) node(v *rawjson.Value) *node {
	if n := c.nodes[v]; n != nil {
		return n
	}
	switch v.Kind {
	case rawjson.KindObject:
		if types, ok := onlyTypes(v); ok {
			return bare(types)
		}
	case rawjson.KindBool:
		if v.Text == "false" {
			return nothing
		}
		return bare(0)
	default:
		return bare(0)
	}
	n := new(*bare(0))
	c.nodes[v] = n
	k := keywords{compiler: c, n: n}
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

// keywords reads the keywords of one schema.
type keywords struct {
	*compiler
	n         *node
	extra     *node    // additionalItems
	exclusive []string // of draft-04: Minimum and Maximum
	// anyName: the names that patternProperties are about are not all known.
	anyName bool
}

// take reads one keyword, whatever draft it is of.
func (k *keywords) take(key string, v *rawjson.Value) {
	n := k.n
	switch key {
	case "$ref":
		path, err := pathOf(v.Text)
		switch {
		case !k.is(v.Kind == rawjson.KindString && strings.HasPrefix(v.Text, "#")):
		case err == nil:
			k.pending = append(k.pending, reference{n, path})
		default: // to a part by a name that it gives itself
			n.loose = true
		}
	case "$dynamicRef", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties":
		n.loose = true
	case "type":
		n.types = typesIn(v)
		k.is(n.types != 0)
	case "const":
		if err := measure(v); k.is(err == nil) {
			n.values = append(n.values, []rawjson.Value{*v})
		}
	case "enum":
		if err := measure(v); k.is(err == nil && len(v.Elements) > 0) {
			n.values = append(n.values, v.Elements)
		}
	case "exclusiveMinimum", "exclusiveMaximum", "minimum", "maximum", "multipleOf":
		if key[0] == 'e' && v.Kind == rawjson.KindBool { // of draft-04, beside minimum or maximum
			if v.Text == "true" {
				k.exclusive = append(k.exclusive, key[len("exclusive"):])
			}
			return
		}
		if !k.is(v.Kind == rawjson.KindNumber && checkNumber(v.Text) == nil && (key != "multipleOf" || numberOf(v.Text).Sign() > 0)) {
			return
		}
		if limit := "M" + key[1:]; slices.Contains(k.exclusive, limit) {
			key = "exclusive" + limit
		}
		n.bounds = append(n.bounds, bound{key, numberOf(v.Text)})
	case "minLength":
		k.count(v, &n.length.least)
	case "maxLength":
		k.count(v, &n.length.most)
	case "minItems":
		k.count(v, &n.count.least)
	case "maxItems":
		k.count(v, &n.count.most)
	case "minProperties":
		k.count(v, &n.members.least)
	case "maxProperties":
		k.count(v, &n.members.most)
	case "minContains":
		k.count(v, &n.matching.least)
	case "maxContains":
		k.count(v, &n.matching.most)
	case "uniqueItems":
		n.unique = k.is(v.Kind == rawjson.KindBool) && v.Text == "true"
	case "pattern":
		if k.is(v.Kind == rawjson.KindString) {
			n.pattern = k.matcher(v.Text)
		}
	case "items":
		if v.Kind != rawjson.KindArray {
			n.items = k.node(v)
			return
		}
		n.prefix, n.items = k.list(v), k.extra
	case "additionalItems":
		k.extra = k.node(v)
	case "prefixItems":
		n.prefix = k.list(v)
	case "required":
		n.required = append(n.required, texts(v)...)
	case "properties":
		n.properties = k.members(v)
		for i := range v.Members {
			m := &v.Members[i]
			if r := m.Value.Member("required"); r != nil && r.Kind == rawjson.KindBool && r.Text == "true" && !slices.Contains(n.required, m.Name) {
				n.required = append(n.required, m.Name) // draft-03
			}
		}
	case "additionalProperties":
		n.additional = k.node(v)
	case "allOf":
		n.allOf = k.list(v)
	case "anyOf":
		if all := k.list(v); all != nil {
			n.anyOf = append(n.anyOf, all)
		}
	case "oneOf":
		n.oneOf = k.list(v)
	case "not":
		n.not = k.part(v)
	case "if":
		n.cond = k.part(v)
	case "then":
		n.then = k.part(v)
	case "else":
		n.otherwise = k.part(v)
	case "contains":
		n.contains = k.part(v)
	case "propertyNames":
		n.names = k.node(v)
	case "patternProperties":
		for name, sub := range k.members(v) {
			if pattern := k.matcher(name); pattern != nil {
				n.patterns = append(n.patterns, patternProperty{pattern, sub})
			} else {
				k.anyName = true
			}
		}
	case "dependencies", "dependentRequired", "dependentSchemas":
		for i := range v.Members {
			m := &v.Members[i]
			d := dependency{name: m.Name}
			if m.Value.Kind == rawjson.KindArray {
				d.required = texts(&m.Value)
			} else {
				d.node = k.node(&m.Value)
			}
			n.dependencies = append(n.dependencies, d)
		}
	}
}

// is leaves to the page what a keyword asks for that is not as it must be: see node.loose.
func (k *keywords) is(ok bool) bool {
	k.n.loose = k.n.loose || !ok
	return ok
}

// part returns the node of a schema that is a keyword's value; nil if it is none.
func (k *keywords) part(v *rawjson.Value) *node {
	if !k.is(v.Kind == rawjson.KindObject || v.Kind == rawjson.KindBool) {
		return nil
	}
	return k.node(v)
}

func texts(v *rawjson.Value) (all []string) {
	for i := range v.Elements {
		if e := &v.Elements[i]; e.Kind == rawjson.KindString {
			all = append(all, e.Text)
		}
	}
	return all
}

// count reads a keyword that is a count; one that no value reaches if it is larger than an int.
func (k *keywords) count(v *rawjson.Value, to *int) {
	if !k.is(v.Kind == rawjson.KindNumber && checkNumber(v.Text) == nil) {
		return
	}
	n := numberOf(v.Text)
	switch {
	case !k.is(n.IsInt() && n.Sign() >= 0):
	case n.Num().IsInt64():
		*to = int(n.Num().Int64())
	default:
		*to = math.MaxInt
	}
}

// typesIn returns the types that the keyword type names; 0 if it does not.
func typesIn(v *rawjson.Value) (all typeSet) {
	names := []string{v.Text}
	if v.Kind == rawjson.KindArray {
		names = texts(v)
	}
	for _, name := range names {
		one := typeNamed(name)
		if one == 0 {
			return 0
		}
		all |= one
	}
	return all
}

// matcher returns the matcher of a pattern, nil if the page has to match it.
func (k *keywords) matcher(pattern string) *lazyPattern {
	size := programOf(pattern)
	if k.programs+size > maxPrograms || size > maxProgram {
		k.n.loose = true
		return nil
	}
	k.programs += size
	return newPattern(pattern)
}

// list returns the nodes of a keyword that is an array of schemas.
func (k *keywords) list(v *rawjson.Value) []*node {
	if !k.is(len(v.Elements) > 0) {
		return nil
	}
	all := make([]*node, len(v.Elements))
	for i := range v.Elements {
		all[i] = k.node(&v.Elements[i])
	}
	return all
}

// members returns the nodes of a keyword that is an object of schemas.
func (k *keywords) members(v *rawjson.Value) map[string]*node {
	all := make(map[string]*node, len(v.Members))
	for i := range v.Members {
		m := &v.Members[i]
		all[m.Name] = k.node(&m.Value)
	}
	return all
}

// cutLoops takes away the references that lead schemas back to themselves for the same value,
// whose check would never end.
func (c *compiler) cutLoops() {
	done := map[*node]bool{} // false while what it leads to is looked at
	var loops func(n *node) bool
	loops = func(n *node) (found bool) {
		if done, seen := done[n]; seen {
			return !done
		}
		done[n] = false
		n.refs = slices.DeleteFunc(n.refs, func(to *node) bool {
			cut := loops(to)
			n.loose = n.loose || cut
			return cut
		})
		n.parts(func(sub *node, same bool) {
			found = same && sub != nil && loops(sub) || found
		})
		done[n] = true
		return found
	}
	for _, n := range c.nodes {
		loops(n)
	}
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
