package schema

import (
	"encoding/json"
	"errors"
	"testing"
)

// A page must get what it can judge itself, and nothing that it would have to guess.
func TestLenient(t *testing.T) {
	for _, c := range []struct {
		x    string // the schema of the argument x, which is optional
		args string
		want bool // the violation is one that passes
	}{
		{`{"type":"string","pattern":"^[a-z]+$"}`, `{"x":"A"}`, true},
		{`{"enum":[""]}`, `{"x":"A"}`, true},

		{`{"enum":["a","b"]}`, `{"x":5}`, false},
		{`{"const":true}`, `{"x":"yes"}`, false},
		{`{"type":"integer","minimum":1,"multipleOf":2}`, `{"x":-1}`, true},
		{`{"type":"string","minLength":2}`, `{"x":"a"}`, true},
		{`{"type":"array","minItems":1}`, `{"x":[]}`, true},
		{`{"type":"array","items":{"type":"string"}}`, `{"x":[null]}`, false},
		{`{"type":"integer"}`, `{"x":"1"}`, false},
		{`{"type":"integer"}`, `{"x":1.5}`, false},
		{`{"type":"string"}`, `{"x":null}`, true},
		{`{"enum":["a"]}`, `{"x":null}`, true},
		{`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `{"x":null}`, true},
		{`false`, `{"x":null}`, true},
		{`false`, `{"x":1}`, false},
		{`{"type":"array","uniqueItems":true}`, `{"x":[1,1]}`, true},
		{`{"not":{"const":1}}`, `{"x":1}`, true},
		{`{"type":"object","dependentRequired":{"a":["b"]}}`, `{"x":{"a":1}}`, false},
		{`{"type":"object","propertyNames":{"enum":["to","cc"]},"additionalProperties":{"type":"string"}}`, `{"x":{"bc":"me"}}`, false},
		{`{"type":"object","properties":{"a":{"type":"string"}},"allOf":[{"required":["a"]}]}`, `{"x":{"a":null}}`, false},
		{`{"type":"object","properties":{"a":{"type":"string"}},"dependentRequired":{"b":["a"]}}`, `{"x":{"a":null,"b":1}}`, false},
		{`{"oneOf":[{"type":"integer"},{"minimum":2}]}`, `{"x":3}`, true},
		{`{"if":{"properties":{"kind":{"const":"circle"}}},"then":{"required":["r"]},"else":{"required":["a"]}}`, `{"x":{"kind":"Circle","r":1}}`, true},
		{`{"if":{"properties":{"kind":{"const":"circle"}}},"then":{"required":["r"]},"else":{"required":["a"]}}`, `{"x":{"kind":"circle","a":1}}`, false},
		{`{"if":{"properties":{"kind":{"const":"circle"}}},"then":{"required":["r"]},"else":{"required":["a"]}}`, `{"x":{"kind":"Circle"}}`, false},
		{`{"type":"object","required":["a"]}`, `{"x":{}}`, false},
		{`{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}`, `{"x":{"a":null}}`, false},
		{`{"type":"object","properties":{"a":{}},"additionalProperties":false}`, `{"x":{"b":1}}`, false},
		{`{"type":"array","items":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/a"}]}}`, `{"x":["b",{"a":null}]}`, true},

		// What does not pass decides, wherever it is.
		{`{"type":"object","required":["a"],"properties":{"b":{"maximum":1}}}`, `{"x":{"b":2}}`, false},
		{`{"allOf":[{"maxLength":1},{"type":"integer"}]}`, `{"x":"ab"}`, false},

		// One way to read a schema is enough.
		{`{"anyOf":[{"type":"integer"},{"type":"string","format":"date","pattern":"^\\d"}]}`, `{"x":"now"}`, true},
		{`{"anyOf":[{"type":"integer"},{"type":"array"}]}`, `{"x":"now"}`, false},
		{`{"oneOf":[{"properties":{"kind":{"const":"circle"}},"required":["kind","r"]},{"properties":{"kind":{"const":"square"}},"required":["kind","a"]}]}`, `{"x":{"kind":"Square","a":1}}`, true},
		{`{"oneOf":[{"properties":{"kind":{"const":"circle"}},"required":["kind","r"]},{"properties":{"kind":{"const":"square"}},"required":["kind","a"]}]}`, `{"x":{"kind":"square"}}`, false},
		{`{"oneOf":[{"properties":{"kind":{"const":"circle"}},"required":["kind","r"]},{"properties":{"kind":{"const":"square"}},"required":["kind","a"]}]}`, `{"x":{"kind":"square","r":1}}`, false},
		{`{"oneOf":[{"properties":{"kind":{"const":"circle"}},"required":["kind","r"]},{"properties":{"kind":{"const":"square"},"a":{"minimum":1}},"required":["kind","a"]}]}`, `{"x":{"kind":"square","a":0}}`, true},
		{`{"anyOf":[{"const":"a"},{"const":"b"}]}`, `{"x":"c"}`, true},
		{`{"anyOf":[{"type":"string"},{"properties":{"kind":{"const":"circle"}},"required":["kind"]}]}`, `{"x":{"kind":"Circle"}}`, true},
		{`{"$ref":"#/$defs/small"}`, `{"x":2}`, true},
		{`{"$ref":"#/$defs/small"}`, `{"x":"2"}`, false},
	} {
		s := mustCompile(t, `{"type":"object","properties":{"x":`+c.x+`},"$defs":{"a":{"type":"object","properties":{"a":{"type":"string"}}},"small":{"type":"number","maximum":1}}}`)
		v, ok := errors.AsType[*Violations](s.Check(json.RawMessage(c.args)))
		if !ok || v.Lenient != c.want {
			t.Errorf("%s\n%s\n got %v, want it to pass: %t", c.x, c.args, v, c.want)
		}
	}
	// What cannot be read is never lenient.
	if v, ok := errors.AsType[*Violations](mustCompile(t, `{}`).Check(json.RawMessage(`{"x":1e999999999}`))); !ok || v.Lenient {
		t.Errorf("a number without bounds: %v", v)
	}
}
