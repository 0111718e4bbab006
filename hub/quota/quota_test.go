package quota

import (
	"slices"
	"testing"
)

type thing struct {
	name, owner string
	weight      int
	stays       bool
	at          int
}

// A client that takes much pushes out its own, and what is in use stays.
func TestGivesWay(t *testing.T) {
	for _, tt := range []struct {
		name string
		all  []thing
		want string
	}{
		{"nothing", nil, ""},
		{"all are in use", []thing{{"a", "ann", 1, true, 1}}, ""},
		{"the oldest of the one that has most", []thing{{"a", "ann", 1, false, 1}, {"b1", "bob", 1, false, 3}, {"b2", "bob", 1, false, 2}}, "b2"},
		{"the one that has most by weight", []thing{{"a", "ann", 9, false, 5}, {"b1", "bob", 1, false, 3}, {"b2", "bob", 1, false, 2}}, "a"},
		{"what is in use counts, and stays", []thing{{"a", "ann", 1, false, 1}, {"b1", "bob", 5, true, 2}, {"b2", "bob", 1, false, 9}}, "b2"},
		{"the one that has most has nothing that may go", []thing{{"a", "ann", 1, false, 1}, {"b", "bob", 5, true, 2}}, "a"},
	} {
		got, ok := GivesWay(slices.Values(tt.all), func(x thing) Usage { return Usage{x.owner, x.weight, !x.stays} }, func(a, b thing) bool { return a.at < b.at })
		if got.name != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: %q gives way, want %q", tt.name, got.name, tt.want)
		}
	}
}
