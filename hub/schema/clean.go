package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"

	"tabhub/describe"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Clean returns raw, a schema that is valid JSON, as a model may read it: what only
// informs (title, description, $comment, examples, and keywords that are not known
// and hold a string) is cleaned as by describe.CleanLines. All else, keys included,
// is compared by programs and cannot be changed without breaking calls, so the error
// names the place of the first character there that describe.Forbidden finds.
// A schema without hidden characters is returned as it is, and so is one that is too
// large or too deep to be compiled.
func Clean(raw json.RawMessage) (json.RawMessage, error) {
	if !describe.HidesInJSON(raw) || len(raw) > spec.MaxSchema || rawjson.Valid(raw, spec.MaxSchemaDepth) != nil {
		return raw, nil
	}
	c := cleaner{out: make([]byte, 0, len(raw))}
	if err := c.schema(raw, ""); err != nil {
		return nil, err
	}
	return c.out, nil
}

// cleaner writes a schema anew.
type cleaner struct{ out []byte }

// The keywords whose values are a schema or schemas.
var (
	schemaKeywords = []string{
		"additionalProperties", "items", "additionalItems", "contains", "propertyNames", "not", "if", "then", "else",
		"unevaluatedItems", "unevaluatedProperties", "contentSchema", "allOf", "anyOf", "oneOf", "prefixItems",
	}
	mapKeywords = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)

// dataKeywords are those whose values a program compares, beside those that hold
// schemas.
var dataKeywords = []string{
	"type", "enum", "const", "default", "pattern", "required", "format", "dependentRequired",
	"$ref", "$dynamicRef", "$recursiveRef", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema", "$vocabulary",
	"contentEncoding", "contentMediaType", "x-mcp-header",
}

// schema takes a schema, or an array of schemas, at a place.
func (c *cleaner) schema(v json.RawMessage, at string) error {
	switch v[0] {
	case '{':
		return c.object(v, at, c.keyword)
	case '[':
		return c.array(v, at, c.schema)
	}
	return c.data(v, at)
}

// keyword takes the value of one keyword of a schema.
func (c *cleaner) keyword(key string, v json.RawMessage, at string) error {
	switch {
	case key == "examples", key == "example":
		c.out = append(c.out, describe.CleanJSON(v)...)
		return nil
	case slices.Contains(schemaKeywords, key):
		return c.schema(v, at)
	case slices.Contains(mapKeywords, key) && v[0] == '{':
		return c.object(v, at, func(_ string, v json.RawMessage, at string) error { return c.schema(v, at) })
	case v[0] == '"' && !slices.Contains(dataKeywords, key):
		s, _ := rawjson.String(v)
		if clean := describe.CleanLines(s, math.MaxInt); clean != s {
			v = rawjson.AppendString(nil, clean)
		}
		c.out = append(c.out, v...)
		return nil
	}
	return c.data(v, at)
}

// data takes what must stay as it is.
func (c *cleaner) data(v json.RawMessage, at string) error {
	if err := checkData(v, at); err != nil {
		return err
	}
	c.out = append(c.out, v...)
	return nil
}

func checkData(v json.RawMessage, at string) (err error) {
	if !describe.HidesInJSON(v) {
		return nil
	}
	switch v[0] {
	case '"':
		s, _ := rawjson.String(v)
		return checkString(s, at)
	case '[':
		i := 0
		for e := range rawjson.Elements(v) {
			if err := checkData(e, at+"["+strconv.Itoa(i)+"]"); err != nil {
				return err
			}
			i++
		}
	case '{':
		for key, e := range rawjson.Members(v) {
			if err := checkData(e, below(at, key)); err != nil {
				return err
			}
			if err := checkString(key, below(at, key)); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkString(s, at string) error {
	if r, ok := describe.Forbidden(s); ok {
		return fmt.Errorf("%s holds the character %U, which cannot be seen", at, r)
	}
	return nil
}

// object takes the members of an object, each value by f.
func (c *cleaner) object(v json.RawMessage, at string, f func(key string, v json.RawMessage, at string) error) error {
	c.out = append(c.out, '{')
	first := true
	for key, v := range rawjson.Members(v) {
		at := below(at, key)
		if err := checkString(key, at); err != nil {
			return err
		}
		if !first {
			c.out = append(c.out, ',')
		}
		first = false
		c.out = append(rawjson.AppendString(c.out, key), ':')
		if err := f(key, v, at); err != nil {
			return err
		}
	}
	c.out = append(c.out, '}')
	return nil
}

// array takes the elements of an array, each by f.
func (c *cleaner) array(v json.RawMessage, at string, f func(v json.RawMessage, at string) error) error {
	c.out = append(c.out, '[')
	i := 0
	for e := range rawjson.Elements(v) {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		if err := f(e, at+"["+strconv.Itoa(i)+"]"); err != nil {
			return err
		}
		i++
	}
	c.out = append(c.out, ']')
	return nil
}

// plainKey matches a key that needs no quotes, if it is not longer than what is shown.
var plainKey = regexp.MustCompile(`^[$A-Za-z_][\w$-]*$`)

// below is the place of a member, short enough to be shown.
func below(at, key string) string {
	const most = 200
	switch {
	case len(at) > most:
		return at
	case len(key) > 61 || !plainKey.MatchString(key):
		return at + "[" + strconv.QuoteToASCII(cut(key)) + "]"
	case at == "":
		return key
	}
	return at + "." + key
}
