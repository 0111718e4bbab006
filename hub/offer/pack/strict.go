package pack

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"tabhub/describe"
	"tabhub/naming"
	"tabhub/spec/rawjson"
)

// A pack is read by Go and by JavaScript, and by its owner. So a document has one meaning only: each
// member has its exact name and is there once, and no text holds what a reader does not see.

var rawMessage = reflect.TypeFor[json.RawMessage]()

// lines are the members whose text may have several lines.
var lines = []string{"description", "result", "take"}

// strict checks valid JSON against the type that it is to be decoded to. at is its place in the
// document. own is for steps of a client's own, which may have what packs do not.
func strict(at string, t reflect.Type, v json.RawMessage, own bool) error {
	if t == rawMessage {
		return plainJSON(at, v)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return strict(at, t.Elem(), v, own)
	case reflect.Struct, reflect.Map:
		return strictObject(at, t, v, own)
	case reflect.Slice:
		if v[0] != '[' {
			return place(at, "must be an array")
		}
		i := 0
		for e := range rawjson.Elements(v) {
			if err := strict(fmt.Sprintf("%s[%d]", at, i), t.Elem(), e, own); err != nil {
				return err
			}
			i++
		}
	case reflect.Bool:
		if v[0] != 't' && v[0] != 'f' {
			return place(at, "must be true or false")
		}
	case reflect.Int:
		if _, err := strconv.ParseInt(string(v), 10, 32); err != nil {
			return place(at, "must be an integer")
		}
	case reflect.String:
		if v[0] != '"' {
			return place(at, "must be a text")
		}
		name := at[strings.LastIndexByte(at, '.')+1:]
		s, _ := rawjson.String(v)
		if at == "script" {
			return visible(at, strings.ReplaceAll(s, "\r\n", "\n"), true)
		}
		for _, l := range lines {
			if name == l {
				return visible(at, s, true)
			}
		}
		return visible(at, s, false)
	}
	return nil
}

// strictObject is strict for an object: of a struct, or of a map.
func strictObject(at string, t reflect.Type, v json.RawMessage, own bool) error {
	if v[0] != '{' {
		return place(at, "must be an object")
	}
	seen := map[string]bool{}
	for key, value := range rawjson.Members(v) {
		to := member(at, key)
		var elem reflect.Type
		if t.Kind() == reflect.Map {
			elem = t.Elem()
			if err := memberName(at, key); err != nil {
				return err
			}
		} else if elem = fieldOf(t, key, own); elem == nil {
			return place(at, unknown(t, key, own))
		}
		if seen[key] {
			return place(to, "is there twice")
		}
		seen[key] = true
		if string(value) == "null" && elem != rawMessage {
			return place(to, "is null; leave it out")
		}
		if err := strict(to, elem, value, own); err != nil {
			return err
		}
	}
	return nil
}

// fieldOf returns the type of a struct's field by its name in JSON, nil if it has none.
func fieldOf(t reflect.Type, name string, own bool) reflect.Type {
	for f := range t.Fields() {
		if jsonName(f) == name && isMember(f, own) {
			return f.Type
		}
	}
	return nil
}

// isMember reports whether a field of a struct may be in a pack or, with own, in steps of a client's own.
func isMember(f reflect.StructField, own bool) bool { return own || f.Tag.Get("pack") != "-" }

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// unknown says that a struct has no member of a name, and which is nearest or, if none is near, which there are.
func unknown(t reflect.Type, key string, own bool) string {
	best, least := "", max(3, len(key)/3+1)
	var all []string
	for f := range t.Fields() {
		if !isMember(f, own) {
			continue
		}
		name := jsonName(f)
		all = append(all, name)
		if d := naming.Distance(strings.ToLower(key), strings.ToLower(name), least); d < least {
			best, least = name, d
		}
	}
	said := fmt.Sprintf("there is no member %s", shown(key))
	if best != "" {
		return said + fmt.Sprintf("; did you mean %q?", best)
	}
	return said + "; here may be " + strings.Join(all, ", ")
}

// plainJSON checks a value of any form.
func plainJSON(at string, v json.RawMessage) error {
	switch v[0] {
	case '"':
		s, _ := rawjson.String(v)
		return visible(at, s, true)
	case '[':
		i := 0
		for e := range rawjson.Elements(v) {
			if err := plainJSON(fmt.Sprintf("%s[%d]", at, i), e); err != nil {
				return err
			}
			i++
		}
	case '{':
		seen := map[string]bool{}
		for key, value := range rawjson.Members(v) {
			to := member(at, key)
			if err := memberName(at, key); err != nil {
				return err
			}
			if seen[key] {
				return place(to, "is there twice")
			}
			seen[key] = true
			if err := plainJSON(to, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// memberName checks a name that the document is free to choose.
func memberName(at, key string) error {
	if key == "__proto__" {
		return place(at, "has a member __proto__, which JavaScript takes for something else")
	}
	return visible(member(at, key), key, false)
}

// visible refuses a text that holds what its reader does not see.
func visible(at, s string, severalLines bool) error {
	clean := describe.CleanLines(s, math.MaxInt)
	marks := 0
	seen := []rune(clean)
	for i, r := range []rune(s) {
		if i >= len(seen) || r != seen[i] {
			return place(at, fmt.Sprintf("has the character %U, which a reader does not see", r))
		}
		if !severalLines && (r == '\n' || r == '\t') {
			return place(at, "must be one line")
		}
		if marks++; !unicode.Is(unicode.M, r) {
			marks = 0
		}
		if marks > maxMarks {
			return place(at, "has a run of combining marks")
		}
	}
	return nil
}

// maxMarks is how many combining marks may follow one another: writing needs three.
const maxMarks = 4

func member(at, key string) string {
	if len(key) > 64 {
		key = key[:64] + "…"
	}
	if at != "" {
		key = at + "." + key
	}
	return describe.Visible(key)
}

// shown quotes a text of a document for a message.
func shown(s string) string { return strconv.Quote(describe.Clean(s, 80)) }

// place returns an error about a place in the document.
func place(at, what string) error {
	if at == "" {
		return errors.New(what)
	}
	return fmt.Errorf("%s: %s", at, what)
}
