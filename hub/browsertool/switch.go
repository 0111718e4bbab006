package browsertool

import (
	"fmt"
	"slices"
	"strings"
)

// Switches are a user's choice of tools, by name; a tool without an entry is as it is
// by default.
type Switches map[string]bool

// ParseSwitches reads a list such as "-browser_page,browser_instance": a name switches
// a tool on, with a minus before it off. known are the names that there are.
func ParseSwitches(list []string, known ...string) (Switches, error) {
	s := Switches{}
	for _, entry := range list {
		name, off := strings.CutPrefix(strings.TrimSpace(entry), "-")
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("%q is none of the hub's own tools, which are %s; a minus before a name switches the tool off", name, strings.Join(known, ", "))
		}
		s[name] = !off
	}
	return s, nil
}

// On reports whether a tool is on that is so by default, or is not.
func (s Switches) On(name string, byDefault bool) bool {
	if on, ok := s[name]; ok {
		return on
	}
	return byDefault
}
