package schema

import (
	"math/bits"
	"strconv"

	"tabhub/spec/rawjson"
)

// maxPlan is how many schemas a plan may consist of: it must not need more memory
// than its text.
const maxPlan = 256

// maxExtra is how many objects there may be in what is no schema: with those that
// are, a plan's schema stays within maxObjects.
const maxExtra = 400

// planner makes a plan of a schema.
type planner struct {
	nodes int
	extra int // objects in what is no schema
}

// newPlan returns the plan of a schema that is valid JSON, or false if there is more
// to it than a plan can hold. A schema that has a plan is well-formed.
func newPlan(raw []byte) (*plan, bool) {
	var b planner
	return b.schema(rawjson.Get(raw))
}

// bare are the plans of schemas that ask for types only.
var bare = func() (all [typeObject << 1]plan) {
	for i := range all {
		all[i] = plan{types: typeSet(i), maxSize: -1, maxLen: -1}
	}
	return all
}()

func (b *planner) schema(raw []byte) (*plan, bool) {
	if b.nodes++; b.nodes > maxPlan {
		return nil, false
	}
	if string(raw) == "true" {
		return &bare[0], true
	}
	if raw[0] != '{' {
		return nil, false
	}
	p := bare[0]
	var required []string
	simple := true
	for key, v := range rawjson.Members(raw) {
		ok := true
		switch key {
		case "type":
			p.types, ok = types(v)
			if !ok {
				return nil, false
			}
			continue
		case "title", "description", "format", "$comment":
			if v[0] != '"' {
				return nil, false
			}
			continue
		case "$schema":
			if d := draftOf(v); d == draft04 || d == draft06 {
				return nil, false
			}
			continue
		case "required":
			required, ok = stringList(v)
		case "enum":
			ok = b.values(&p, v)
		case "const":
			ok = b.values(&p, []byte("["+string(v)+"]"))
		default:
			ok = b.objectKeyword(&p, key, v) || b.arrayKeyword(&p, key, v) || b.sizeKeyword(&p, key, v) || b.combination(&p, key, v)
			if !ok && !keywords[key] && b.harmless(v) {
				continue
			}
		}
		if !ok {
			return nil, false
		}
		simple = false
	}
	if simple {
		return &bare[p.types], true
	}
	if !p.require(required) {
		return nil, false
	}
	return &p, true
}

// require marks the members that must be there.
func (p *plan) require(names []string) bool {
	if len(names) > 64 {
		return false
	}
	for _, name := range names {
		m, known := p.members[name]
		if !known {
			if p.closed {
				return false
			}
			m.plan = p.others
		}
		if m.bit != 0 {
			return false // named twice
		}
		m.bit = 1 << bits.OnesCount64(p.required)
		p.required |= m.bit
		if p.members == nil {
			p.members = map[string]member{}
		}
		p.members[name] = m
	}
	return true
}

func (b *planner) objectKeyword(p *plan, key string, v []byte) bool {
	var ok bool
	switch key {
	case "properties":
		if v[0] != '{' {
			return false
		}
		p.members = map[string]member{}
		for name, sub := range rawjson.Members(v) {
			m := member{}
			if m.plan, ok = b.schema(sub); !ok {
				return false
			}
			p.members[name] = m
		}
		return true
	case "additionalProperties":
		if p.closed = string(v) == "false"; p.closed {
			return true
		}
		p.others, ok = b.schema(v)
		return ok
	}
	return false
}

func (b *planner) arrayKeyword(p *plan, key string, v []byte) (ok bool) {
	switch key {
	case "items":
		p.items, ok = b.schema(v)
	case "minItems":
		p.minLen, ok = size(v)
	case "maxItems":
		p.maxLen, ok = size(v)
	}
	return ok
}

func (b *planner) sizeKeyword(p *plan, key string, v []byte) (ok bool) {
	switch key {
	case "minLength":
		p.minSize, ok = size(v)
	case "maxLength":
		p.maxSize, ok = size(v)
	case "minimum":
		ok = p.minimum.take(v, false)
	case "exclusiveMinimum":
		ok = p.minimum.take(v, true)
	case "maximum":
		ok = p.maximum.take(v, false)
	case "exclusiveMaximum":
		ok = p.maximum.take(v, true)
	}
	return ok
}

func (b *planner) combination(p *plan, key string, v []byte) (ok bool) {
	switch key {
	case "anyOf":
		p.anyOf, ok = b.schemas(v)
	case "allOf":
		p.allOf, ok = b.schemas(v)
	}
	return ok
}

func (b *planner) schemas(v []byte) ([]*plan, bool) {
	var all []*plan
	for e := range rawjson.Elements(v) {
		p, ok := b.schema(e)
		if !ok {
			return nil, false
		}
		all = append(all, p)
	}
	return all, all != nil
}

// take sets a bound; two of them in one direction are too much for a plan.
func (b *bound) take(v []byte, excluded bool) bool {
	if b.set || v[0] != '-' && (v[0] < '0' || v[0] > '9') || len(v) > 24 || checkNumber(string(v)) != nil {
		return false
	}
	b.value, b.whole = number(v)
	b.set, b.excluded = true, excluded
	return true
}

// keywords are those that decide something and that no plan holds. Whatever else
// there is decides nothing.
var keywords = func() map[string]bool {
	m := map[string]bool{}
	for _, k := range []string{
		"$ref", "$dynamicRef", "$recursiveRef", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$defs", "definitions",
		"title", "description", "format", "$comment", "$schema", "examples", "deprecated", "readOnly", "writeOnly",
		"properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties",
		"dependencies", "dependentRequired", "dependentSchemas", "unevaluatedProperties",
		"items", "prefixItems", "additionalItems", "contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems", "unevaluatedItems",
		"minLength", "maxLength", "pattern", "contentEncoding", "contentMediaType", "contentSchema",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"type", "enum", "const", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
	} {
		m[k] = true
	}
	return m
}()

func types(v []byte) (set typeSet, ok bool) {
	if v[0] != '[' {
		v = []byte("[" + string(v) + "]")
	}
	names, ok := stringList(v)
	for _, name := range names {
		one := typeNames[name]
		ok = ok && one != 0 && set&one == 0
		set |= one
	}
	return set, ok && set != 0
}

func stringList(v []byte) (all []string, ok bool) {
	if v[0] != '[' {
		return nil, false
	}
	for e := range rawjson.Elements(v) {
		s, ok := rawjson.String(e)
		if !ok {
			return nil, false
		}
		all = append(all, s)
	}
	return all, true
}

// values takes the elements of an enum but arrays and objects, the strings among
// them as most programs write them.
func (b *planner) values(p *plan, v []byte) bool {
	if v[0] != '[' || p.values != nil {
		return false
	}
	p.values = []string{}
	for e := range rawjson.Elements(v) {
		if !b.harmless(e) {
			return false
		}
		if s, ok := rawjson.String(e); ok {
			p.values = append(p.values, string(rawjson.AppendString(nil, s)))
		} else if e[0] != '[' && e[0] != '{' {
			p.values = append(p.values, string(e))
		}
	}
	return true
}

// harmless reports whether a value that is no schema is one that newFull takes.
func (b *planner) harmless(v []byte) bool {
	switch v[0] {
	case '"', 't', 'f', 'n':
		return true
	}
	if len(v) <= len("[0]") {
		return true
	}
	doc, err := rawjson.Decode(v)
	if err == nil {
		_, _, err = limits(doc, &b.extra)
	}
	return err == nil && b.extra <= maxExtra
}

func size(v []byte) (int, bool) {
	n, err := strconv.ParseUint(string(v), 10, 31)
	return int(n), err == nil
}
