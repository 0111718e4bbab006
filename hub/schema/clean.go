package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"tabhub/describe"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Clean returns raw, a schema that is valid JSON, as a model may read it: the texts of what
// only informs (title, description, $comment and examples, wherever they are) are cleaned as
// by describe.CleanLines. All else, keys included, is compared by programs and cannot be
// changed without breaking calls, so the error names the place of the first character there
// that describe.Forbidden finds. A schema without hidden characters is returned as it is,
// and so is one that is too large or too deep to be compiled.
func Clean(raw json.RawMessage) (json.RawMessage, error) {
	if !describe.HidesInJSON(raw) || len(raw) > spec.MaxSchema || rawjson.Valid(raw, spec.MaxSchemaDepth) != nil {
		return raw, nil
	}
	return clean(make([]byte, 0, len(raw)), raw, "")
}

// clean appends a part of a schema at a place.
func clean(out []byte, v json.RawMessage, at string) (_ []byte, err error) {
	switch v[0] {
	case '"':
		s, _ := rawjson.String(v)
		if err := check(s, at); err != nil {
			return nil, err
		}
	case '[':
		out = append(out, '[')
		i := 0
		for e := range rawjson.Elements(v) {
			if i > 0 {
				out = append(out, ',')
			}
			if out, err = clean(out, e, at+"["+strconv.Itoa(i)+"]"); err != nil {
				return nil, err
			}
			i++
		}
		return append(out, ']'), nil
	case '{':
		out = append(out, '{')
		for key, v := range rawjson.Members(v) {
			at := below(at, key)
			if err := check(key, at); err != nil {
				return nil, err
			}
			out = rawjson.AppendKey(out, key)
			if informs(key, v) {
				out = append(out, describe.CleanJSON(v)...)
			} else if out, err = clean(out, v, at); err != nil {
				return nil, err
			}
		}
		return append(out, '}'), nil
	}
	return append(out, v...), nil
}

// informs reports whether a member only informs, whatever object it is in: a property of
// that name has a schema, which is no string.
func informs(key string, v json.RawMessage) bool {
	switch key {
	case "title", "description", "$comment":
		return v[0] == '"'
	case "examples":
		return v[0] == '['
	}
	return false
}

func check(s, at string) error {
	if r, ok := describe.Forbidden(s); ok {
		return fmt.Errorf("%s holds the character %U, which cannot be seen", at, r)
	}
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
