package builtin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"tabhub/hub/offer/schema"
	"tabhub/spec/rawjson"
)

// Input checks the arguments of a tool's calls. It is safe for concurrent use.
type Input struct{ schema func() *schema.Schema }

// NewInput returns the Input of a tool's schema. The schema is compiled by the first call,
// since most of the tools are never called; Read panics if it is not one for objects.
func NewInput(raw json.RawMessage) *Input {
	return &Input{sync.OnceValue(func() *schema.Schema {
		s, err := new(schema.Cache).Compile(raw)
		if err != nil {
			panic(fmt.Sprintf("the schema %.100s: %v", raw, err)) // it is compiled in
		}
		return s
	})}
}

// Read returns the Members of args, nil or valid JSON, if they fit the schema, and the
// same as one object. The error tells a model what to correct.
func (in *Input) Read(args json.RawMessage) (members map[string]json.RawMessage, object json.RawMessage, err error) {
	if len(args) > 0 && args[0] != '{' && string(args) != "null" {
		return nil, nil, errors.New("the arguments must be an object")
	}
	members = Members(args)
	if object, err = json.Marshal(members); err != nil {
		return nil, nil, err
	}
	return members, object, in.schema().Check(object)
}

// Members returns the members of arguments, valid JSON, by name; none if that is no object.
// A member that is null counts as left out, as many clients send it. Where a name is given
// twice the last one counts, also if that is null: pages and the record
// read the same arguments the same way.
func Members(args json.RawMessage) map[string]json.RawMessage {
	members := map[string]json.RawMessage{}
	for key, value := range rawjson.Members(args) {
		if string(value) == "null" {
			delete(members, key)
		} else {
			members[strings.Clone(key)] = value
		}
	}
	return members
}
