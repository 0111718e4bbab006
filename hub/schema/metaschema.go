package schema

import (
	"embed"
	"net/url"
	"sync"

	"tabhub/spec/rawjson"
)

// draft is a version of JSON Schema, as a number that grows.
type draft int

const (
	draft04   draft = 4
	draft06   draft = 6
	draft07   draft = 7
	draft2019 draft = 2019
	draft2020 draft = 2020
)

// draftOf returns the draft that the value of $schema stands for; an unknown one
// counts as the latest.
func draftOf(doc *rawjson.Value) draft {
	id := doc.Member("$schema")
	if id == nil {
		return draft2020
	}
	if u, err := url.Parse(id.Text); err == nil && u.Host == "json-schema.org" {
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

// metaschemas are compiled when one is needed first.
var metaschemas = map[draft]func() *node{
	draft04:   metaschema(draft04, "draft-04"),
	draft06:   metaschema(draft06, "draft-06"),
	draft07:   metaschema(draft07, "draft-07"),
	draft2019: metaschema(draft2019, "2019-09"),
	draft2020: metaschema(draft2020, "2020-12"),
}

// metaschema returns the meta-schema of a file when it is called first. It panics if
// that is not a schema: it is part of the program.
func metaschema(d draft, name string) func() *node {
	return sync.OnceValue(func() *node {
		raw, err := metaschemaFiles.ReadFile("metaschema/" + name + ".json")
		if err != nil {
			panic(err)
		}
		doc, err := rawjson.Decode(raw)
		if err != nil {
			panic(err)
		}
		root, err := compile(&doc, d, nil)
		if err != nil {
			panic(err)
		}
		return root
	})
}
