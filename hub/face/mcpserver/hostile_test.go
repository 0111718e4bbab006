package mcpserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tabhub/hub/face/mcpserver/expose"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/lists"
)

// A visit to a page with a thousand tools must not change what clients are listed of
// other sites, and they need not hear of it.
func TestHostilePageLeavesTheListsAlone(t *testing.T) {
	h := newScripted()
	s := newServer(t, h, Options{Options: methods.Options{Expose: expose.Auto, ExposeBudget: 1000}})
	for _, list := range []struct {
		kind     lists.ListKind
		method   string
		of, path string
	}{{lists.ListTools, "tools/list", "tools", "name"}, {lists.ListResources, "resources/list", "resources", "uri"}, {lists.ListTemplates, "resources/templates/list", "resourceTemplates", "uriTemplate"}, {lists.ListPrompts, "prompts/list", "prompts", "name"}} {
		c := streamTo(t, s)
		c.initialize("2025-06-18")
		element := func(site string, n, size int) string {
			return fmt.Sprintf(`{"%s":"%s_%d","_meta":{"domain":%q},"description":%q}`, list.path, site, n, "www."+site, strings.Repeat("x", size))
		}
		good := []string{element("good.com", 0, 1000), element("good.com", 1, 1000)}
		want := `{"jsonrpc":"2.0","id":1,"result":{"` + list.of + `":[` + strings.Join(good, ",") + `]}}`
		ask := `{"jsonrpc":"2.0","id":1,"method":"` + list.method + `"}`
		h.set(list.kind, good...)
		h.change(lists.Change{Tools: true, Resources: true, Prompts: true})
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
			h.change(lists.Change{Tools: true, Resources: true, Prompts: true})
			c.send(ask)
			c.want(want) // and no notice before it
		}
	}
}
