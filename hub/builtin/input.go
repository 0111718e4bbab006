package builtin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"tabhub/hub/schema"
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
			panic(fmt.Sprintf("the schema %.100s: %v", raw, err)) // it is the program's own
		}
		return s
	})}
}

// Read returns the members of args, nil or valid JSON, if they fit the schema, and the
// same as one object. A member that is null counts as left out, as many clients send it.
// The error tells a model what to correct.
func (in *Input) Read(args json.RawMessage) (members map[string]json.RawMessage, object json.RawMessage, err error) {
	members = map[string]json.RawMessage{}
	if len(args) > 0 && args[0] != '{' && string(args) != "null" {
		return nil, nil, errors.New("the arguments must be an object")
	}
	for key, value := range rawjson.Members(args) {
		if string(value) != "null" {
			members[strings.Clone(key)] = value
		}
	}
	if object, err = json.Marshal(members); err != nil {
		return nil, nil, err
	}
	return members, object, in.schema().Check(object)
}
