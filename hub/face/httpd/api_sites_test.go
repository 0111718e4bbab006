package httpd

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"tabhub/hub/face/admin"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// leave joins a tab of a site, which asks for its tool to be cached, and closes it.
func (d *testServer) leave(url string) {
	d.t.Helper()
	local := d.join("Firefox 150", url, "left", nil, `{"name":"left","description":"what is left","inputSchema":{"type":"object"},"annotations":{"cache":true,"readOnlyHint":true}}`)
	local.Send(1, &spec.TabClosed{})
}

// list gets a list of the API.
func list[T any](d *testServer, path string) (all []T, total string) {
	d.t.Helper()
	status, body, header := d.ask("GET", path, "")
	if err := json.Unmarshal([]byte(body), &all); err != nil || status != http.StatusOK {
		d.t.Fatalf("%s: %d %s", path, status, body)
	}
	return all, header.Get("Tabhub-Total")
}

// A site is known that is open, that has left tools, of which the record has calls, or about which the owner
// has said something; what it has left can be forgotten.
func TestSitesAPI(t *testing.T) {
	d := open(t, nil)
	d.leave("https://left.example/")
	used := time.Now().Add(-time.Hour)
	d.tenant.Hub.Core.Record(record.Entry{Time: used, Event: record.Call, Domain: "used.example", Tool: "x", Outcome: "ok"})
	for _, c := range [][3]string{
		{"PUT", "/api/site", `{"domain":"set.example","check":"off"}`},
		{"PUT", "/api/policy/private", `{"site":"mail.example","private":true}`},
		{"PUT", "/api/policy/private", `{"site":"*.bank.example","private":true}`},
		{"POST", "/api/policy/rule", `{"effect":"deny","site":"ruled.example","tool":"x"}`},
		{"POST", "/api/policy/rule", `{"effect":"deny","site":"verified","tool":"x"}`},
		{"POST", "/api/pause", `{"site":"paused.example"}`},
	} {
		if status, body := d.askOwner(c[0], c[1], c[2]); status != http.StatusOK {
			t.Fatalf("%s: %d %s", c[1], status, body)
		}
	}
	sites, total := list[admin.KnownSite](d, "/api/sites")
	known := map[spec.Domain]admin.KnownSite{}
	for _, s := range sites {
		known[s.Domain] = s
	}
	if s := known["used.example"]; !s.LastUsed.Equal(used) || s.Calls != 1 || s.Tabs != 0 {
		t.Errorf("the one that is in the record alone: %+v", s)
	}
	if len(sites) != 7 || total != "7" {
		t.Errorf("%s sites: %+v", total, sites)
	}
	if s := known["demo.tabhub"]; s.Tabs != 1 || s.Tools == 0 || s.Cached != 0 {
		t.Errorf("the open one: %+v", s)
	}
	if s := known["left.example"]; s.Tabs != 0 || s.Tools != 0 || s.Cached != 1 || time.Since(s.CachedAt) > time.Minute {
		t.Errorf("the cached one: %+v", s)
	}
	if s := known["set.example"]; s.Check != "off" {
		t.Errorf("the one with settings: %+v", s)
	}
	if !known["mail.example"].Private || known["ruled.example"].Rules != 1 || !known["paused.example"].Paused {
		t.Errorf("%+v", known)
	}
	if sites, total := list[admin.KnownSite](d, "/api/sites?q=E.EX&offset=1&limit=1"); len(sites) != 0 || total != "0" {
		t.Errorf("none has it: %s %v", total, sites)
	}
	if sites, total := list[admin.KnownSite](d, "/api/sites?q=ED.ex&offset=1&limit=1"); len(sites) != 1 || total != "3" || sites[0].Domain != "ruled.example" {
		t.Errorf("a part: %s %+v", total, sites)
	}
	if sites, total := list[admin.KnownSite](d, "/api/sites?site=left.example"); len(sites) != 1 || total != "1" || sites[0].Domain != "left.example" {
		t.Errorf("one by its name: %s %+v", total, sites)
	}
	if status, body, _ := d.ask("GET", "/api/sites?limit=many", ""); status != http.StatusBadRequest || !strings.Contains(body, "limit") {
		t.Errorf("%d %s", status, body)
	}

	access, _ := list[admin.ToolReport](d, "/api/tools?client=any&site=left.example")
	if len(access) != 1 || access[0].Source != "left" || !access[0].Cached || access[0].Class.String() != "read" || access[0].Effect.String() != "allow" {
		t.Errorf("%+v", access)
	}
	if status, body, _ := d.ask("DELETE", "/api/site/cache?site=left.example", ""); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	if status, _, _ := d.ask("DELETE", "/api/site/cache?site=left.example", ""); status != http.StatusNotFound {
		t.Errorf("it is forgotten twice: %d", status)
	}
	if access, _ := list[admin.ToolReport](d, "/api/tools?client=any&site=left.example"); len(access) != 0 {
		t.Errorf("still there: %+v", access)
	}
}

