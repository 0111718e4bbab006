package schema

import (
	"strings"

	"tabhub/spec/rawjson"
)

// since is the draft that has brought a keyword, for those that came after draft-04.
var since = map[string]draft{
	"const": draft06, "contains": draft06, "propertyNames": draft06, "if": draft07, "then": draft07, "else": draft07,
	"minContains": draft2019, "maxContains": draft2019, "unevaluatedItems": draft2019, "unevaluatedProperties": draft2019,
	"dependentSchemas": draft2019, "dependentRequired": draft2019, "prefixItems": draft2020,
}

// keywords reads the keywords of one schema, in the order of their names.
type keywords struct {
	*compiler
	v     *rawjson.Value
	n     *node
	id    string // what the schema calls itself, with which "#" would mean another place
	ref   bool   // has a $ref
	extra *node  // additionalItems
}

// take reads one keyword. One that the draft does not know is compiled too, since
// references may lead there, but into a node that nobody keeps.
func (k *keywords) take(key string, v *rawjson.Value) {
	n := k.n
	if k.draft < since[key] {
		k.n = new(bare[0])
	}
	k.annotation(key, v)
	k.name(key, v)
	k.scalar(key, v)
	k.array(key, v)
	k.object(key, v)
	k.combination(key, v)
	n.loose = n.loose || k.n.loose
	k.n = n
}

// annotation takes keywords that decide nothing.
func (k *keywords) annotation(key string, v *rawjson.Value) {
	switch key {
	case "title", "description", "format", "$comment", "contentEncoding", "contentMediaType":
		k.expect(v.Kind == rawjson.KindString)
	case "deprecated", "readOnly", "writeOnly":
		k.expect(v.Kind == rawjson.KindBool)
	case "$vocabulary", "$recursiveAnchor":
		k.expect(false)
	case "$defs", "definitions":
		loose := k.n.loose
		k.members(v)
		k.n.loose = loose // what refers to them counts
	case "contentSchema":
		k.schema(v)
	}
}

// name takes names and references.
func (k *keywords) name(key string, v *rawjson.Value) {
	switch key {
	case "$ref", "$dynamicRef", "$recursiveRef":
		if k.expect(v.Kind == rawjson.KindString); v.Kind == rawjson.KindString {
			k.n.loose = true
			k.ref = k.ref || key == "$ref"
			k.refer(k.n, key, v.Text)
		}
	case "$id", "id":
		k.expect(v.Kind == rawjson.KindString)
		name, named := strings.CutPrefix(v.Text, "#")
		switch {
		case key == "id" && k.draft > draft04:
		case !named:
			k.id = v.Text
		case k.draft >= draft2019:
			k.expect(false)
		case key == "id" || k.draft > draft04:
			k.anchors = append(k.anchors, anchor{name, k.v})
		}
	case "$anchor", "$dynamicAnchor":
		k.expect(false)
		if k.draft >= draft2020 || k.draft == draft2019 && key == "$anchor" {
			k.anchors = append(k.anchors, anchor{v.Text, k.v})
		}
	}
}

// scalar takes what any value is, and numbers and strings.
func (k *keywords) scalar(key string, v *rawjson.Value) {
	n := k.n
	switch key {
	case "type":
		n.types = k.types(v)
	case "const":
		n.values = append(n.values, []rawjson.Value{*v})
	case "enum":
		if k.expect(v.Kind == rawjson.KindArray); k.draft <= draft07 {
			_, _, twice := duplicates(v.Elements)
			k.expect(len(v.Elements) > 0 && !twice)
		}
		if v.Kind == rawjson.KindArray {
			n.values = append(n.values, v.Elements)
		}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		// Those of draft-04 are no numbers.
		k.expect(v.Kind == rawjson.KindNumber && (k.draft > draft04 || key[0] != 'e'))
		if v.Kind == rawjson.KindNumber {
			value := numberOf(v.Text)
			k.expect(key != "multipleOf" || value.compare(number{}) > 0)
			n.bounds = append(n.bounds, bound{key, value})
		}
	case "minLength":
		n.length.least = k.size(v, 0)
	case "maxLength":
		n.length.most = k.size(v, -1)
	case "pattern":
		if k.expect(v.Kind == rawjson.KindString); v.Kind == rawjson.KindString {
			n.pattern = k.matcher(v.Text)
			n.loose = n.loose || n.pattern == nil
		}
	}
}

