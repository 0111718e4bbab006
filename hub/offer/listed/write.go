package listed

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"tabhub/describe"
	"tabhub/hub/offer/keyword"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// schema appends a schema that stands at a place, for a value of some types (0: any).
func (l *lister) schema(out []byte, v json.RawMessage, at *keyword.Place, types keyword.Types) []byte {
	switch v[0] {
	case '{':
		if name, ok := l.names[&v[0]]; ok {
			l.changed = true
			return append(out, `{"$ref":"#/$defs/`+name+`"}`...)
		}
		return l.object(out, l.fields(v), at, types)
	case 'f':
		l.changed = true
		return append(out, `{"not":{}}`...)
	case 't':
		l.changed = true
	default:
		l.wrong(at, "must be an object, true or false")
	}
	return append(out, "{}"...)
}

// object appends a schema that has these fields.
func (l *lister) object(out []byte, f keyword.Fields, at *keyword.Place, types keyword.Types) []byte {
	f = l.wellFormed(f, at)
	l.modern(&f, at)
	l.required(&f, at)
	if types = l.types(&f, at, types); types == never {
		l.changed = true
		return append(out, `{"not":{}}`...)
	}
	l.complete(&f, at, types)
	out = append(out, '{')
	for _, m := range f {
		out = l.keyword(out, m, &f, at, types)
	}
	return append(out, '}')
}

// sameValue are the keywords with schemas of the same value.
var sameValue = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"}

// keyword appends a member of a schema.
func (l *lister) keyword(out []byte, m keyword.Field, f *keyword.Fields, of *keyword.Place, types keyword.Types) []byte {
	start, lost := len(out), l.lost
	out = rawjson.AppendKey(out, m.Key)
	form := keyword.All[m.Key].Form
	var at *keyword.Place
	if form.Nests() {
		at = &keyword.Place{Parent: of, Token: m.Key}
	}
	if m.Key == "propertyNames" {
		types = keyword.String
	} else if !slices.Contains(sameValue, m.Key) {
		types = 0
	}
	switch form {
	case keyword.Schema, keyword.Items:
		if m.Key == "additionalProperties" && (m.Value[0] == 't' || m.Value[0] == 'f') {
			return append(out, m.Value...)
		}
		return l.schema(out, m.Value, at, types)
	case keyword.SchemaList:
		for i, e := range keyword.Elements(m.Value) {
			out = append(out, "[,"[min(i, 1)])
			out = l.schema(out, e, &keyword.Place{Parent: at, Token: strconv.Itoa(i)}, types)
		}
		if m.Key == "oneOf" && l.lost > lost && !f.Has("anyOf") {
			// A value that fits one of them may fit two now.
			copy(out[start:], bytes.Replace(out[start:], []byte("oneOf"), []byte("anyOf"), 1))
		}
		return append(out, ']')
	case keyword.Schemas:
		return l.members(out, m, at, types)
	case keyword.Names:
		return l.appendNames(out, m.Value)
	case keyword.NamesByName:
		var all keyword.Fields
		for _, d := range l.fields(m.Value) {
			all = append(all, keyword.Field{Key: l.alias(d.Key), Value: l.appendNames(nil, d.Value)})
		}
		return append(out, all.JSON()...)
	case keyword.Prose, keyword.Examples:
		return append(out, l.clean(rawjson.WellFormed(m.Value))...)
	case keyword.Reference:
		return append(out, l.ref(m.Value)...)
	}
	return append(out, m.Value...)
}

// members appends an object of schemas.
func (l *lister) members(out []byte, m keyword.Field, at *keyword.Place, types keyword.Types) []byte {
	out = append(out, '{')
	for _, sub := range l.fields(m.Value) {
		name := sub.Key
		if m.Key == "properties" || m.Key == "dependentSchemas" {
			name = l.alias(name)
		}
		out = rawjson.AppendKey(out, name)
		start := len(out)
		out = l.schema(out, sub.Value, &keyword.Place{Parent: at, Token: sub.Key}, types)
		if name != sub.Key && out[start] == '{' && !bytes.Contains(out[start:], []byte(`"description"`)) {
			// The page's own name says most of what there is to know.
			with := rawjson.AppendStringMember([]byte{'{'}, "description", describe.Clean(sub.Key, spec.MaxTitle))
			if len(out)-start > 2 {
				with = append(with, ',')
			}
			out = append(append(out[:start:start], with...), out[start+1:]...)
		}
	}
	return append(out, '}')
}

// clean returns what only informs without characters that cannot be seen.
func (l *lister) clean(v json.RawMessage) json.RawMessage {
	if !l.hides {
		return v
	}
	clean := describe.CleanJSON(v)
	l.changed = l.changed || !bytes.Equal(clean, v)
	return clean
}

// appendNames appends an array of names of properties, each once.
func (l *lister) appendNames(out []byte, v json.RawMessage) []byte {
	all := keyword.Strings(v)
	names := union(nil, all)
	l.changed = l.changed || len(names) < len(all)
	for i := range names {
		names[i] = l.alias(names[i])
	}
	return keyword.AppendStrings(out, names)
}

// definitions ends the schema with what it refers to.
func (l *lister) definitions(out []byte) []byte {
	if len(l.defs) == 0 {
		return out
	}
	out = append(out[:len(out)-1], `,"$defs":{`...)
	for i := 0; i < len(l.defs); i++ { // writing one may find others
		d := l.defs[i]
		out = rawjson.AppendKey(out, d.name)
		if d.v[0] == '{' {
			out = l.object(out, l.fields(d.v), d.at, 0)
		} else {
			out = l.schema(out, d.v, d.at, 0)
		}
	}
	return append(out, "}}"...)
}

// ref returns the reference by which a schema is listed to which the page refers.
func (l *lister) ref(ref json.RawMessage) json.RawMessage {
	s, _ := rawjson.String(ref)
	path, _ := keyword.Path(s)
	v := l.find(path)
	if len(path) == 0 || v == nil { // nil: too much work
		return json.RawMessage(`"#"`)
	}
	name, ok := l.names[&v[0]]
	if !ok {
		name = path[len(path)-1]
		for i := 1; !isKey(name) || slices.ContainsFunc(l.defs, func(d definition) bool { return d.name == name }); i++ {
			name = "d" + strconv.Itoa(len(l.defs)+i)
		}
		l.names[&v[0]] = name
		var at *keyword.Place
		for _, token := range path {
			at = &keyword.Place{Parent: at, Token: token}
		}
		l.defs = append(l.defs, definition{name, v, at})
	}
	listed := "#/$defs/" + name
	l.changed = l.changed || listed != s
	return rawjson.AppendString(nil, listed)
}
