package mcpserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"tabhub/hub"
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

// A visit to a page with a thousand tools must not change what clients are listed of
// other sites, and they need not hear of it.
func TestHostilePageLeavesTheListsAlone(t *testing.T) {
	h := newScripted()
	s := newServer(t, h, Options{Expose: ExposeAuto, ExposeBudget: 1000})
	for _, list := range []struct {
		kind     hub.ListKind
		method   string
		of, path string
	}{{hub.ListTools, "tools/list", "tools", "name"}, {hub.ListResources, "resources/list", "resources", "uri"}, {hub.ListTemplates, "resources/templates/list", "resourceTemplates", "uriTemplate"}, {hub.ListPrompts, "prompts/list", "prompts", "name"}} {
		c := streamTo(t, s)
		c.initialize("2025-06-18")
		element := func(site string, n, size int) string {
			return fmt.Sprintf(`{"%s":"%s_%d","_meta":{"domain":%q},"description":%q}`, list.path, site, n, "www."+site, strings.Repeat("x", size))
		}
		good := []string{element("good.com", 0, 1000), element("good.com", 1, 1000)}
		want := `{"jsonrpc":"2.0","id":1,"result":{"` + list.of + `":[` + strings.Join(good, ",") + `]}}`
		ask := `{"jsonrpc":"2.0","id":1,"method":"` + list.method + `"}`
		h.set(list.kind, good...)
		h.change(hub.Change{Tools: true, Resources: true, Prompts: true})
		if got := c.next(); !strings.Contains(got, "list_changed") {
			t.Errorf("%s: %s", list.method, got)
		}
		c.send(ask)
		c.want(want)
		for round := range 3 {
			all := slices.Clone(good)
			for i := range 1000 {
				all = append(all, element("hostile.com", i, 1000+round))
			}
			h.set(list.kind, all...)
			h.change(hub.Change{Tools: true, Resources: true, Prompts: true})
			c.send(ask)
			c.want(want) // and no notice before it
		}
	}
}
