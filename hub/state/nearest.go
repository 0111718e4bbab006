package state

import (
	"cmp"
	"slices"
	"strings"

	"tabhub/hub/agents"
	"tabhub/spec"
)

const (
	maxNearest = 3   // names that are returned
	maxSuggest = 256 // bytes of the longest name that others are compared with
	maxEdits   = 16  // more make another name
)

// Nearest returns a few names that somebody who asked for one that is nobody's may
// have meant, the nearest first, of those that by sees.
func (s *State) Nearest(by agents.By, kind spec.Kind, name string) []string {
	if len(name) > maxSuggest {
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
		d := distance(name, key.name, limit)
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

// distance returns the edit distance of a and b, or more than limit if it is more.
// Only what is near the diagonal can be within the limit, so it takes time in
// proportion to the limit: this is done for each of thousands of names.
func distance(a, b string, limit int) int {
	over := limit + 1
	if d := len(a) - len(b); d > limit || -d > limit || len(b) > maxSuggest {
		return over
	}
	var room [2 * (maxSuggest + 1)]int
	prev, row := room[:maxSuggest+1], room[maxSuggest+1:]
	for j := range len(b) + 1 {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		low, high := max(1, i-limit), min(len(b), i+limit)
		row[low-1] = over
		if low == 1 {
			row[0] = i
		}
		least := row[low-1]
		for j := low; j <= high; j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j-1]+cost, prev[j]+1, row[j-1]+1)
			least = min(least, row[j])
		}
		if least > limit {
			return over
		}
		if high < len(b) {
			row[high+1] = over // the next row looks at it
		}
		prev, row = row, prev
	}
	return prev[len(b)]
}
