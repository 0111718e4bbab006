package httpd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"tabhub/hub/state"
	"tabhub/tabtransport"
)

// joinShops joins pages to a hub, each of a site of its own, with as many tools.
func joinShops(t testing.TB, peers *tabtransport.Peers, shops, tools int) {
	t.Helper()
	for i := range shops {
		var all []string
		for k := range tools {
			all = append(all, fmt.Sprintf(`{"name":"do_%d","title":"Does %[1]d","description":"Does what it is called %d for, with all that there is to say about such a tool of such a shop","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}`, k, i))
		}
		join(t, peers, "", fmt.Sprintf("https://site%d.example/cart", i), fmt.Sprintf("Shop %d", i), nil, all...)
	}
}

// A search for a tool or a tab among many answers the part that matches, and how many there are.
func TestSearch(t *testing.T) {
	d := open(t, nil)
	joinShops(t, d.peers, 3, 4)
	tabs := d.tenant.Hub.Tabs(nil)
	i := slices.IndexFunc(tabs, func(tab state.TabInfo) bool { return tab.Title == "Shop 1" })
	inTab := "&tab=" + url.QueryEscape(string(tabs[i].Addr.Peer)+"/0")
	for _, c := range []struct {
		path, total string
		names       []string // of the part that is answered
	}{
		{"tools?q=DO_2&site=site1.example", "1", []string{"website_tool_site1_example__do_2"}},
		{"tools?q=website_tool_site1_example__do_2", "1", []string{"website_tool_site1_example__do_2"}},
		{"tools?q=" + url.QueryEscape("does 1 shop"), "6", nil}, // the name or the text has the 1
		{"tools?name=website_tool_site1_example__do_1", "1", []string{"website_tool_site1_example__do_1"}},
		{"tools?name=own", "1", []string{"own"}},
		{"tools?name=do_1", "0", []string{}},
		{"tools?q=nothing", "0", []string{}},
		{"tools?q=site2.example", "4", nil},
		{"tools?site=site0.example&offset=1&limit=2", "4", []string{"website_tool_site0_example__do_1", "website_tool_site0_example__do_2"}},
		{"tools?site=site0.example&offset=4", "4", []string{}},
		{"tools?site=site0.example&limit=0", "4", []string{}},
		{"tools?limit=2" + inTab, "4", []string{"website_tool_site1_example__do_0", "website_tool_site1_example__do_1"}},
		{"tools?tab=nobody/0", "0", []string{}},
		{"tools?q=own&limit=1", "1", []string{"own"}},
		{"tabs?q=" + url.QueryEscape("SHOP cart"), "3", nil},
		{"tabs?q=site2", "1", nil},
		{"tabs?site=site2.example", "1", nil},
		{"tabs?limit=1" + inTab, "1", nil},
		{"resources?q=shop+cart&limit=1", "1", []string{"tabhub://demo.tabhub/shop://cart"}},
		{"resources?name=" + url.QueryEscape("tabhub://demo.tabhub/shop://products/{id}"), "1", nil},
		{"prompts?site=site0.example", "0", []string{}},
	} {
		status, body, h := d.ask("GET", "/api/"+c.path, "")
		var got []struct{ Name string }
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %s", c.path, status, body)
		}
		names := []string{}
		for _, it := range got {
			names = append(names, it.Name)
		}
		if total := h.Get("Tabhub-Total"); total != c.total || c.names != nil && !slices.Equal(names, c.names) {
			t.Errorf("%s: %s of %s; want %s of %s", c.path, names, total, c.names, c.total)
		}
	}
	for _, bad := range []string{"tools?limit=x", "tools?limit=-1", "tabs?offset=-1", "tabs?tab=x"} {
		if status, body, _ := d.ask("GET", "/api/"+bad, ""); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", bad, status, body)
		}
	}
}
