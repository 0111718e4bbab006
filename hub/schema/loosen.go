package schema

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
