package item

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// What is passed on is checked as far as typed clients check it: an object that
// they cannot read makes them refuse the whole list, all sites' tools with it.

// members are those of an object that have a type.
type members map[string]memberType

// memberType is what a member must be; text says it after "must be".
type memberType struct {
	text string
	is   func(v json.RawMessage) bool
}

var (
	isString = memberType{"a string", func(v json.RawMessage) bool { return v[0] == '"' }}
	isBool   = memberType{"true or false", func(v json.RawMessage) bool { return v[0] == 't' || v[0] == 'f' }}
	isSize   = memberType{"a number of bytes", func(v json.RawMessage) bool {
		_, err := strconv.ParseUint(string(v), 10, 53)
		return err == nil
	}}
	isTitle   = memberType{fmt.Sprintf("a string of at most %d bytes", spec.MaxTitle), func(v json.RawMessage) bool { return v[0] == '"' && len(v) <= spec.MaxTitle }}
	isStrings = memberType{"an array of strings", func(v json.RawMessage) bool { return each(v, isString.is) }}
	isTheme   = memberType{`"light" or "dark"`, func(v json.RawMessage) bool { return oneOf(v, "light", "dark") }}
	isRoles   = memberType{`an array of "user" and "assistant"`, func(v json.RawMessage) bool {
		return each(v, func(v json.RawMessage) bool { return oneOf(v, "user", "assistant") })
	}}
	isPriority = memberType{"a number from 0 to 1", func(v json.RawMessage) bool {
		f, err := strconv.ParseFloat(string(v), 64)
		return err == nil && f >= 0 && f <= 1
	}}
	isTime = memberType{"a time such as 2025-01-12T15:00:58Z", func(v json.RawMessage) bool {
		s, _ := rawjson.String(v)
		_, err := time.Parse(time.RFC3339, s)
		return err == nil && !strings.Contains(s, ",")
	}}
)

// The members of MCP objects that clients check. Those of itemMembers and
// schemaMembers are checked where they are read.
var (
	itemMembers = members{
		"name": {}, "title": {}, "description": {}, "icons": {}, "annotations": {}, "_meta": {}, "inputSchema": {}, "outputSchema": {}, "execution": {},
		"uri": {}, "uriTemplate": {}, "mimeType": {}, "size": {}, "arguments": {}, "frameId": {}, "origin": {}, "departed": {}, "completes": {},
	}
	schemaMembers         = members{"type": {}, "properties": {}, "required": {}, "$defs": {}, "additionalProperties": {}}
	iconMembers           = members{"src": isString, "mimeType": isString, "sizes": isStrings, "theme": isTheme}
	promptArgumentMembers = members{"name": isString, "title": isString, "description": isString, "required": isBool}
	toolAnnotationMembers = members{
		"title": isTitle, "readOnlyHint": isBool, "destructiveHint": isBool, "idempotentHint": isBool, "openWorldHint": isBool, "cache": isBool,
		"untrustedContentHint": isBool, "consequentialHint": isBool, // WebMCP's
	}
	otherAnnotationMembers = members{"audience": isRoles, "priority": isPriority, "lastModified": isTime, "cache": isBool}
)

// validMembers returns an object with those of its members that m has (nobody knows
// what a host would do with others) and that are of their types, and tells warn what is
// wrong with the others. What is no object is nil.
func validMembers(what string, v json.RawMessage, m members, warn func(error)) json.RawMessage {
	if v[0] != '{' {
		warn(fmt.Errorf("%s must be an object", what))
		return nil
	}
	out := append(make([]byte, 0, len(v)), '{')
	dropped := false
	for key, v := range rawjson.Members(v) {
		t, ok := m[key]
		if ok && t.is(v) {
			out = append(appendKey(out, key), v...)
			continue
		}
		dropped = true
		if ok {
			warn(fmt.Errorf("%s.%s must be %s", what, key, t.text))
		} else if err := checkSpelling(key, m); err != nil {
			warn(fmt.Errorf("%s: %w", what, err))
		}
	}
	if !dropped {
		return v
	}
	return append(out, '}')
}

// ignore is told what is wrong with what a page answers, where nobody is to be told.
func ignore(error) {}

