package anypage

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tabhub/hub/offer/pack"
	"tabhub/spec"
)

// ParseTarget reads a target that is a text: a reference of a snapshot, also behind the words of its line; or a
// role, a name in quotes of JSON, "#" and a number among several, and what is around it after "in":
//
//	kfa3
//	button "Order"
//	button "Remove" in row "Tea..."
//	link #2 in navigation
//	field "Name"
//
// A field is found by its label. testdata/targets.json has examples, which the extension reads in the same way.
func ParseTarget(text string) (spec.Target, error) {
	rest := strings.TrimSpace(text)
	if pack.IsRef(rest) {
		return spec.Target{Ref: rest}, nil
	}
	var all []spec.Target // from the inside
	for {
		t, after, err := parseOne(rest)
		if err != nil {
			return spec.Target{}, fmt.Errorf(`the target %s %v; write a reference (kfa3), or role and name: button "Order", button "Remove" in row "Tea..."`, strconv.Quote(text), err)
		}
		all = append(all, t)
		if pack.IsRef(after) && len(all) == 1 {
			return spec.Target{Ref: after}, nil // a line of a snapshot
		}
		if after == "" {
			break
		}
		next, ok := strings.CutPrefix(after, "in ")
		if !ok {
			return spec.Target{}, fmt.Errorf(`the target %s has %s where " in " or the end was expected`, strconv.Quote(text), strconv.Quote(after))
		}
		rest = strings.TrimSpace(next)
	}
	out := all[len(all)-1]
	for _, t := range slices.Backward(all[:len(all)-1]) {
		around := out
		t.In = &around
		out = t
	}
	return out, nil
}

var (
	word   = regexp.MustCompile(`^[a-z]+`)
	quoted = regexp.MustCompile(`^"(?:[^"\\]|\\.)*"`)
	nth    = regexp.MustCompile(`^#(-?[1-9][0-9]{0,3})`)
)

// parseOne reads a target up to "in" or the end.
func parseOne(s string) (t spec.Target, rest string, err error) {
	role := word.FindString(s)
	switch rest = strings.TrimSpace(s[len(role):]); {
	case role == "":
		return t, "", errors.New("does not begin with a role, such as button")
	case role != "field" && !pack.IsRole(role):
		return t, "", fmt.Errorf("begins with %s, which is no role of WAI-ARIA", role)
	case role != "field":
		t.Role = role
	}
	if q := quoted.FindString(rest); q != "" {
		var name string
		if json.Unmarshal([]byte(q), &name) != nil {
			return t, "", fmt.Errorf("has %s, which is no text of JSON", q)
		}
		if name == "" {
			return t, "", errors.New("has an empty name")
		}
		if rest = strings.TrimSpace(rest[len(q):]); role == "field" {
			t.Label = name
		} else {
			t.Name = name
		}
	} else if strings.HasPrefix(rest, `"`) {
		return t, "", errors.New("lacks the quote that ends a name")
	}
	if role == "field" && t.Label == "" {
		return t, "", errors.New(`lacks the field's label: field "Name"`)
	}
	if m := nth.FindStringSubmatch(rest); m != nil {
		t.Nth, _ = strconv.Atoi(m[1])
		rest = strings.TrimSpace(rest[len(m[0]):])
	}
	return t, rest, nil
}
