package pagecheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"tabhub/hub/schema"
	"tabhub/spec/rawjson"
)

// Samples returns arguments made from a tool's schema: with what is required alone and, if
// there is more, with all. The same schema always makes the same. The error says what cannot
// be made; what is returned with it is of use.
func Samples(tool json.RawMessage) (all []json.RawMessage, err error) {
	if len(tool) == 0 || tool[0] != '{' {
		tool = json.RawMessage(`{}`)
	}
	compiled, err := new(schema.Cache).Compile(tool)
	if err != nil {
		return nil, err
	}
	doc, err := rawjson.Decode(tool)
	if err != nil {
		return nil, err
	}
	if doc.Member("type") == nil { // arguments are an object, whatever the schema leaves out
		doc.Members = byName(append(doc.Members, rawjson.Member{Name: "type", Value: rawjson.Value{Kind: rawjson.KindString, Text: "object"}}))
	}
	for _, full := range []bool{false, true} {
		s := sampler{root: &doc, full: full, left: maxSample}
		made, e := s.value(&doc, 0)
		if e == nil {
			if e = compiled.Check(made); e != nil {
				e = fmt.Errorf("what was made does not fit: %w", e)
			}
		}
		switch {
		case e != nil:
			err = e
		case len(all) == 0 || string(all[0]) != string(made):
			all = append(all, made)
		}
	}
	if len(all) > 0 && err != nil {
		err = fmt.Errorf("not with all parameters: %w", err)
	}
	return all, err
}

const (
	maxSample = 2000 // values in a sample
	maxDepth  = 16   // of a sample
	// maxOptional is how deep what is not required is made.
	maxOptional = 2
)

// sampler makes one value.
type sampler struct {
	root *rawjson.Value // to which references lead
	full bool           // with what is not required
	left int            // values that may still be made
}

var errLarge = errors.New("the schema asks for more than is made up here")

// value makes a value of a schema.
func (s *sampler) value(v *rawjson.Value, depth int) (json.RawMessage, error) {
	if s.left--; s.left < 0 || depth > maxDepth {
		return nil, errLarge
	}
	if v.Kind != rawjson.KindObject {
		return json.RawMessage(`"text"`), nil // true, or nothing fits
	}
	if given := s.given(v); given != nil {
		return given, nil
	}
	if ref := v.Member("$ref"); ref != nil {
		to := resolve(s.root, ref.Text)
		if to == nil {
			return nil, fmt.Errorf("the reference %q leads to nothing that can be followed", ref.Text)
		}
		return s.value(to, depth+1)
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if of := v.Member(keyword); of != nil && len(of.Elements) > 0 {
			merged := merge(v, keyword, of.Elements[:1])
			return s.value(&merged, depth+1)
		}
	}
	if of := v.Member("allOf"); of != nil {
		merged := merge(v, "allOf", of.Elements)
		return s.value(&merged, depth+1)
	}
	switch typeOf(v) {
	case "object":
		return s.object(v, depth)
	case "array":
		return s.array(v, depth)
	case "boolean":
		return json.RawMessage("true"), nil
	case "null":
		return json.RawMessage("null"), nil
	case "integer", "number":
		return number(v)
	}
	return text(v)
}

// given returns a value that the schema itself names, nil if there is none.
func (s *sampler) given(v *rawjson.Value) json.RawMessage {
	for _, keyword := range []string{"const", "default", "example"} {
		if m := v.Member(keyword); m != nil {
			return encode(m)
		}
	}
	for _, keyword := range []string{"examples", "enum"} {
		if m := v.Member(keyword); m != nil && m.Kind == rawjson.KindArray && len(m.Elements) > 0 {
			return encode(&m.Elements[0])
		}
	}
	return nil
}

// merge puts the members of other schemas into one, less a keyword: properties and required
// together, and of all else what comes last. The given ones are not changed.
func merge(v *rawjson.Value, less string, others []rawjson.Value) rawjson.Value {
	out := rawjson.Value{Kind: rawjson.KindObject}
	for _, m := range v.Members {
		if m.Name != less {
			out.Members = append(out.Members, m)
		}
	}
	for _, other := range others {
		for _, m := range other.Members {
			i := slices.IndexFunc(out.Members, func(has rawjson.Member) bool { return has.Name == m.Name })
			switch {
			case i < 0:
				out.Members = append(out.Members, m)
			case m.Name == "properties" || m.Name == "required":
				both := out.Members[i].Value
				both.Members = byName(append(slices.Clone(m.Value.Members), both.Members...))
				both.Elements = append(slices.Clone(both.Elements), m.Value.Elements...)
				out.Members[i].Value = both
			default:
				out.Members[i] = m
			}
		}
	}
	out.Members = byName(out.Members)
	return out
}

// byName sorts members as a Value has them; of several of a name the first counts.
func byName(all []rawjson.Member) []rawjson.Member {
	slices.SortStableFunc(all, func(a, b rawjson.Member) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b rawjson.Member) bool { return a.Name == b.Name })
}