// What a client may do with tools is what the policy says of it, and what it is not to know of
// is not among what it sees.
func TestAccessAPI(t *testing.T) {
	d, _ := openWithClients(t)
	made := d.mint(`{"name":"reader","kind":"token","scope":{"classes":["read"]}}`)
	if status, body := d.askOwner("POST", "/api/policy/rule", `{"effect":"deny","client":"reader","site":"demo.tabhub","tool":"search_products"}`); status != http.StatusOK {
		t.Fatal(body)
	}
	all, total := list[admin.ToolReport](d, "/api/tools?client="+made.ID)
	shown, few := list[admin.ToolReport](d, "/api/tools?shown&client="+made.ID)
	if total == few || len(all) <= len(shown) || all[0].Name != "own" {
		t.Errorf("%s tools, of which it sees %s: %+v", total, few, all)
	}
	for _, a := range shown {
		if a.Effect.String() == "deny" {
			t.Errorf("it sees %+v", a)
		}
	}
	one, _ := list[admin.ToolReport](d, "/api/tools?q=search_prod&client=reader")
	if len(one) != 1 || one[0].Effect.String() != "deny" || one[0].Rule == nil || one[0].Words == "" {
		t.Errorf("the denied one: %+v", one)
	}
	if words, _ := list[admin.ToolReport](d, "/api/tools?q=products+search&client=reader"); len(words) != 1 {
		t.Errorf("by two words: %+v", words)
	}
	any, _ := list[admin.ToolReport](d, "/api/tools?client=any&q=search_prod&site=demo.tabhub")
	if len(any) != 1 || any[0].Effect.String() != "allow" {
		t.Errorf("for others: %+v", any)
	}
	if status, _, _ := d.ask("GET", "/api/tools?client=nobody", ""); status != http.StatusBadRequest {
		t.Errorf("of nobody: %d", status)
	}
}

// A client that is connected is shown with how it is, and what it has called.
func TestSessionsAPI(t *testing.T) {
	d := open(t, nil)
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"<b>x</b>","version":"7"}}}`
	_, _, header := d.ask("POST", "/mcp", initialize, "Accept", "application/json, text/event-stream")
	session := header.Get("Mcp-Session-Id")
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + searchTool + `","arguments":{"query":"mug"}}}`
	if status, body, _ := d.ask("POST", "/mcp", call, "Accept", "application/json, text/event-stream", "Mcp-Session-Id", session); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	all, _ := list[admin.ClientSession](d, "/api/sessions")
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	if s := all[0]; s.Client != "token" || s.Said != "<b>x</b>" || s.Version != "7" || s.Transport != "http" || s.Protocol != "2025-06-18" || !s.Connected || s.Calls != 1 || s.Last.IsZero() {
		t.Errorf("%+v", s)
	}
	if status, _, _ := d.ask("DELETE", "/mcp", "", "Mcp-Session-Id", session); status != http.StatusNoContent {
		t.Fatal(status)
	}
	all, _ = list[admin.ClientSession](d, "/api/sessions")
	if len(all) != 1 || all[0].Connected || all[0].Calls != 1 {
		t.Errorf("one that has called and left: %+v", all)
	}
}

// How clients are connected holds no secret; users of a hub with accounts are not told of the
// hub's own machine.
func TestConnectAPI(t *testing.T) {
	connect := func() []admin.Connectable {
		return []admin.Connectable{{Name: "cursor", Start: &admin.Connect{Line: "/opt/tabhub install cursor"}, URL: &admin.Connect{Line: "http://x/mcp"}}}
	}
	for _, accounts := range []bool{false, true} {
		d := open(t, func(g *GuardOptions, o *Options) { g.Accounts, o.API.Connect = accounts, connect })
		all, _ := list[admin.Connectable](d, "/api/connect")
		if len(all) != 1 || all[0].URL == nil || (all[0].Start == nil) != accounts {
			t.Errorf("accounts %v: %+v", accounts, all)
		}
	}
}
