package spec

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"tabhub/spec/rawjson"
)

// DecodeInbound reads the parameters of a message of a tab or browser. params is
// nil or must be known to be valid JSON; the Items of a Register share memory with
// it. A URL or title that is too long is cut rather than refused, since the tools
// that come with it are worth more. The error has the code CodeMethodNotFound or
// CodeInvalidParams.
func DecodeInbound(method string, params json.RawMessage) (Inbound, *Error) {
	switch method {
	case MethodRegisterTools:
		return decodeRegister(&Register{Kind: KindTool}, params, "tools", "")
	case MethodUpdateTools:
		return decodeRegister(&Register{Kind: KindTool, Update: true}, params, "tools", "")
	case MethodRegisterResources:
		return decodeRegister(&Register{Kind: KindResource}, params, "resources", "resourceTemplates")
	case MethodUpdateResources:
		return decodeRegister(&Register{Kind: KindResource, Update: true}, params, "resources", "resourceTemplates")
	case MethodRegisterPrompts:
		return decodeRegister(&Register{Kind: KindPrompt}, params, "prompts", "")
	case MethodUpdatePrompts:
		return decodeRegister(&Register{Kind: KindPrompt, Update: true}, params, "prompts", "")
	case MethodTabState:
		m := &TabState{}
		if err := DecodeParams(params, m); err != nil {
			return nil, err
		}
		m.Cut()
		return m, nil
	case MethodTabClosed:
		return &TabClosed{}, nil
	case MethodResourceUpdated:
		m := &ResourceUpdated{}
		if err := DecodeParams(params, m); err != nil {
			return nil, err
		}
		if err := Validate(m); err != nil {
			return nil, Errorf(CodeInvalidParams, "%v", err)
		}
		return m, nil
	}
	return nil, Errorf(CodeMethodNotFound, "unknown method %q", cutText(method, 64))
}

// DecodeParams reads params, which are nil or valid JSON, into v, a pointer to one of
// this package's structs. It does not validate them. Names of members count letter by
// letter: one that differs in case only is unknown, and ignored.
func DecodeParams(params json.RawMessage, v any) *Error {
	if params == nil {
		return nil
	}
	if len(params) == 0 || params[0] != '{' {
		return Errorf(CodeInvalidParams, "params must be an object")
	}
	if err := json.Unmarshal(exact(params, reflect.TypeOf(v).Elem()), v); err != nil {
		return Errorf(CodeInvalidParams, "params: %s", unmarshalProblem(err))
	}
	return nil
}

// exact returns params without the members that encoding/json would take for a field
// of t only because it does not tell upper from lower case.
func exact(params json.RawMessage, t reflect.Type) json.RawMessage {
	isField := func(same func(name, key string) bool, key string) bool {
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if same(name, key) {
				return true
			}
		}
		return false
	}
	equal := func(a, b string) bool { return a == b }
	alike := func(key string) bool { return isField(strings.EqualFold, key) && !isField(equal, key) }
	for key := range rawjson.Members(params) {
		if !alike(key) {
			continue
		}
		out := []byte{'{'}
		for key, value := range rawjson.Members(params) {
			if alike(key) {
				continue
			}
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(rawjson.AppendString(out, key), ':'), value...)
		}
		return append(out, '}')
	}
	return params
}

// decodeRegister reads a registration whose items are under list, and under more
// if that is not "".
func decodeRegister(m *Register, params json.RawMessage, list, more string) (Inbound, *Error) {
	if len(params) == 0 || params[0] != '{' {
		return nil, Errorf(CodeInvalidParams, "params must be an object with an array %q", list)
	}
	found := false
	for key, value := range rawjson.Members(params) {
		switch {
		case key == list || more != "" && key == more:
			if value[0] != '[' {
				return nil, Errorf(CodeInvalidParams, "params.%s must be an array", key)
			}
			found = true
			m.Items = slices.AppendSeq(m.Items, rawjson.Elements(value))
		case key == "tabUrl":
			m.TabURL = text(value)
		case key == "title":
			m.Title = text(value)
		case key == "extensions":
			if json.Unmarshal(value, &m.Extensions) != nil {
				return nil, Errorf(CodeInvalidParams, "params.extensions must be an object")
			}
		}
	}
	if !found {
		return nil, Errorf(CodeInvalidParams, "params.%s is missing", list)
	}
	m.Cut()
	return m, nil
}

// Cut shortens a URL or title that is too long.
func (m *Register) Cut() {
	m.TabURL = cutURL(m.TabURL)
	m.Title = cutText(m.Title, maxWireTitle)
}

// Cut shortens a URL or title that is too long.
func (m *TabState) Cut() {
	if m.URL != nil {
		*m.URL = cutURL(*m.URL)
	}
	if m.Title != nil {
		*m.Title = cutText(*m.Title, maxWireTitle)
	}
}

// maxWireTitle is what a title may have in a message; the hub cuts it to MaxTitle.
const maxWireTitle = 4096

// text returns a copy of the string that raw is, "" if it is none.
func text(raw json.RawMessage) string {
	s, _ := rawjson.String(raw)
	return strings.Clone(s)
}

// cutURL shortens a URL that is too long to one that still names the page: without
// fragment and query. It is "" if even that is too long.
func cutURL(u string) string {
	for _, sep := range []string{"#", "?"} {
		if len(u) <= MaxURI {
			return u
		}
		u, _, _ = strings.Cut(u, sep)
	}
	if len(u) > MaxURI {
		return ""
	}
	return u
}

// cutText cuts s to at most n bytes, between runes.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// unmarshalProblem says what encoding/json did not like, in words for a peer.
func unmarshalProblem(err error) string {
	if e, ok := err.(*json.UnmarshalTypeError); ok {
		return e.Field + " must be " + jsonKind(e.Type.Kind().String()) + ", not " + e.Value
	}
	return string(bytes.TrimPrefix([]byte(err.Error()), []byte("json: ")))
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
