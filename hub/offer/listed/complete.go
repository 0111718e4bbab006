package listed

import (
	"cmp"
	"encoding/json"
	"slices"

	"tabhub/hub/offer/keyword"
	"tabhub/spec/rawjson"
)

// never is what types returns of a schema that no value fits.
const never keyword.Types = 1 << 7

// types gives a schema the type that its keywords are about, if it names none, and takes away
// the keywords that are about others; several types become alternatives. It returns the
// types that a value of the schema can have. context are those that the value has anyway.
func (l *lister) types(f *keyword.Fields, at *keyword.Place, context keyword.Types) keyword.Types {
	types := context
	if v := f.Get("type"); v != nil {
		types, _ = keyword.TypesOf(v)
		if context != 0 {
			if types &= context; types == 0 {
				return never
			}
		}
		if want := types.JSON(); string(want) != string(v) && !sameNames(v, types) {
			if _, ok := rawjson.String(v); ok {
				l.change(&keyword.Place{Parent: at, Token: "type"}, "%s is listed as %s", v, want)
			}
			l.changed = true
			f.Set("type", want)
		}
	}
	if types == 0 && !l.output {
		for _, t := range [...]keyword.Types{keyword.Object, keyword.Array, keyword.String, keyword.Number} {
			if slices.ContainsFunc(*f, func(m keyword.Field) bool { return keyword.All[m.Key].Types&t != 0 }) {
				l.changed = true
				types = t
				f.Set("type", types.JSON())
				break
			}
		}
	}
	applies := func(key string, types keyword.Types) bool {
		about := keyword.All[key].Types
		return about == 0 || about&types != 0
	}
	*f = slices.DeleteFunc(*f, func(m keyword.Field) bool {
		ok := applies(m.Key, types)
		l.changed = l.changed || !ok
		return !ok
	})
	if len((types&^keyword.Null).Names()) <= 1 || !f.Has("type") {
		return types
	}
	// Validators that are strict know no union of types.
	l.changed = true
	var branches []json.RawMessage
	for _, name := range types.Names() {
		branch := keyword.Fields{{Key: "type", Value: rawjson.AppendString(nil, name)}}
		for _, m := range *f {
			if keyword.All[m.Key].Types != 0 && applies(m.Key, keyword.Named(name)) {
				branch = append(branch, m)
			}
		}
		branches = append(branches, branch.JSON())
	}
	*f = slices.DeleteFunc(*f, func(m keyword.Field) bool { return m.Key == "type" || keyword.All[m.Key].Types != 0 })
	if !f.Has("anyOf") {
		f.Set("anyOf", keyword.ArrayOf(branches...))
		return 0
	}
	all := append(keyword.Elements(f.Get("allOf")), oneKeyword("anyOf", branches...))
	f.Set("allOf", keyword.ArrayOf(all...))
	return 0
}

// sameNames reports whether the keyword type is an array of just these types.
func sameNames(v json.RawMessage, types keyword.Types) bool {
	names, want := keyword.Strings(v), types.Names()
	slices.Sort(names)
	slices.Sort(want)
	return len(want) > 1 && slices.Equal(names, want)
}

// complete gives a schema what model APIs want it to have, and takes away what has no effect,
// which strict validators refuse.
func (l *lister) complete(f *keyword.Fields, at *keyword.Place, types keyword.Types) {
	add := func(key, v string) {
		l.changed = true
		f.Set(key, json.RawMessage(v))
	}
	if f.Has("type") && types&keyword.Object != 0 && !f.Has("properties") {
		add("properties", "{}")
	}
	if f.Has("type") && types&keyword.Array != 0 && !f.Has("items") {
		add("items", "{}")
	}
	for _, key := range [...]string{"not", "if"} {
		if v := f.Get(key); v != nil && l.losesIn(v, at, types) {
			l.drop(f, key) // what excludes less would exclude more
		}
	}
	if !f.Has("if") {
		l.drop(f, "then", "else")
	} else if !f.Has("then") && !f.Has("else") {
		l.drop(f, "if")
	}
	least, most := cmp.Or(string(f.Get("minContains")), "1"), string(f.Get("maxContains"))
	if !f.Has("contains") || most == "" && least == "0" || most != "" && keyword.Rat(least).Cmp(keyword.Rat(most)) > 0 {
		l.drop(f, "contains", "minContains", "maxContains")
	}
	if v := f.Get("unevaluatedProperties"); v != nil && v[0] == 't' {
		l.drop(f, "unevaluatedProperties")
	}
	if v := f.Get("multipleOf"); l.output && v != nil && !keyword.Rat(string(v)).IsInt() {
		l.drop(f, "multipleOf") // clients reckon in binary
	}
	if s, ok := rawjson.String(orNull(f.Get("pattern"))); ok && !keyword.NewPattern(s).InJavaScript() {
		l.lost++
		l.drop(f, "pattern")
		l.describe(f, "pattern: "+keyword.Cut(s))
	}
	if s, ok := rawjson.String(orNull(f.Get("format"))); ok && !slices.Contains(formats, s) {
		l.drop(f, "format")
		l.describe(f, "format: "+keyword.Cut(s))
	}
	if v := f.Get("patternProperties"); v != nil {
		l.patterns(f, v)
	}
	if f.Has("propertyNames") {
		for _, p := range l.fields(f.Get("properties")) {
			if !isKey(p.Key) {
				l.drop(f, "propertyNames") // which the alias may not fit
				l.lost++
				break
			}
		}
	}
}

// losesIn reports whether a schema loses a check when it is listed.
func (l *lister) losesIn(v json.RawMessage, at *keyword.Place, types keyword.Types) bool {
	loses, known := l.loses[&v[0]]
	if !known {
		lost := l.lost
		l.schema(nil, v, at, types)
		loses = l.lost > lost
		l.loses[&v[0]] = loses
	}
	return loses
}

// formats are those that validators know.
var formats = []string{
	"date", "time", "date-time", "duration", "uri", "uri-reference", "uri-template", "email", "hostname", "ipv4", "ipv6", "regex", "uuid",
	"json-pointer", "relative-json-pointer",
}

// describe adds to the description of a schema what it cannot say otherwise.
func (l *lister) describe(f *keyword.Fields, text string) {
	said, _ := rawjson.String(orNull(f.Get("description")))
	if said != "" {
		said += " "
	}
	f.Set("description", rawjson.AppendString(nil, said+"("+text+")"))
}

// patterns keeps those patterns of names that clients can match and that match no property,
// which strict validators refuse.
func (l *lister) patterns(f *keyword.Fields, v json.RawMessage) {
	properties, all := l.fields(f.Get("properties")), l.fields(v)
	had := len(all)
	all = slices.DeleteFunc(all, func(m keyword.Field) bool {
		p := keyword.NewPattern(m.Key)
		return !p.InJavaScript() || slices.ContainsFunc(properties, func(m keyword.Field) bool { return p.MatchString(m.Key) || p.MatchString(l.alias(m.Key)) })
	})
	if len(all) == had {
		return
	}
	l.changed = true
	l.lost++
	if f.Drop("patternProperties", "additionalProperties"); len(all) > 0 {
		f.Set("patternProperties", all.JSON())
	}
}
