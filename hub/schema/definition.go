package schema

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// definition reads the keywords of one schema.
type definition struct {
	c  *compiler
	s  map[string]any
	at string
}

func (d definition) values(n *node) {
	switch t := d.s["type"].(type) {
	case string:
		n.types = typeNames[t]
	case []any:
		for _, name := range t {
			s, _ := name.(string)
			n.types |= typeNames[s]
		}
	}
	n.enum, _ = d.s["enum"].([]any)
	if v, ok := d.s["const"]; ok && d.c.draft >= draft06 {
		n.constant = &v
	}
	n.minimum, n.maximum = d.number("minimum"), d.number("maximum")
	n.above, n.below = d.number("exclusiveMinimum"), d.number("exclusiveMaximum")
	if d.s["exclusiveMinimum"] == true { // draft-04
		n.minimum, n.above = nil, n.minimum
	}
	if d.s["exclusiveMaximum"] == true {
		n.maximum, n.below = nil, n.maximum
	}
	n.multipleOf = d.number("multipleOf")
}

func (d definition) strings(n *node) {
	n.minLength, n.maxLength = d.size("minLength"), d.size("maxLength")
	if p, ok := d.s["pattern"].(string); ok {
		n.pattern = d.compilePattern(p)
	}
}

func (d definition) arrays(n *node) {
	n.minItems, n.maxItems = d.size("minItems"), d.size("maxItems")
	n.unique = d.s["uniqueItems"] == true
	_, tuple := d.s["items"].([]any)
	switch {
	case d.c.draft >= draft2020:
		n.prefix, n.items = d.list("prefixItems"), d.schema("items")
	case tuple:
		n.prefix, n.items = d.list("items"), d.schema("additionalItems")
	default:
		n.items = d.schema("items")
	}
	if d.c.draft >= draft06 {
		n.contains = d.schema("contains")
	}
	if d.c.draft >= draft2019 {
		n.minContains, n.maxContains = d.size("minContains"), d.size("maxContains")
		n.unevaluatedItems = d.schema("unevaluatedItems")
	}
	n.containsEvaluates = d.c.draft >= draft2020
}

func (d definition) objects(n *node) {
	n.minProperties, n.maxProperties = d.size("minProperties"), d.size("maxProperties")
	n.required = texts(d.s["required"])
	n.properties = d.members("properties")
	for pattern, sub := range d.members("patternProperties") {
		if n.patternProperties == nil {
			n.patternProperties = map[*lazyPattern]*node{}
		}
		n.patternProperties[d.compilePattern(pattern)] = sub
	}
	n.additional = d.schema("additionalProperties")
	dependencies, _ := d.s["dependencies"].(map[string]any)
	for name, v := range dependencies {
		if _, ok := v.([]any); ok {
			n.dependencies = append(n.dependencies, dependency{name: name, required: texts(v)})
		} else {
			n.dependencies = append(n.dependencies, dependency{name: name, schema: d.c.node(v, d.at+"/dependencies/"+escape(name))})
		}
	}
	if d.c.draft >= draft06 {
		n.names = d.schema("propertyNames")
	}
	if d.c.draft >= draft2019 {
		n.unevaluatedProperties = d.schema("unevaluatedProperties")
		for name, sub := range d.members("dependentSchemas") {
			n.dependencies = append(n.dependencies, dependency{name: name, schema: sub})
		}
		required, _ := d.s["dependentRequired"].(map[string]any)
		for name, v := range required {
			n.dependencies = append(n.dependencies, dependency{name: name, required: texts(v)})
		}
	}
}

// schema returns the node of a keyword that is a schema, nil if it is not there.
func (d definition) schema(key string) *node {
	v, ok := d.s[key]
	if !ok {
		return nil
	}
	return d.c.node(v, d.at+"/"+key)
}

// list is schema for a keyword that is an array of schemas.
func (d definition) list(key string) []*node {
	list, _ := d.s[key].([]any)
	var all []*node
	for i, v := range list {
		all = append(all, d.c.node(v, d.at+"/"+key+"/"+strconv.Itoa(i)))
	}
	return all
}

// members is schema for a keyword that is an object of schemas.
func (d definition) members(key string) map[string]*node {
	m, _ := d.s[key].(map[string]any)
	if m == nil {
		return nil
	}
	all := make(map[string]*node, len(m))
	for name, v := range m {
		all[name] = d.c.node(v, d.at+"/"+key+"/"+escape(name))
	}
	return all
}

func (d definition) number(key string) *big.Rat {
	if n, ok := d.s[key].(json.Number); ok {
		return rational(n)
	}
	return nil
}

// size returns a count; one that no value reaches if it is larger than an int.
func (d definition) size(key string) *int {
	r := d.number(key)
	switch {
	case r == nil:
		return nil
	case !r.Num().IsInt64():
		return new(math.MaxInt)
	}
	return new(int(r.Num().Int64()))
}

func (d definition) compilePattern(pattern string) *lazyPattern {
	p, err := d.c.pattern(pattern)
	if err != nil && d.c.err == nil {
		d.c.err = err
	}
	return p
}

// texts returns the strings of an array.
func texts(v any) []string {
	list, _ := v.([]any)
	var all []string
	for _, e := range list {
		s, _ := e.(string)
		all = append(all, s)
	}
	return all
}

// escape returns a token of a JSON pointer.
func escape(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}
