package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"tabhub/spec/rawjson"
)

// full is a schema with all its keywords. It is immutable.
type full struct {
	root *jsonschema.Schema
	work []int // see workOf
}

// location is the schema's own URL. Nothing can be loaded from it.
const location = "tabhub://schema/root"

// denyAll is the compiler's loader.
type denyAll struct{}

func (denyAll) Load(url string) (any, error) {
	return nil, fmt.Errorf("%.100q is not part of the schema", url)
}

// newFull compiles a schema that is valid JSON.
func newFull(raw string) (f *full, err error) {
	doc, err := rawjson.Decode([]byte(raw))
	if err != nil {
		return nil, err
	}
	objects := 0
	if _, _, err := limits(doc, &objects); err != nil {
		return nil, err
	}
	if objects > maxObjects {
		return nil, fmt.Errorf("more than %d objects", maxObjects)
	}
	draft := draftOf(rawjson.Get([]byte(raw), "$schema"))
	w := walker{draft4: draft == jsonschema.Draft4, refs: map[string]bool{}}
	if err := w.schema(doc, true); err != nil {
		return nil, err
	}
	if w.unmatched {
		loosen(doc)
	}

	// What pages write must not be able to bring the hub down, whatever the
	// compiler makes of it.
	defer func() {
		if r := recover(); r != nil {
			f, err = nil, fmt.Errorf("cannot be compiled: %v", r)
		}
	}()
	c := jsonschema.NewCompiler()
	c.UseLoader(denyAll{})
	c.UseRegexpEngine(patternEngine())
	c.DefaultDraft(draft)
	if err := c.AddResource(location, doc); err != nil {
		return nil, err
	}
	root, err := c.Compile(location)
	if err != nil {
		return nil, reason(err)
	}
	work, err := workOf(root)
	if err != nil {
		return nil, err
	}
	return &full{root: root, work: work}, nil
}

// draftOf returns the draft that the value of $schema stands for; an unknown one
// counts as the latest.
func draftOf(raw []byte) *jsonschema.Draft {
	id, _ := rawjson.String(raw)
	if u, err := url.Parse(id); err == nil && u.Host == "json-schema.org" {
		switch u.Path {
		case "/draft-04/schema":
			return jsonschema.Draft4
		case "/draft-06/schema":
			return jsonschema.Draft6
		case "/draft-07/schema":
			return jsonschema.Draft7
		case "/draft/2019-09/schema":
			return jsonschema.Draft2019
		}
	}
	return jsonschema.Draft2020
}

// reason says in a line why the compiler refuses a schema.
func reason(err error) error {
	if v, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return violations(v, nil)
	}
	if v, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if cause, ok := errors.AsType[*jsonschema.ValidationError](v.Err); ok {
			return violations(cause, nil)
		}
	}
	return err
}

// check validates arguments that are valid JSON.
func (f *full) check(args json.RawMessage) (err error) {
	v, err := rawjson.Decode(args)
	if err != nil {
		return about("arguments", err)
	}
	nodes, depth, err := limits(v, new(int))
	if err != nil {
		return about("arguments", err)
	}
	if !f.affordable(nodes, depth) {
		return nil
	}
	// As in newFull. The page is left to check then.
	defer func() {
		if recover() != nil {
			err = nil
		}
	}()
	if err, ok := errors.AsType[*jsonschema.ValidationError](f.root.Validate(v)); ok {
		return violations(err, f.root)
	}
	return nil
}
