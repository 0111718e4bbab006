package listed

import (
	"encoding/json"
	"strconv"
	"strings"

	"tabhub/hub/offer/keyword"
	"tabhub/spec/rawjson"
)

// isKey reports whether each model API takes a name of a property.
func isKey(s string) bool {
	return s != "" && len(s) <= 64 && s != "__proto__" && !strings.ContainsFunc(s, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-')
	})
}

// alias returns the name by which a property of the page is listed: always the same one for
// a name, which is that of no other property.
func (l *lister) alias(name string) string {
	if isKey(name) {
		return name
	}
	if alias, ok := l.aliases[name]; ok {
		return alias
	}
	name = strings.Clone(name)
	if l.keys == nil {
		l.keys = map[string]bool{}
		allKeys(l.root, l.keys)
	}
	short := strings.Join(strings.FieldsFunc(name, func(r rune) bool { return !isKey(string(r)) }), "_")
	if short = strings.TrimRight(short[:min(len(short), 50)], "_"); !isKey(short) {
		short = "arg"
	}
	alias := short
	for i := 2; l.keys[alias]; i++ {
		alias = short + "_" + strconv.Itoa(i)
	}
	l.keys[alias] = true
	l.aliases[name] = alias
	l.change(nil, "%s is called %s, as model APIs refuse such names", keyword.Quoted(name), alias)
	return alias
}

// allKeys collects the names of all members that there are in a value, and its texts, which may be
// names, too.
func allKeys(v json.RawMessage, to map[string]bool) {
	switch v[0] {
	case '{':
		for key, v := range rawjson.Members(v) {
			to[key] = true
			allKeys(v, to)
		}
	case '[':
		for e := range rawjson.Elements(v) {
			allKeys(e, to)
		}
	case '"':
		s, _ := rawjson.String(v)
		to[s] = true
	}
}
