package listed

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"tabhub/describe"
	"tabhub/hub/offer/keyword"
	"tabhub/spec/rawjson"
)

// wellFormed returns the keywords that are known and as they must be.
func (l *lister) wellFormed(f keyword.Fields, at *keyword.Place) keyword.Fields {
	if what := l.foreign(f, at == nil); what != "" {
		l.wrong(at, "%s", what)
	}
	return slices.DeleteFunc(f, func(m keyword.Field) bool {
		k, known := keyword.All[m.Key]
		switch {
		case !known:
			l.changed = true
			for key := range keyword.All {
				if strings.EqualFold(key, m.Key) {
					l.wrong(&keyword.Place{Parent: at, Token: m.Key}, "must be spelled %q", key)
				}
			}
			return true
		case l.output && k.InputOnly:
			l.changed = true
			l.lost++
			return true
		case m.Key == "required" && (m.Value[0] == 't' || m.Value[0] == 'f'), // of draft-03, for the schema around this one
			m.Key == "properties" && string(bytes.Join(bytes.Fields(m.Value), nil)) == "[]": // of PHP
			l.changed = true
			return true
		}
		why := l.wrongIn(m)
		if r, hidden := l.hidden(m.Value); why == "" && hidden && k.Form != keyword.Prose && k.Form != keyword.Examples && !k.Form.Nests() {
			l.wrong(&keyword.Place{Parent: at, Token: m.Key}, "holds the character %U, which cannot be seen", r)
			return true
		}
		if why != "" {
			l.wrong(&keyword.Place{Parent: at, Token: m.Key}, "%s", why)
		}
		return why != ""
	})
}

// wrongIn says what is wrong with the value of a keyword, "" if nothing is.
func (l *lister) wrongIn(m keyword.Field) string {
	form := keyword.All[m.Key].Form
	if why := form.Wrong(m.Value); why != "" || form != keyword.Reference {
		return why
	}
	switch to := l.referred(m.Value); {
	case to == nil:
		return string(m.Value) + " leads to nothing"
	case to[0] != '{' && to[0] != 't' && to[0] != 'f':
		return "leads to what is no schema"
	case l.circular(to):
		return "leads back to itself without going into a member"
	}
	return ""
}

// circular reports whether a schema refers to itself for the same value.
func (l *lister) circular(v json.RawMessage) bool {
	if loops, seen := l.loops[&v[0]]; seen {
		return loops
	}
	l.loops[&v[0]] = true // until it is known that it does not
	loops := false
	visit := func(v json.RawMessage) { loops = loops || len(v) > 0 && v[0] == '{' && l.circular(v) }
	for _, m := range l.fields(v) {
		switch form := keyword.All[m.Key].Form; {
		case form == keyword.Reference:
			visit(l.referred(m.Value))
		case form == keyword.Dependencies, m.Key == "dependentSchemas":
			for _, v := range rawjson.Members(m.Value) {
				visit(v)
			}
		case !slices.Contains(sameValue, m.Key):
		case form == keyword.SchemaList:
			for e := range rawjson.Elements(m.Value) {
				visit(e)
			}
		default:
			visit(m.Value)
		}
	}
	l.loops[&v[0]] = loops
	return loops
}

// hidden returns a character of a value that cannot be seen, if there is one.
func (l *lister) hidden(v json.RawMessage) (r rune, found bool) {
	if !l.hides {
		return 0, false
	}
	switch v[0] {
	case '"':
		s, _ := rawjson.String(v)
		return describe.Forbidden(s)
	case '[':
		for e := range rawjson.Elements(v) {
			if r, found = l.hidden(e); found {
				return r, true
			}
		}
	case '{':
		for key, v := range rawjson.Members(v) {
			if r, found = describe.Forbidden(key); !found {
				r, found = l.hidden(v)
			}
			if found {
				return r, true
			}
		}
	}
	return 0, false
}

const schema2020 = `"https://json-schema.org/draft/2020-12/schema"`

