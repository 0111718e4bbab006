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
	cost int   // of root for each value, at most; of no meaning if work is set
	work []int // see workOf; nil if there are no references
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
	if t := doc.Member("type"); t != nil && t.Text != "object" {
		return nil, fmt.Errorf(`type must be "object", not %.40s`, rawjson.Get(raw, "type"))
	}
	return newSchema(&doc)
}

// newSchema compiles any schema.
func newSchema(doc *rawjson.Value) (*Schema, error) {
	var e extent
	if err := e.add(doc, 0); err != nil {
		return nil, err
	}
	if e.objects > maxObjects {
		return nil, fmt.Errorf("more than %d objects", maxObjects)
	}
	d := draftOf(doc)
	c, root, err := compile(doc, d, metaschemas[d])
	if err != nil {
		return nil, err
	}
	s := &Schema{root: root, cost: c.cost}
	if c.uses > 0 {
		if s.work, err = workOf(root); err != nil {
			return nil, err
		}
	}
	return s, nil
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
	var e extent
	if err := e.add(&v, 0); err != nil {
		return about("arguments", err)
	}
	if !s.affordable(e) || s.root.evaluate(&v, nil, true, nil) == nil {
		return nil
	}
	return violations(s.root.evaluate(&v, nil, false, nil))
}

// affordable reports whether a value can be checked in reasonable time.
func (s *Schema) affordable(e extent) bool {
	work := s.work
	if work == nil {
		if s.cost <= maxCheck/e.values {
			return true
		}
		work, _ = workOf(s.root) // only references make it fail
	}
	return work[min(e.depth, len(work)-1)] <= maxCheck/e.values
}
