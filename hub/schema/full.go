package schema

import (
	"embed"
	"encoding/json"
	"fmt"
	"net/url"
	"sync"

	"tabhub/spec/rawjson"
)

// full is a schema with all its keywords. It is immutable.
type full struct {
	root *node
	work []int // see workOf
}

// newFull compiles a schema that is valid JSON.
func newFull(raw string) (*full, error) {
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
	w := walker{draft4: draft == draft04, refs: map[string]bool{}}
	if err := w.schema(doc, true); err != nil {
		return nil, err
	}
	if w.unmatched {
		loosen(doc)
	}
	if err := wellFormed(doc, draft); err != nil {
		return nil, err
	}
	c := compiler{doc: doc, draft: draft, pattern: patternsWithin(maxPrograms), check: func(part any) error { return wellFormed(part, draft) }}
	root, err := c.compile()
	if err != nil {
		return nil, err
	}
	work, err := workOf(root)
	if err != nil {
		return nil, err
	}
	return &full{root: root, work: work}, nil
}

// draftOf returns the draft that the value of $schema stands for; an unknown one
// counts as the latest.
func draftOf(raw []byte) draft {
	id, _ := rawjson.String(raw)
	if u, err := url.Parse(id); err == nil && u.Host == "json-schema.org" {
		switch u.Path {
		case "/draft-04/schema":
			return draft04
		case "/draft-06/schema":
			return draft06
		case "/draft-07/schema":
			return draft07
		case "/draft/2019-09/schema":
			return draft2019
		}
	}
	return draft2020
}

// metaschemaFiles are the meta-schemas of json-schema.org, each in one file and without
// what only informs.
//
//go:embed metaschema
var metaschemaFiles embed.FS

// metaschemas are compiled when a schema of their draft is met first.
var metaschemas = map[draft]func() *node{
	draft04:   sync.OnceValue(func() *node { return metaschema(draft04, "draft-04") }),
	draft06:   sync.OnceValue(func() *node { return metaschema(draft06, "draft-06") }),
	draft07:   sync.OnceValue(func() *node { return metaschema(draft07, "draft-07") }),
	draft2019: sync.OnceValue(func() *node { return metaschema(draft2019, "2019-09") }),
	draft2020: sync.OnceValue(func() *node { return metaschema(draft2020, "2020-12") }),
}

// metaschema panics if the file is not a schema: it is part of the program.
func metaschema(d draft, name string) *node {
	raw, err := metaschemaFiles.ReadFile("metaschema/" + name + ".json")
	if err != nil {
		panic(err)
	}
	doc, err := rawjson.Decode(raw)
	if err != nil {
		panic(err)
	}
	c := compiler{doc: doc, draft: d, pattern: patternsWithin(maxPrograms), check: func(any) error { return nil }}
	root, err := c.compile()
	if err != nil {
		panic(err)
	}
	return root
}

// wellFormed reports in a line why v is no schema of draft d.
func wellFormed(v any, d draft) error {
	if all := metaschemas[d]().evaluate(v, nil, false, nil); all != nil {
		return violations(all)
	}
	return nil
}

// check validates arguments that are valid JSON.
func (f *full) check(args json.RawMessage) error {
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
	if all := f.root.evaluate(v, nil, false, nil); all != nil {
		return violations(all)
	}
	return nil
}
