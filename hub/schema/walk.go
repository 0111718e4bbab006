package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const (
	maxObjects = 1000 // objects in a schema
	maxRefs    = 128  // distinct references in a schema
	maxDigits  = 400  // of a number, and of its exponent's value
)

// walker goes through a decoded schema before it is compiled: it refuses what must
// not reach the compiler and takes out what has no say in whether arguments are
// valid.
type walker struct {
	draft4    bool
	refs      map[string]bool
	uses      int  // references met so far
	unmatched bool // has a pattern that cannot be matched here
}

// The keywords whose values are a schema or schemas.
var (
	schemaKeywords = []string{
		"additionalProperties", "items", "additionalItems", "contains", "propertyNames", "not", "if", "then", "else",
		"unevaluatedItems", "unevaluatedProperties", "contentSchema", "allOf", "anyOf", "oneOf", "prefixItems",
	}
	refKeywords = []string{"$ref", "$dynamicRef", "$recursiveRef"}
	mapKeywords = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)

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

// limits refuses a schema, or arguments, that cost more than their size says. It
// returns the number of values in v and how deeply they are nested.
func limits(v any, objects *int) (nodes, depth int, err error) {
	nodes = 1
	below := func(v any) bool {
		n, d, e := limits(v, objects)
		nodes += n
		depth = max(depth, d+1)
		err = e
		return e == nil
	}
	switch v := v.(type) {
	case json.Number:
		return 1, 0, checkNumber(string(v))
	case []any:
		for _, e := range v {
			if !below(e) {
				return 0, 0, err
			}
		}
	case map[string]any:
		*objects++
		for _, e := range v {
			if !below(e) {
				return 0, 0, err
			}
		}
	}
	return nodes, depth, err
}

// errNumber refuses numbers that nobody can mean and that exact arithmetic would
// need megabytes for.
var errNumber = errors.New("has a number that is out of any range")

func checkNumber(s string) error {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	exponent = strings.TrimLeft(exponent, "+-0")
	if len(mantissa) > maxDigits || len(exponent) > 3 || len(exponent) == 3 && exponent > "400" {
		return errNumber
	}
	return nil
}