// modern makes what a schema has of other drafts into what 2020-12 has for it.
func (l *lister) modern(f *keyword.Fields, at *keyword.Place) {
	if s := f.Get("$schema"); at != nil || string(s) != schema2020 {
		l.drop(f, "$schema")
	}
	if at == nil {
		l.rootDefs = f.Get("$defs")
		f.Drop("$defs")
	}
	// What is referred to is written at the end.
	l.drop(f, "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$defs", "definitions")
	if f.Drop("$dynamicRef", "$recursiveRef") {
		l.wrong(at, "dynamic references are not followed")
	}
	l.changed = f.Modernize() || l.changed
	l.tuple(f, at)
	if v := f.Get("nullable"); v != nil {
		if types, _ := keyword.TypesOf(orNull(f.Get("type"))); v[0] == 't' && types != 0 {
			f.Set("type", (types | keyword.Null).JSON())
		}
		l.drop(f, "nullable")
	}
}

func orNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return v
}

// tuple makes arrays whose first items have schemas of their own, in which drafts differ, into
// arrays of just those, or into arrays of any of them.
func (l *lister) tuple(f *keyword.Fields, at *keyword.Place) {
	first, rest := keyword.Elements(f.Get("prefixItems")), f.Get("items")
	if l.output && first != nil {
		l.lost++
		l.drop(f, "prefixItems", "items")
		return
	}
	if rest != nil && rest[0] == 'f' {
		l.drop(f, "items")
		if first == nil {
			f.Set("maxItems", json.RawMessage("0"))
		}
	}
	if first == nil {
		return
	}
	n := strconv.Itoa(len(first))
	is := func(key string) bool { return f.Get(key) == nil || string(f.Get(key)) == n }
	if (rest == nil || rest[0] != '{' || len(l.fields(rest)) == 0) && is("minItems") && is("maxItems") {
		if !f.Has("minItems") || !f.Has("maxItems") {
			l.change(at, "is listed with just %s items", n)
		}
		f.Set("minItems", json.RawMessage(n))
		f.Set("maxItems", json.RawMessage(n))
		return
	}
	l.change(at, "is listed as an array of any of its items, in any order")
	f.Drop("prefixItems")
	most, err := strconv.Atoi(string(f.Get("maxItems")))
	switch {
	case rest != nil && rest[0] == '{':
		first = append(first, rest)
	case (rest == nil || rest[0] == 't') && (err != nil || most > len(first)):
		f.Drop("items")
		return
	}
	f.Set("items", oneKeyword("anyOf", first...))
}

// oneKeyword returns a schema with one keyword, an array of schemas.
func oneKeyword(key string, all ...json.RawMessage) json.RawMessage {
	return keyword.Fields{{Key: key, Value: keyword.ArrayOf(all...)}}.JSON()
}

// required makes a schema know of each property that it requires, as validators that are strict want
// it, and forget those that cannot be listed.
func (l *lister) required(f *keyword.Fields, at *keyword.Place) {
	unlisted := func(name string) bool { return strings.ContainsRune(name, '\uFFFD') || l.output && !isKey(name) }
	properties := l.fields(f.Get("properties"))
	had := len(properties)
	properties = slices.DeleteFunc(properties, func(p keyword.Field) bool {
		if unlisted(p.Key) {
			if l.lost++; !l.output {
				l.wrong(at, "%s cannot be the name of a property", keyword.Quoted(p.Key))
			}
			f.Drop("additionalProperties")
		}
		return unlisted(p.Key)
	})
	changed := len(properties) < had
	names := keyword.Strings(f.Get("required"))
	had = len(names)
	names = slices.DeleteFunc(names, unlisted)
	for _, name := range names {
		if !properties.Has(name) {
			properties, changed = append(properties, keyword.Field{Key: name, Value: json.RawMessage("{}")}), true
		}
	}
	if len(names) < had {
		l.drop(f, "required")
		if len(names) > 0 {
			f.Set("required", keyword.AppendStrings(nil, names))
		}
	}
	if changed {
		l.changed = true
		f.Set("properties", properties.JSON())
	}
}
