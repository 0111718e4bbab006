package expose

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestSitesShareTheBudget(t *testing.T) {
	for _, tt := range []struct {
		name  string
		sites string // name:bytes, + if it was listed, - if it was left out
		want  string
	}{
		{"all fit", "a:100 b:400 c:500", "a b c"},
		{"one alone may use it all", "a:1000", "a"},
		{"nobody may use more", "a:1001", ""},
		{"a huge one costs the others nothing", "a:400+ b:300+ huge:100000", "a b"},
		{"one that comes does not take the place of one that is listed", "a:700+ b:600", "a"},
		{"nor does a smaller one that has more than its share", "a:580+ b:420+ c:400", "a b"},
		{"an equal share is everybody's", "hog:900+ a:100 b:300", "a b"},
		{"what small ones leave is for the others", "a:10 b:10 c:480 d:500", "a b c d"},
		{"as long as there is room", "a:10 b:10 c:600 d:700", "a b c"},
		{"once out it must fall by a fifth", "a:801-", ""},
		{"and then is listed again", "a:800-", "a"},
		{"one that was out waits behind one that was not", "a:450- b:600+", "b"},
		{"ties go by name", "b:600 a:600", "a"},
		{"nothing there", "", ""},
	} {
		var sites []cost
		was := map[string]bool{}
		for s := range strings.FieldsSeq(tt.sites) {
			name, size, _ := strings.Cut(s, ":")
			if n := len(size) - 1; size[n] == '+' || size[n] == '-' {
				was[name], size = size[n] == '+', size[:n]
			}
			c := cost{site: name}
			fmt.Sscan(size, &c.bytes)
			sites = append(sites, c)
		}
		all := len(sites)
		listed := chooseSites(sites, 1000, was)
		var got []string
		for _, name := range slices.Sorted(maps.Keys(listed)) {
			if listed[name] {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != tt.want || len(listed) != all {
			t.Errorf("%s: %v are listed of %d, want %s", tt.name, got, len(listed), tt.want)
		}
	}
}
