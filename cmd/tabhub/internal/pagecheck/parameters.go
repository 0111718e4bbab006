package pagecheck

import (
	"encoding/json"
	"slices"
	"strings"

	"tabhub/spec/rawjson"
)

const (
	maxNested = 4 // how deep parameters within parameters are looked at
	maxSteps  = 8 // from one reference to the next
)

// parameters looks at the parameters that a schema names.
func parameters(r *report, schema json.RawMessage) {
	if root, err := rawjson.Decode(schema); err == nil {
		w := walk{report: r, root: &root, seen: map[*rawjson.Value]bool{}}
		w.nested(&root, "", maxNested)
	}
}

// walk goes through a schema. What several references lead to is looked at once.
type walk struct {
	*report
	root *rawjson.Value
	seen map[*rawjson.Value]bool
}

func (w *walk) nested(schema *rawjson.Value, path string, left int) {
	for of := range w.followed(schema) {
		if left == 0 || w.seen[of] {
			return
		}
		w.seen[of] = true
		if properties := of.Member("properties"); properties != nil {
			for i := range properties.Members {
				m := &properties.Members[i]
				w.parameter(m, path)
				w.nested(&m.Value, path+m.Name+".", left-1)
			}
		}
		if items := of.Member("items"); items != nil {
			w.nested(items, strings.TrimSuffix(path, ".")+"[].", left-1)
		}
	}
}

func (w *walk) parameter(m *rawjson.Member, path string) {
	at := path + m.Name
	if !w.has(&m.Value, types...) {
		w.add(Warning, ParameterUntyped, "give it a type, such as \"string\"", "parameter %s has no type: a model cannot know what to write", at)
	}
	if !w.has(&m.Value, "description", "title") {
		severity := Warning
		if path != "" || w.has(&m.Value, "enum", "const", "format", "pattern", "default", "examples") {
			severity = Note
		}
		w.add(severity, ParameterUndescribed, "say what it is, in which unit or form, and where it comes from", "parameter %s has no description", at)
	}
}

// types are the keywords by which a schema says what a value is.
var types = []string{"type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "properties", "items", "not", "if"}

// has reports whether a schema, or what it refers to, has one of some keywords.
func (w *walk) has(schema *rawjson.Value, keywords ...string) bool {
	for of := range w.followed(schema) {
		if slices.ContainsFunc(keywords, func(k string) bool {
			m := of.Member(k)
			return m != nil && (m.Kind != rawjson.KindString || m.Text != "")
		}) {
			return true
		}
	}
	return false
}

// followed returns a schema, and those to which its references lead.
func (w *walk) followed(schema *rawjson.Value) func(yield func(*rawjson.Value) bool) {
	return func(yield func(*rawjson.Value) bool) {
		for range maxSteps {
			if !yield(schema) {
				return
			}
			ref := schema.Member("$ref")
			if ref == nil {
				return
			}
			if schema = resolve(w.root, ref.Text); schema == nil {
				return
			}
		}
	}
}

// resolve follows a reference within a schema. It returns nil if that leads nowhere.
func resolve(root *rawjson.Value, ref string) *rawjson.Value {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	at := root
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if step == "" {
			continue
		}
		if at = at.Member(strings.NewReplacer("~1", "/", "~0", "~").Replace(step)); at == nil {
			return nil
		}
	}
	return at
}
