package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"tabhub/hub/offer/keyword"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Schema is a compiled schema of a tool's arguments. It is immutable and safe for
// concurrent use.
type Schema struct {
	root *node
	size int // bytes that it takes, about
}

// Check returns why a schema of a tool's arguments or results cannot be compiled, nil if it can. It
// takes a small part of the time and memory of that.
func Check(raw json.RawMessage) error {
	if len(raw) > spec.MaxSchema {
		return fmt.Errorf("longer than %d bytes", spec.MaxSchema)
	}
	if err := rawjson.Valid(raw, spec.MaxSchemaDepth); err != nil {
		return fmt.Errorf("%w (nesting is limited to %d)", err, spec.MaxSchemaDepth)
	}
	switch raw = bytes.TrimSpace(raw); {
	case string(raw) == "false":
		return errors.New("false allows no call at all")
	case string(raw) != "true" && raw[0] != '{': // true allows any object
		return errors.New("must be an object")
	case objects(raw) > maxObjects:
		return fmt.Errorf("more than %d objects", maxObjects)
	}
	return nil
}

// objects counts the objects in a value.
func objects(v json.RawMessage) (n int) {
	switch v[0] {
	case '{':
		n = 1
		for _, v := range rawjson.Members(v) {
			n += objects(v)
		}
	case '[':
		for v := range rawjson.Elements(v) {
			n += objects(v)
		}
	}
	return n
}

// compileTool compiles a schema of a tool's arguments or results, which are objects.
func compileTool(raw []byte) (*Schema, error) {
	if err := Check(raw); err != nil {
		return nil, err
	}
	s := newSchema(bytes.TrimSpace(raw))
	if s.root.types&keyword.Object == 0 {
		root := *s.root
		root.types = keyword.Object // it is asked for nothing else
		s.root = &root
	}
	return s, nil
}

// Check reports whether args, known to be valid JSON, are valid arguments; no args
// are {}. The error is a *Violations. Where a schema would take more work than is
// reasonable, the page is left to check.
func (s *Schema) Check(args json.RawMessage) error {
	v, err := decodeArguments(args)
	if err != nil {
		return about(err)
	}
	left := budget(maxCheck)
	if left.evaluate(s.root, &v, nil, true) == nil || left <= 0 {
		return nil
	}
	left = maxCheck // once more, for the words
	all := left.evaluate(s.root, &v, nil, false)
	if left <= 0 {
		return nil
	}
	return s.refuse(all, &v, nil)
}

// decodeArguments decodes arguments; none are {}.
func decodeArguments(args json.RawMessage) (rawjson.Value, error) {
	if len(args) == 0 {
		args = json.RawMessage(`{}`)
	}
	v, err := rawjson.Decode(args)
	if err == nil {
		err = measure(&v)
	}
	return v, err
}

// refuse returns how a value does not fit, in the names that clients use.
func (s *Schema) refuse(all []failure, v *rawjson.Value, names *Names) *Violations {
	if allLenient(all) {
		without, _ := rawjson.Decode(rawjson.Append(nil, v)) // v is what is sent nevertheless
		leaveOut(&without, all)
		left := budget(maxCheck)
		if rest := left.evaluate(s.root, &without, nil, false); left > 0 && !allLenient(rest) {
			all = rest
		}
	}
	names.translate(all)
	return violations(all)
}
