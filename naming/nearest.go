package naming

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

const (
	maxNearest = 3  // names that are returned
	maxEdits   = 16 // more make another name
)

// Nearest returns a few of the known names that somebody who asked for another one may have meant, the
// nearest first.
func Nearest(asked string, known iter.Seq[string]) []string {
	if len(asked) > MaxDistance {
		return nil
	}
	type near struct {
		name string
		d    int
	}
	var best []near
	limit := min(max(len(asked)/3, 3), maxEdits)
	for name := range known {
		d := Distance(asked, name, limit)
		if asked != "" && (strings.HasPrefix(name, asked) || strings.HasSuffix(name, "_"+asked)) {
			d = 1 // cut short, or the page's own name
		}
		if d <= limit {
			best = append(best, near{name, d})
		}
	}
	slices.SortFunc(best, func(a, b near) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.name, b.name)) })
	var names []string
	for _, n := range best[:min(len(best), maxNearest)] {
		names = append(names, n.name)
	}
	return names
}
