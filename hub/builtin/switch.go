package builtin

import (
	"fmt"
	"slices"
	"strings"
)

// Switches are a user's choice of tools, by name; a tool without an entry is listed as
// its Listed says.
type Switches map[string]bool

// ParseSwitches reads a list such as "-browser_page,browser_instance": a name switches a
// tool on, with a minus before it off. known are the tools that there are.
func ParseSwitches(list []string, known []Tool) (Switches, error) {
	s := Switches{}
	for _, entry := range list {
		name, off := strings.CutPrefix(strings.TrimSpace(entry), "-")
		if Find(known, name) == nil {
			return nil, fmt.Errorf("%q is none of the builtin tools, which are %s; a minus before a name switches the tool off", name, names(known))
		}
		s[name] = !off
	}
	return s, nil
}

// On reports whether the tool of a name is on; byDefault is what it is without an entry.
func (s Switches) On(name string, byDefault bool) bool {
	if on, ok := s[name]; ok {
		return on
	}
	return byDefault
}

// List returns those of all that a hub lists. lists reports whether one is listed that is
// not always so, if s does not name it.
func (s Switches) List(all []Tool, lists func(Listed) bool) []Tool {
	var on []Tool
	for _, t := range all {
		if t.Call != nil && s.On(t.Name, t.Listed == Always || lists(t.Listed)) {
			on = append(on, t)
		}
	}
	return on
}

// Find returns the tool of a name, or nil.
func Find(tools []Tool, name string) *Tool {
	if i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == name }); i >= 0 {
		return &tools[i]
	}
	return nil
}

func names(tools []Tool) string {
	all := make([]string, len(tools))
	for i, t := range tools {
		all[i] = t.Name
	}
	return strings.Join(all, ", ")
}
