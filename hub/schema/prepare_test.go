package schema

import (
	"fmt"
	"strings"
)

// walker prepares a decoded schema for another implementation: it refuses what is
// refused here and takes out what has no say in whether arguments are valid.
type walker struct {
	draft4    bool
	refs      map[string]bool
	uses      int  // references met so far
	unmatched bool // has a pattern that cannot be matched here
}

var refKeywords = []string{"$ref", "$dynamicRef", "$recursiveRef"}

func matchable(pattern string) bool { return programOf(pattern) <= maxProgram }

// schema takes a schema, an array of schemas or anything else.
func (w *walker) schema(v any, root bool) error {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := w.schema(e, false); err != nil {
				return err
			}
		}
	case map[string]any:
		return w.object(v, root)
	}
	return nil
}

func (w *walker) object(s map[string]any, root bool) error {
	id, before := w.identity(s), w.uses
	for _, key := range refKeywords {
		ref, ok := s[key].(string)
		if !ok {
			continue
		}
		w.uses++
		if !strings.HasPrefix(ref, "#") {
			return fmt.Errorf(`%s %.100q is refused: only references within the schema ("#…") are followed`, key, ref)
		}
		if w.refs[ref] = true; len(w.refs) > maxRefs {
			return fmt.Errorf("more than %d different references", maxRefs)
		}
	}
	// Annotations; formats are one of them since JSON Schema 2019-09.
	for _, key := range []string{"title", "description", "$comment", "format"} {
		if _, ok := s[key].(string); ok {
			delete(s, key)
		}
	}
	delete(s, "default")
	delete(s, "examples")

	if p, ok := s["pattern"].(string); ok && !matchable(p) {
		w.unmatched = true
	}
	patterns, _ := s["patternProperties"].(map[string]any)
	for p := range patterns {
		w.unmatched = w.unmatched || !matchable(p)
	}
	for _, key := range schemaKeywords {
		if err := w.schema(s[key], false); err != nil {
			return err
		}
	}
	for _, key := range mapKeywords {
		m, _ := s[key].(map[string]any)
		for _, sub := range m {
			if err := w.schema(sub, false); err != nil {
				return err
			}
		}
	}
	if id != "" && !root && w.uses > before {
		return fmt.Errorf(`$id %.100q is refused: only the whole schema may have one, or a part without references`, id)
	}
	return nil
}

// identity takes out the name that a schema gives itself, with which "#" would mean
// another place within it, and returns it. One of the form "#name" is an anchor and
// stays.
func (w *walker) identity(s map[string]any) (id string) {
	delete(s, "$schema")
	keys := []string{"$id"}
	if w.draft4 {
		keys = append(keys, "id")
	}
	for _, key := range keys {
		if name, ok := s[key].(string); ok && !strings.HasPrefix(name, "#") {
			id = name
			delete(s, key)
		}
	}
	return id
}

// loosen takes out of a schema, or an array of schemas, the patterns that cannot be
// matched here, and whatever could refuse a value because of that: what is left
// accepts all that the whole schema accepts, and the page checks the rest. It
// reports whether v may accept more than before. References count as such: what they
// lead to may have been loosened.
func loosen(v any) (loose bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			loose = loosen(e) || loose
		}
	case map[string]any:
		loose = loosenObject(v)
	}
	return loose
}

func loosenObject(s map[string]any) (loose bool) {
	for _, key := range refKeywords {
		_, ref := s[key].(string)
		loose = loose || ref
	}
	if p, ok := s["pattern"].(string); ok && !matchable(p) {
		delete(s, "pattern")
		loose = true
	}
	patterns, _ := s["patternProperties"].(map[string]any)
	for p := range patterns {
		if !matchable(p) {
			// Which members are additional is not known then.
			delete(patterns, p)
			delete(s, "additionalProperties")
			loose = true
		}
	}
	parts := map[string]bool{}
	for _, key := range schemaKeywords {
		parts[key] = loosen(s[key])
		loose = loose || parts[key]
	}
	for _, key := range mapKeywords {
		apart := key == "$defs" || key == "definitions" // what refers to them counts
		m, _ := s[key].(map[string]any)
		for _, sub := range m {
			loose = loosen(sub) && !apart || loose
		}
	}
	if !loose {
		return false
	}
	if parts["not"] {
		delete(s, "not")
	}
	if parts["if"] {
		delete(s, "if")
		delete(s, "then")
		delete(s, "else")
	}
	if parts["contains"] {
		delete(s, "maxContains")
	}
	if all, ok := s["allOf"].([]any); parts["oneOf"] && (ok || s["allOf"] == nil) {
		// At least one of them fits; whether a second one does is the page's to say.
		s["allOf"] = append(all[:len(all):len(all)], map[string]any{"anyOf": s["oneOf"]})
		delete(s, "oneOf")
	}
	delete(s, "unevaluatedProperties")
	delete(s, "unevaluatedItems")
	return true
}
