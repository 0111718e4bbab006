package builtin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tabhub/hub/schema"
	"tabhub/spec/rawjson"
)

// Input checks the arguments of a tool's calls. It is safe for concurrent use.
type Input struct{ schema *schema.Schema }

// NewInput returns the Input of a tool's schema. It panics if raw is not a schema for
// objects: those of the hub's own tools are compiled in.
func NewInput(raw json.RawMessage) *Input {
	s, err := new(schema.Cache).Compile(raw)
	if err != nil {
		panic(fmt.Sprintf("the schema %.100s: %v", raw, err))
	}
	return &Input{s}
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
	return members, object, in.schema.Check(object)
}
