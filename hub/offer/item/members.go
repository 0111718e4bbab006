package item

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// The hub checks objects as far as typed clients do: one that they cannot read makes them refuse the
// whole list, with the tools of all sites.

// members are the members of an object that MCP defines.
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
		return err == nil && !strings.Contains(s, ",") && timeZone.MatchString(s)
	}}
)

// timeZone matches the end of a time as clients take it: package time lets offsets of 24 hours pass.
var timeZone = regexp.MustCompile(`(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`)

// The members of MCP objects that clients check. parser checks those of itemMembers.
var (
	itemMembers = members{
		"name": {}, "title": {}, "description": {}, "icons": {}, "annotations": {}, "_meta": {}, "inputSchema": {}, "outputSchema": {}, "execution": {},
		"uri": {}, "uriTemplate": {}, "mimeType": {}, "size": {}, "arguments": {}, "frameId": {}, "origin": {}, "pack": {}, "departed": {}, "completes": {},
	}
	iconMembers           = members{"src": isString, "mimeType": isString, "sizes": isStrings, "theme": isTheme}
	promptArgumentMembers = members{"name": isString, "title": isString, "description": isString, "required": isBool}
	toolAnnotationMembers = members{
		"title": isTitle, "readOnlyHint": isBool, "destructiveHint": isBool, "idempotentHint": isBool, "openWorldHint": isBool, "cache": isBool,
		"untrustedContentHint": isBool, "consequentialHint": isBool, // WebMCP's
	}
	otherAnnotationMembers = members{"audience": isRoles, "priority": isPriority, "lastModified": isTime, "cache": isBool}
)

// validMembers returns an object with those of its members that m has (a host may do anything with
// others) and that are of their types, and tells warn what is wrong with the others. It returns nil
// for what is no object.
func validMembers(what string, v json.RawMessage, m members, warn func(error)) json.RawMessage {
	if v[0] != '{' {
		warn(fmt.Errorf("%s must be an object", what))
		return nil
	}
	return edit(v, func(key string, v json.RawMessage) json.RawMessage {
		if t, ok := m[key]; ok {
			if t.is(v) {
				return v
			}
			warn(fmt.Errorf("%s.%s must be %s", what, key, t.text))
		} else if err := checkSpelling(key, m); err != nil {
			warn(fmt.Errorf("%s: %w", what, err))
		}
		return nil
	})
}

// ignore drops a warning: of an answer nobody hears them.
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
	return v[0] == '[' && !slices.ContainsFunc(slices.Collect(rawjson.Elements(v)), func(v json.RawMessage) bool { return !is(v) })
}

func oneOf(v json.RawMessage, values ...string) bool {
	s, ok := rawjson.String(v)
	return ok && slices.Contains(values, s)
}

// appendMembers ends an object with the members of another.
func appendMembers(out []byte, object json.RawMessage) []byte {
	for key, v := range rawjson.Members(object) {
		out = rawjson.AppendMember(out, key, v)
	}
	return append(out, '}')
}
