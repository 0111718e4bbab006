package spec

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"tabhub/spec/rawjson"
)

// DecodeInbound reads the parameters of a message of a tab or browser. params are nil or
// valid JSON. The Items of a Register share memory with them and are not looked into.
// The error has the code CodeMethodNotFound or CodeInvalidParams.
func DecodeInbound(method string, params json.RawMessage) (Inbound, *Error) {
	var m Inbound
	var err *Error
	switch method {
	case MethodRegisterTools, MethodUpdateTools:
		m, err = decodeRegister(KindTool, method == MethodUpdateTools, params, "tools")
	case MethodRegisterResources, MethodUpdateResources:
		m, err = decodeRegister(KindResource, method == MethodUpdateResources, params, "resources", "resourceTemplates")
	case MethodRegisterPrompts, MethodUpdatePrompts:
		m, err = decodeRegister(KindPrompt, method == MethodUpdatePrompts, params, "prompts")
	case MethodTabState:
		m = &TabState{}
		err = Decode(params, m)
	case MethodTabClosed:
		m = &TabClosed{} // whatever its parameters
	case MethodResourceUpdated:
		m = &ResourceUpdated{}
		err = Decode(params, m)
	case MethodResumeCall:
		m = &ResumeCall{}
		err = Decode(params, m)
	default:
		err = Errorf(CodeMethodNotFound, "unknown method %q", cutText(method, 64))
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// decodeRegister reads a registration, whose items are in the arrays that lists names.
func decodeRegister(kind Kind, update bool, params json.RawMessage, lists ...string) (*Register, *Error) {
	if len(params) == 0 || params[0] != '{' {
		return nil, Errorf(CodeInvalidParams, "params must be an object with an array %q", lists[0])
	}
	m := &Register{Kind: kind, Update: update}
	found := false
	rest := []byte{'{'}
	for key, value := range rawjson.Members(params) {
		if !slices.Contains(lists, key) {
			rest = rawjson.AppendMember(rest, key, value)
			continue
		}
		if value[0] != '[' {
			return nil, Errorf(CodeInvalidParams, "params.%s must be an array", key)
		}
		found = true
		m.Items = slices.AppendSeq(m.Items, rawjson.Elements(value))
	}
	if !found {
		return nil, Errorf(CodeInvalidParams, "params.%s is missing", lists[0])
	}
	return m, Decode(append(rest, '}'), m)
}

// Decode reads params, the parameters of a message, a request's body or an answer's
// result, into v, a pointer to a struct, and checks v as Validate does. params are valid
// JSON, or nil for an object without members. Unknown members are ignored; names count
// letter by letter, so one that differs from a known one in its case is unknown. The
// error has the code CodeInvalidParams; it names the member that is wrong as the message
// spells it, and says what it must be.
func Decode(params json.RawMessage, v any) *Error {
	if params != nil {
		if len(params) == 0 || params[0] != '{' {
			return Errorf(CodeInvalidParams, "params must be an object")
		}
		if err := json.Unmarshal(exact(params, reflect.TypeOf(v).Elem()), v); err != nil {
			return Errorf(CodeInvalidParams, "params: %s", unmarshalProblem(err))
		}
	}
	if err := Validate(v); err != nil {
		return Errorf(CodeInvalidParams, "%v", err)
	}
	return nil
}

// exact returns params without the members that encoding/json would take for a field of
// t only because it ignores case.
func exact(params json.RawMessage, t reflect.Type) json.RawMessage {
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = jsonName(t.Field(i))
	}
	out := []byte{'{'}
	for key, value := range rawjson.Members(params) {
		alike := func(name string) bool { return strings.EqualFold(name, key) }
		if slices.Contains(names, key) || !slices.ContainsFunc(names, alike) {
			out = rawjson.AppendMember(out, key, value)
		}
	}
	return append(out, '}')
}

// unmarshalProblem says what encoding/json has refused, in words for a peer.
func unmarshalProblem(err error) string {
	if e, ok := err.(*json.UnmarshalTypeError); ok {
		return e.Field + " must be " + jsonKind(e.Type.Kind().String()) + ", not " + e.Value
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func jsonKind(goKind string) string {
	switch {
	case strings.HasPrefix(goKind, "int"), strings.HasPrefix(goKind, "uint"):
		return "an integer"
	case strings.HasPrefix(goKind, "float"):
		return "a number"
	case goKind == "bool":
		return "a boolean"
	case goKind == "string":
		return "a string"
	case goKind == "slice", goKind == "array":
		return "an array"
	}
	return "an object"
}
