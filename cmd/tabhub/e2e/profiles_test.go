package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"tabhub/spec"
)

// A person has the same site open in two profiles, signed in as two people. Each client has the one
// that it is bound to, however it asks.
func TestTwoProfiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	all := p.stdio()
	_, copied := p.writeExtension()
	profiles := map[string]*companion{}
	for _, name := range []string{"work", "personal"} {
		profiles[name] = p.companion(copied, spec.BrowserID("id-"+name), bank+"/?"+name, transferTool)
		p.succeed("browser", "name", "id-"+name, name)
	}
	all.awaitTools("both tabs are listed", func(l tools) bool {
		return slices.ContainsFunc(l.names(), func(n string) bool { return strings.Contains(n, "_tab2_transfer") })
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
		if n := len(list.names()); n != 1 {
			t.Errorf("%s is listed %q", c.own, list.names())
		}
		transfer := list.named("_transfer")
		before := profiles[c.other].calls.Load()
		for range 5 {
			if a := c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, transfer)); a.outcome() != "ok" {
				t.Errorf("%s called: %s %s", c.own, a.outcome(), a.result)
			}
		}
		for i, number := range []string{"_tab1_transfer", "_tab2_transfer"} {
			name := strings.TrimSuffix(transfer, "_transfer") + number
			a := c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, name))
			if own := (i == 0) == (c.own == "work"); own != (a.outcome() == "ok") {
				t.Errorf("%s called %s: %s %s", c.own, name, a.outcome(), a.result)
			}
		}
		if n := profiles[c.other].calls.Load() - before; n > 0 {
			t.Errorf("%d calls of %s came to %s", n, c.own, c.other)
		}
		for _, request := range []string{
			`{"name":"browser_tab","arguments":{"action":"list"}}`,
			`{"name":"proxy","arguments":{"action":"list","kind":"tool","filter":{"query":"transfer"}}}`,
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
