package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"tabhub/spec/rawjson"
)

// A person has the same site open in two profiles, signed in as two people. Each client has the one
// that it is bound to, however it asks.
func TestTwoProfiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	url := website(t)
	all := p.stdio()
	profile := func(name string) {
		b := p.browse()
		page := b.Open(url + "/?" + name)
		awaitUntold(t, name+" has joined", page, func() bool {
			var list []struct{ ID, Name string }
			stdout, _, _ := p.run("browser", "list", "--json")
			if json.Unmarshal([]byte(stdout), &list) != nil {
				return false
			}
			i := slices.IndexFunc(list, func(b struct{ ID, Name string }) bool { return b.ID != "" && b.Name == "" })
			if i < 0 {
				return false
			}
			_, _, exit := p.run("browser", "name", list[i].ID, name)
			return exit == 0
		})
	}
	profile("work")
	profile("personal")
	all.awaitTools("both tabs are listed", func(l tools) bool {
		return slices.ContainsFunc(l.names(), func(n string) bool { return strings.Contains(n, "_tab2_buy") })
	})
	for _, c := range []struct {
		face
		own, other string
	}{
		{p.stdio("--browser", "work"), "work", "personal"},
		{p.stdio("--browser", "personal"), "personal", "work"},
		{p.httpAt(p.token(), "/mcp?browser=work"), "work", "personal"},
	} {
		list := listTools(t, c.face)
		if n := len(list.names()); n != 4 {
			t.Errorf("%s is listed %q", c.own, list.names())
		}
		buy := list.named("_buy")
		for range 5 {
			a := c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"n":1}}`, buy))
			if at, _ := rawjson.String(rawjson.Get(a.result, "structuredContent", "at")); at != "?"+c.own {
				t.Errorf("%s bought: %s %s", c.own, a.outcome(), a.result)
			}
		}
		for i, number := range []string{"_tab1_buy", "_tab2_buy"} {
			name := strings.TrimSuffix(buy, "_buy") + number
			a := c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"n":1}}`, name))
			at, _ := rawjson.String(rawjson.Get(a.result, "structuredContent", "at"))
			if own := (i == 0) == (c.own == "work"); own && at != "?"+c.own || !own && at != "" {
				t.Errorf("%s called %s: %s %s", c.own, name, a.outcome(), a.result)
			}
		}
		for _, request := range []string{
			`{"name":"browser_tab","arguments":{"action":"list"}}`,
			`{"name":"proxy","arguments":{"action":"list","kind":"tool","filter":{"query":"buy"}}}`,
			`{"name":"browser_page","arguments":{"action":"text"}}`,
		} {
			if a := c.ask("tools/call", request); strings.Contains(string(a.result), "?"+c.other) || strings.Contains(string(a.result), `"name\":\"`+c.other) {
				t.Errorf("%s asked %s: %s", c.own, request, a.result)
			}
		}
	}
	// A session is good for the browsers that it was begun for alone.
	bound := p.httpAt(p.token(), "/mcp?browser=work")
	for path, status := range map[string]int{"/mcp": http.StatusNotFound, "/mcp?browser=personal": http.StatusNotFound, "/mcp?browser=Work": http.StatusBadRequest, "/mcp?browser=": http.StatusBadRequest} {
		resp, body, err := post(p.within(), p.url()+path, bound.header, `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`)
		if err != nil || resp.StatusCode != status {
			t.Errorf("%s: %v %s; want %d", path, err, body, status)
		}
	}
}
