package schema

import (
	"encoding/json"
	"math"
	"slices"
	"unsafe"

	"tabhub/hub/offer/keyword"
	"tabhub/spec/rawjson"
)

const (
	maxObjects  = 1000      // in a schema, which bounds its parts and references
	maxPrograms = 16 * 4096 // instructions of all patterns of a schema
	maxFind     = 4 << 20   // bytes that are read to follow the references of a schema
)

// compiler makes nodes of one schema.
type compiler struct {
	root     json.RawMessage
	nodes    map[*byte]*node // by where their text begins, bare ones apart
	pending  []reference
	programs int // instructions of all patterns
	values   int // decoded values, and members of maps
	find     int // bytes that may still be read to follow references
}

// reference is a reference that is not yet resolved.
type reference struct {
	from *node
	path []string
}

// newSchema compiles a schema. A keyword that is not as it must be checks nothing: package listed
// tells the page's author.
func newSchema(raw json.RawMessage) *Schema {
	c := &compiler{root: raw, nodes: map[*byte]*node{}, find: maxFind}
	root := c.node(raw)
	for len(c.pending) > 0 {
		r := c.pending[0]
		c.pending = c.pending[1:]
		c.find -= len(raw)
		if to := keyword.Find(raw, r.path); to != nil && c.find > 0 {
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

// size is how many bytes the nodes take, and the text that they share.
func (c *compiler) size() int {
	return len(c.root) + len(c.nodes)*nodeSize + c.values*memberSize + c.programs*programSize
}

// node returns the node of a schema.
func (c *compiler) node(v json.RawMessage) *node {
	switch v[0] {
	case 't':
		return bare(0)
	case 'f':
		return nothing
	case '{':
	default:
		return unknown
	}
	if n := c.nodes[&v[0]]; n != nil {
		return n
	}
	f, _ := keyword.FieldsOf(v)
	if types, ok := f.OnlyTypes(); ok {
		return bare(types)
	}
	n := new(*bare(0))
	c.nodes[&v[0]] = n
	f = slices.DeleteFunc(f, func(m keyword.Field) bool {
		wrong := keyword.All[m.Key].Form.Wrong(m.Value) != ""
		if m.Key == "required" && (m.Value[0] == 't' || m.Value[0] == 'f') { // of draft-03, for the schema around this one
			return true
		}
		n.loose = n.loose || wrong
		return wrong
	})
	f.Modernize()
	for _, m := range f {
		c.take(n, m.Key, m.Value)
	}
	if n.anyName {
		n.additional = nil // which members are additional is not known here
	}
	return n
}

// Where a node has what a keyword asks for.
var (
	counts = map[string]func(*node) *int{
		"minLength": func(n *node) *int { return &n.length.least }, "maxLength": func(n *node) *int { return &n.length.most },
		"minItems": func(n *node) *int { return &n.count.least }, "maxItems": func(n *node) *int { return &n.count.most },
		"minContains": func(n *node) *int { return &n.matching.least }, "maxContains": func(n *node) *int { return &n.matching.most },
		"minProperties": func(n *node) *int { return &n.members.least }, "maxProperties": func(n *node) *int { return &n.members.most },
	}
	parts = map[string]func(*node) **node{
		"items": func(n *node) **node { return &n.items }, "contains": func(n *node) **node { return &n.contains },
		"additionalProperties": func(n *node) **node { return &n.additional }, "propertyNames": func(n *node) **node { return &n.names },
		"not": func(n *node) **node { return &n.not }, "if": func(n *node) **node { return &n.cond },
		"then": func(n *node) **node { return &n.then }, "else": func(n *node) **node { return &n.otherwise },
	}
)

// take reads one keyword of 2020-12, whose value is of its form.
func (c *compiler) take(n *node, key string, v json.RawMessage) {
	if count, ok := counts[key]; ok {
		*count(n) = countOf(string(v))
		return
	}
	if part, ok := parts[key]; ok {
		*part(n) = c.node(v)
		return
	}
	switch key {
	case "$ref":
		ref, _ := rawjson.String(v)
		path, _ := keyword.Path(ref)
		c.pending = append(c.pending, reference{n, path})
	case "$dynamicRef", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties":
		n.loose = true
	case "type":
		n.types, _ = keyword.TypesOf(v)
	case "const":
		c.valuesOf(n, keyword.ArrayOf(v))
	case "enum":
		c.valuesOf(n, v)
	case "exclusiveMinimum", "exclusiveMaximum", "minimum", "maximum", "multipleOf":
		n.bounds = append(n.bounds, bound{key, keyword.Rat(string(v))})
	case "uniqueItems":
		n.unique = v[0] == 't'
	case "pattern":
		s, _ := rawjson.String(v)
		n.pattern = c.pattern(n, s)
	case "prefixItems":
		n.prefix = c.list(v)
	case "required":
		n.required = keyword.Strings(v)
	case "properties":
		n.properties = map[string]*node{}
		for name, v := range rawjson.Members(v) {
			c.values++
			n.properties[name] = c.node(v)
		}
	case "allOf":
		n.allOf = c.list(v)
	case "anyOf":
		n.anyOf = append(n.anyOf, c.list(v))
	case "oneOf":
		n.oneOf = c.list(v)
	case "patternProperties":
		for name, v := range rawjson.Members(v) {
			if pattern := c.pattern(n, name); pattern != nil {
				n.patterns = append(n.patterns, patternProperty{pattern, c.node(v)})
			} else {
				n.anyName = true
			}
		}
	case "dependentRequired":
		for name, v := range rawjson.Members(v) {
			n.dependencies = append(n.dependencies, dependency{name: name, required: keyword.Strings(v)})
		}
	case "dependentSchemas":
		for name, v := range rawjson.Members(v) {
			n.dependencies = append(n.dependencies, dependency{name: name, node: c.node(v)})
		}
	}
}

// countOf returns a count; one that no value reaches if it is larger than an int.
func countOf(text string) int {
	if n := keyword.Rat(text).Num(); n.IsInt64() {
		return int(n.Int64())
	}
	return math.MaxInt
}

// valuesOf adds the values of an array as those of which the value is one.
func (c *compiler) valuesOf(n *node, array json.RawMessage) {
	v, err := rawjson.Decode(array)
	if err == nil {
		err = measure(&v)
	}
	if err != nil {
		n.loose = true
		return
	}
	values(&v, func(*rawjson.Value) { c.values++ })
	n.values = append(n.values, v.Elements)
}

// pattern returns a pattern, nil if the page has to match it.
func (c *compiler) pattern(n *node, written string) *keyword.Pattern {
	p := keyword.NewPattern(written)
	if p == nil || c.programs+p.Size > maxPrograms {
		n.loose = true
		return nil
	}
	c.programs += p.Size
	return p
}

// list returns the nodes of an array of schemas.
func (c *compiler) list(v json.RawMessage) (all []*node) {
	for e := range rawjson.Elements(v) {
		all = append(all, c.node(e))
	}
	return all
}

// cutLoops removes the references that lead schemas back to themselves for the same value,
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

// settle finds which nodes are loose, as all that need a loose one are, and leaves to the page what
// cannot be decided of them.
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
