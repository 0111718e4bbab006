package state

import (
	"cmp"
	"slices"
	"strings"

	"tabhub/hub/agents"
	"tabhub/naming"
	"tabhub/spec"
)

const (
	maxNearest = 3  // names that are returned
	maxEdits   = 16 // more make another name
)

// Nearest returns a few names that somebody who asked for one that is nobody's may
// have meant, the nearest first, of those that by sees.
func (s *State) Nearest(by agents.By, kind spec.Kind, name string) []string {
	if len(name) > naming.MaxDistance {
		return nil
	}
	type near struct {
		name string
		d    int
	}
	var best []near
	limit := min(max(len(name)/3, 3), maxEdits)
	for key, b := range s.names {
		if key.kind != kind || b.entry == nil || b.provider != nil {
			continue
		}
		d := naming.Distance(name, key.name, limit)
		if name != "" && (strings.HasPrefix(key.name, name) || strings.HasSuffix(key.name, "_"+name)) {
			d = 1 // cut short, or the page's own name
		}
		if d <= limit && b.seenBy(s, by) {
			best = append(best, near{key.name, d})
		}
	}
	slices.SortFunc(best, func(a, b near) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.name, b.name)) })
	var names []string
	for _, n := range best[:min(len(best), maxNearest)] {
		names = append(names, n.name)
	}
	return names
}
