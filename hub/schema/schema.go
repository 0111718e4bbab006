package schema

import (
	"encoding/json"
	"errors"
	"fmt"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Schema is a compiled schema of a tool's arguments. It is immutable and safe for
// concurrent use.
type Schema struct {
	root *node
	size int // bytes that it takes, about
}

// compileTool compiles a schema of a tool's arguments.
func compileTool(raw []byte) (*Schema, error) {
	if len(raw) > spec.MaxSchema {
		return nil, fmt.Errorf("longer than %d bytes", spec.MaxSchema)
	}
	if err := rawjson.Valid(raw, spec.MaxSchemaDepth); err != nil {
		return nil, fmt.Errorf("%w (nesting is limited to %d)", err, spec.MaxSchemaDepth)
	}
	doc, err := rawjson.Decode(raw)
	if err != nil {
		return nil, err
	}
	switch {
	case doc.Kind == rawjson.KindBool && doc.Text == "false":
		return nil, errors.New("false allows no call at all")
	case doc.Kind != rawjson.KindBool && doc.Kind != rawjson.KindObject: // true allows any object
		return nil, errors.New("must be an object")
	}
	s, err := newSchema(&doc)
	if err == nil && s.root.types&typeObject == 0 {
		root := *s.root
		root.types = typeObject // it is asked for nothing else
		s.root = &root
	}
	return s, err
}

// newSchema compiles any schema.
func newSchema(doc *rawjson.Value) (*Schema, error) {
	if objects, _ := measure(doc); objects > maxObjects {
		return nil, fmt.Errorf("more than %d objects", maxObjects)
	}
	root, size, err := compile(doc)
	if err != nil {
		return nil, err
	}
	return &Schema{root, size}, nil
}

// Check reports whether args, known to be valid JSON, are valid arguments; no args
// are {}. The error is a *Violations. Where a schema would take more work than is
// reasonable, the page is left to check.
func (s *Schema) Check(args json.RawMessage) error {
	if len(args) == 0 {
		args = json.RawMessage(`{}`)
	}
	v, err := rawjson.Decode(args)
	if err != nil {
		return about("arguments", err)
	}
	if _, err := measure(&v); err != nil {
		return about("arguments", err)
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
