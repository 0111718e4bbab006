// Package quota says what gives way when something that clients share is full: something of the
// client that has most, so that a client that takes much pushes out its own.
package quota

import "iter"

// Usage is what something takes of what is shared.
type Usage struct {
	Owner  string
	Weight int
	Goes   bool // it may give way
}

// GivesWay returns what gives way: of the owner whose things weigh most together, among those with one that
// may go, the first by before. It reports false if nothing may.
func GivesWay[T any](all iter.Seq[T], share func(T) Usage, before func(a, b T) bool) (first T, ok bool) {
	weights := map[string]int{}
	for t := range all {
		s := share(t)
		weights[s.Owner] += s.Weight
	}
	most := ""
	for t := range all {
		s := share(t)
		if !s.Goes {
			continue
		}
		if !ok || weights[s.Owner] > weights[most] || s.Owner == most && before(t, first) {
			first, most, ok = t, s.Owner, true
		}
	}
	return first, ok
}