// checkSpelling refuses a name that clients which ignore case take for a member.
func checkSpelling(key string, m members) error {
	if _, ok := m[key]; ok {
		return nil
	}
	for name := range m {
		if strings.EqualFold(key, name) {
			return fmt.Errorf("%.40q must be spelled %q", key, name)
		}
	}
	return nil
}

func each(v json.RawMessage, is func(json.RawMessage) bool) bool {
	if v[0] != '[' {
		return false
	}
	for v := range rawjson.Elements(v) {
		if !is(v) {
			return false
		}
	}
	return true
}

func oneOf(v json.RawMessage, values ...string) bool {
	s, ok := rawjson.String(v)
	return ok && slices.Contains(values, s)
}

// objectSchema returns a schema, which is valid JSON, as clients require it: for an
// object, with its type written out, and with objects for the schemas of properties,
// where JSON Schema allows true and false, too.
func objectSchema(v json.RawMessage) (json.RawMessage, error) {
	if v[0] != '{' {
		return nil, errors.New("must be an object")
	}
	typed, mend := false, false
	for key, v := range rawjson.Members(v) {
		if err := checkSpelling(key, schemaMembers); err != nil {
			return nil, err
		}
		switch key {
		case "type":
			if string(v) != `"object"` {
				return nil, fmt.Errorf(`type must be "object", not %.40s`, v)
			}
			typed = true
		case "properties":
			for _, v := range rawjson.Members(v) {
				mend = mend || isBool.is(v)
			}
		}
	}
	if typed && !mend {
		return v, nil
	}
	out := mapMembers(v, func(key string, v json.RawMessage) json.RawMessage {
		if key != "properties" || v[0] != '{' {
			return v
		}
		return mapMembers(v, func(_ string, v json.RawMessage) json.RawMessage {
			switch string(v) {
			case "true":
				return json.RawMessage("{}")
			case "false":
				return json.RawMessage(`{"not":{}}`)
			}
			return v
		})
	})
	if !typed {
		out = appendMembers([]byte(`{"type":"object"`), out)
	}
	return out, nil
}

// mapMembers returns an object with what f makes of each of its members; nil takes one out.
func mapMembers(object json.RawMessage, f func(key string, v json.RawMessage) json.RawMessage) json.RawMessage {
	out := append(make([]byte, 0, len(object)+64), '{')
	for key, v := range rawjson.Members(object) {
		if v = f(key, v); v != nil {
			out = append(appendKey(out, key), v...)
		}
	}
	return append(out, '}')
}

// appendMembers ends an object with the members of another.
func appendMembers(out []byte, object json.RawMessage) []byte {
	for key, v := range rawjson.Members(object) {
		out = append(appendKey(out, key), v...)
	}
	return append(out, '}')
}

// checkTokens refuses what is valid JSON but more than many clients can read: a
// number out of the range of a float64, and half of a surrogate pair.
func checkTokens(v json.RawMessage) error {
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '"':
			end, err := checkString(v, i+1)
			if err != nil {
				return err
			}
			i = end
		case c == '-' || c >= '0' && c <= '9':
			end := i + 1
			for end < len(v) && strings.IndexByte("+-.eE0123456789", v[end]) >= 0 {
				end++
			}
			if _, err := strconv.ParseFloat(string(v[i:end]), 64); err != nil {
				return fmt.Errorf("the number %.40s is out of range", v[i:end])
			}
			i = end - 1
		}
	}
	return nil
}

// checkString returns the index of the quote that ends the string whose inside
// begins at v[i].
func checkString(v json.RawMessage, i int) (int, error) {
	for v[i] != '"' {
		switch {
		case v[i] != '\\':
			i++
		case v[i+1] != 'u':
			i += 2
		default:
			r := codeUnit(v[i:])
			i += 6
			if !utf16.IsSurrogate(r) {
				continue
			}
			if v[i] != '\\' || v[i+1] != 'u' || utf16.DecodeRune(r, codeUnit(v[i:])) == unicode.ReplacementChar {
				return 0, errors.New("a string holds half of a surrogate pair")
			}
			i += 6
		}
	}
	return i, nil
}

// codeUnit returns what the escape \uXXXX at the start of v stands for.
func codeUnit(v json.RawMessage) rune {
	u, _ := strconv.ParseUint(string(v[2:6]), 16, 16)
	return rune(u)
}
