package hub

import (
	"cmp"
	"slices"
	"strings"

	"tabhub/naming"
	"tabhub/spec"
)

// lookupLocked returns what a run's name stands for; nil if it is nobody's. The
// name of a tab that is gone is still its own while the domain offers the item.
func (h *Hub) lookupLocked(r *run) *binding {
	b := h.boundLocked(r.kind, r.name)
	if b == nil && r.kind == spec.KindResource {
		b = h.escapedLocked(r.name)
	}
	if b == nil && r.kind == spec.KindResource {
		b, r.page = h.matchTemplateLocked(r.name)
		return b
	}
	if b == nil {
		return nil
	}
	r.page = b.id.Item
	if b.offer == nil && (b.id.Tab == 0 || b.domain.offers[b.id.Kind][b.id.Item] == nil) {
		return nil
	}
	return b
}

// boundLocked returns what a public name stands for, or nil. A name that an identity
// had and no longer has stands for it still.
func (h *Hub) boundLocked(kind spec.Kind, name string) *binding {
	b := h.names[publicName{kind, name}]
	if b != nil && b.offer == nil {
		return h.renamedLocked(name, b)
	}
	return b
}

// escapedLocked returns the resource whose URI a client's parser has turned into uri.
func (h *Hub) escapedLocked(uri string) *binding {
	if !strings.Contains(uri, "%") {
		return nil
	}
	uri = naming.Escaped(uri)
	for key, b := range h.names {
		if key.kind != spec.KindResource || strings.Contains(key.name, "{") {
			continue // not a template
		}
		if e := naming.Escaped(key.name); e == uri && e != key.name {
			return b
		}
	}
	return nil
}

// unknownLocked makes the error for a name that is nobody's.
func (h *Hub) unknownLocked(kind spec.Kind, name string) error {
	err := &UnknownError{Kind: kind, Name: name}
	type near struct {
		name string
		d    int
	}
	var best []near
	limit := min(max(len(name)/3, 3), maxEdits)
	if len(name) <= maxSuggest {
		for key, b := range h.names {
			if key.kind != kind || b.offer == nil || b.holder != nil {
				continue
			}
			d := distance(name, key.name, limit)
			if name != "" && (strings.HasPrefix(key.name, name) || strings.HasSuffix(key.name, "_"+name)) {
				d = 1 // cut short, or the page's own name
			}
			if d <= limit {
				best = append(best, near{key.name, d})
			}
		}
	}
	slices.SortFunc(best, func(a, b near) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.name, b.name)) })
	for _, n := range best[:min(len(best), 3)] {
		err.Nearest = append(err.Nearest, n.name)
	}
	return err
}

const (
	maxSuggest = 256 // bytes of the longest name that others are compared with
	maxEdits   = 16  // more make another name
)

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
