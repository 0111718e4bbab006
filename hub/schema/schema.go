package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Schema is a compiled schema of a tool's arguments. It is immutable for its users
// and safe for concurrent use.
type Schema struct {
	raw  string
	plan *plan

	mu   sync.Mutex
	full *full // made by the first arguments that the plan does not accept
}

// compile checks a schema as far as it can be checked before there are arguments.
func compile(raw string) (*Schema, error) {
	if len(raw) > spec.MaxSchema {
		return nil, fmt.Errorf("longer than %d bytes", spec.MaxSchema)
	}
	if err := rawjson.Valid([]byte(raw), spec.MaxSchemaDepth); err != nil {
		return nil, fmt.Errorf("%w (nesting is limited to %d)", err, spec.MaxSchemaDepth)
	}
	if err := checkRoot([]byte(raw)); err != nil {
		return nil, err
	}
	s := &Schema{raw: raw}
	var complete bool
	if s.plan, complete = newPlan([]byte(raw)); !complete {
		// Only what is called is worth the memory of its full form.
		if _, err := newFull(raw); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// checkRoot refuses what is no schema for objects.
func checkRoot(raw []byte) error {
	switch first := rawjson.Get(raw)[0]; {
	case first == 't': // true allows any object
		return nil
	case first == 'f':
		return errors.New("false allows no call at all")
	case first != '{':
		return errors.New("must be an object")
	}
	if t := rawjson.Get(raw, "type"); t != nil && string(t) != `"object"` {
		return fmt.Errorf(`type must be "object", not %.40s`, t)
	}
	return nil
}

// Check reports whether args, known to be valid JSON, are valid arguments; no args
// are {}. The error is a *Violations. Where a schema would take more work than is
// reasonable, the page is left to check.
func (s *Schema) Check(args json.RawMessage) error {
	if len(args) == 0 {
		args = json.RawMessage(`{}`)
	}
	args = bytes.TrimSpace(args)
	if s.plan != nil && s.plan.accepts(args) {
		return nil
	}
	f, err := s.compiled()
	if err != nil {
		return err
	}
	return f.check(args)
}

func (s *Schema) compiled() (*full, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full == nil {
		f, err := newFull(s.raw)
		if err != nil {
			return nil, err
		}
		s.full = f
	}
	return s.full, nil
}