// typeOf returns the type that a schema asks for, by its keywords if it does not say.
func typeOf(v *rawjson.Value) string {
	if t := v.Member("type"); t != nil {
		if t.Kind == rawjson.KindString {
			return t.Text
		}
		for _, one := range t.Elements {
			if one.Text != "null" {
				return one.Text
			}
		}
		return "null"
	}
	for _, of := range []struct {
		typ      string
		keywords []string
	}{
		{"object", []string{"properties", "required", "additionalProperties", "minProperties"}},
		{"array", []string{"items", "minItems", "prefixItems"}},
		{"number", []string{"minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"}},
	} {
		if slices.ContainsFunc(of.keywords, func(k string) bool { return v.Member(k) != nil }) {
			return of.typ
		}
	}
	return "string"
}

func (s *sampler) object(v *rawjson.Value, depth int) (json.RawMessage, error) {
	var required []string
	if m := v.Member("required"); m != nil {
		for _, e := range m.Elements {
			required = append(required, e.Text)
		}
	}
	out := json.RawMessage("{")
	made := map[string]bool{}
	add := func(name string, of *rawjson.Value) error {
		if made[name] {
			return nil
		}
		value, err := s.value(of, depth+1)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		made[name] = true
		out = rawjson.AppendMember(out, name, value)
		return nil
	}
	if properties := v.Member("properties"); properties != nil {
		for i := range properties.Members {
			m := &properties.Members[i]
			needed := slices.Contains(required, m.Name)
			if !needed && (!s.full || depth > maxOptional) || m.Value.Kind == rawjson.KindBool && m.Value.Text == "false" {
				continue
			}
			// What need not be there is left out where it cannot be made.
			if err := add(m.Name, &m.Value); err != nil && (needed || errors.Is(err, errLarge) && depth == 0) {
				return nil, err
			}
		}
	}
	other := &rawjson.Value{Kind: rawjson.KindBool, Text: "true"}
	if m := v.Member("additionalProperties"); m != nil && m.Kind == rawjson.KindObject {
		other = m
	}
	for _, name := range required {
		if err := add(name, other); err != nil {
			return nil, err
		}
	}
	least, err := count(v, "minProperties", 0)
	for i := 1; err == nil && len(made) < least; i++ {
		err = add(fmt.Sprintf("name%d", i), other)
	}
	return append(out, '}'), err
}

func (s *sampler) array(v *rawjson.Value, depth int) (json.RawMessage, error) {
	n := 0
	if s.full {
		n = 1
	}
	n, err := count(v, "minItems", n)
	if err != nil {
		return nil, err
	}
	if most := v.Member("maxItems"); most != nil && most.Text == "0" {
		n = 0
	}
	var first []rawjson.Value
	rest := v.Member("items")
	switch prefix := v.Member("prefixItems"); {
	case prefix != nil:
		first = prefix.Elements
	case rest != nil && rest.Kind == rawjson.KindArray:
		first, rest = rest.Elements, v.Member("additionalItems")
	}
	unique := v.Member("uniqueItems")
	out := json.RawMessage("[")
	for i := range n {
		of := rest
		if i < len(first) {
			of = &first[i]
		}
		if of == nil {
			of = &rawjson.Value{Kind: rawjson.KindBool, Text: "true"}
		}
		value, err := s.value(of, depth+1)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		if i > 0 && unique != nil && unique.Text == "true" {
			if value, err = another(of, value, i); err != nil {
				return nil, err
			}
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, value...)
	}
	return append(out, ']'), nil
}

// another returns the i-th of several values that must differ.
func another(of *rawjson.Value, value json.RawMessage, i int) (json.RawMessage, error) {
	if choice := of.Member("enum"); choice != nil {
		if i >= len(choice.Elements) {
			return nil, fmt.Errorf("%d different values are asked for, of %d", i+1, len(choice.Elements))
		}
		return encode(&choice.Elements[i]), nil
	}
	switch {
	case value[0] == '"':
		return json.RawMessage(fmt.Sprintf("%s%d\"", value[:len(value)-1], i+1)), nil
	case value[0] >= '0' && value[0] <= '9' && typeOf(of) == "integer":
		n, ok := new(big.Int).SetString(string(value), 10)
		if ok {
			return json.RawMessage(n.Add(n, big.NewInt(int64(i))).String()), nil
		}
	}
	return nil, errors.New("several values are asked for that differ")
}

// count returns a keyword that counts, or otherwise if that is more.
func count(v *rawjson.Value, keyword string, otherwise int) (int, error) {
	m := v.Member(keyword)
	if m == nil {
		return otherwise, nil
	}
	n, ok := new(big.Rat).SetString(m.Text)
	if !ok || !n.IsInt() || !n.Num().IsInt64() || n.Num().Int64() > maxSample {
		return 0, errLarge
	}
	return max(otherwise, int(n.Num().Int64())), nil
}

// encode writes a value as JSON.
func encode(v *rawjson.Value) json.RawMessage {
	switch v.Kind {
	case rawjson.KindObject:
		out := json.RawMessage("{")
		for i := range v.Members {
			out = rawjson.AppendMember(out, v.Members[i].Name, encode(&v.Members[i].Value))
		}
		return append(out, '}')
	case rawjson.KindArray:
		out := json.RawMessage("[")
		for i := range v.Elements {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, encode(&v.Elements[i])...)
		}
		return append(out, ']')
	case rawjson.KindString:
		return rawjson.AppendString(nil, v.Text)
	case rawjson.KindNull:
		return json.RawMessage("null")
	}
	return json.RawMessage(v.Text)
}