func (k *keywords) array(key string, v *rawjson.Value) {
	n := k.n
	switch key {
	case "minItems":
		n.count.least = k.size(v, 0)
	case "maxItems":
		n.count.most = k.size(v, -1)
	case "uniqueItems":
		k.expect(v.Kind == rawjson.KindBool)
		n.unique = v.Kind == rawjson.KindBool && v.Text == "true"
	case "items":
		switch {
		case v.Kind != rawjson.KindArray:
			n.items = k.schema(v)
		case k.draft >= draft2020:
			k.expect(false)
		default:
			n.prefix, n.items = k.list(v), k.extra
		}
	case "additionalItems":
		k.extra = k.schema(v)
	case "prefixItems":
		n.prefix = k.list(v)
	case "contains":
		n.contains, n.containsEvaluates = k.schema(v), k.draft >= draft2020
	case "minContains":
		n.matching.least = k.size(v, 1)
	case "maxContains":
		n.matching.most = k.size(v, -1)
	case "unevaluatedItems":
		n.unevaluatedItems = k.schema(v)
	}
}

func (k *keywords) object(key string, v *rawjson.Value) {
	n := k.n
	switch key {
	case "minProperties":
		n.members.least = k.size(v, 0)
	case "maxProperties":
		n.members.most = k.size(v, -1)
	case "required":
		n.required = k.texts(v)
	case "properties":
		n.properties = k.members(v)
	case "patternProperties":
		for name, sub := range k.members(v) {
			if pattern := k.matcher(name); pattern != nil {
				n.patternProperties = append(n.patternProperties, patternProperty{pattern, sub})
			} else {
				n.loose, n.additional = true, nil // which members are additional is not known
			}
		}
	case "additionalProperties":
		n.additional = k.schema(v)
	case "propertyNames":
		n.names = k.schema(v)
	case "unevaluatedProperties":
		n.unevaluatedProperties = k.schema(v)
	case "dependencies", "dependentSchemas", "dependentRequired":
		k.expect(v.Kind == rawjson.KindObject)
		for i := range v.Members {
			m := &v.Members[i]
			d := dependency{name: m.Name}
			if m.Value.Kind == rawjson.KindArray && key != "dependentSchemas" {
				d.required = k.texts(&m.Value)
			} else {
				k.expect(key != "dependentRequired")
				d.schema = k.schema(&m.Value)
			}
			n.dependencies = append(n.dependencies, d)
		}
	}
}

// combination takes what several schemas say about one value.
func (k *keywords) combination(key string, v *rawjson.Value) {
	n := k.n
	switch key {
	case "allOf":
		n.allOf = k.list(v)
	case "anyOf":
		n.anyOf = k.list(v)
	case "oneOf":
		n.oneOf = k.list(v)
	case "not":
		n.not = k.schema(v)
	case "if":
		n.cond = k.schema(v)
	case "then":
		n.then = k.schema(v)
	case "else":
		n.otherwise = k.schema(v)
	}
}

// settle does what takes all keywords.
func (k *keywords) settle() {
	n := k.n
	if k.ref && k.draft < draft2019 {
		*n = bare[0] // the reference stands for all of the schema
		n.loose = true
		return
	}
	for i, b := range n.bounds { // draft-04
		exclusive := "exclusiveM" + strings.TrimPrefix(b.keyword, "m")
		if v := k.v.Member(exclusive); b.keyword != "multipleOf" && v != nil && v.Text == "true" {
			n.bounds[i].keyword = exclusive
		}
	}
	if k.loosens && n.loose {
		n.loosen()
	}
}

// schema returns the node of a keyword that is a schema.
func (k *keywords) schema(v *rawjson.Value) *node {
	sub := k.node(v)
	k.n.loose = k.n.loose || sub.loose
	return sub
}

// list is schema for a keyword that is an array of schemas.
func (k *keywords) list(v *rawjson.Value) []*node {
	k.expect(len(v.Elements) > 0)
	all := make([]*node, len(v.Elements))
	for i := range v.Elements {
		all[i] = k.schema(&v.Elements[i])
	}
	return all
}

// members is schema for a keyword that is an object of schemas.
func (k *keywords) members(v *rawjson.Value) map[string]*node {
	k.expect(v.Kind == rawjson.KindObject)
	all := make(map[string]*node, len(v.Members))
	for i := range v.Members {
		m := &v.Members[i]
		all[m.Name] = k.schema(&m.Value)
	}
	return all
}
