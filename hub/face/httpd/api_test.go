package httpd

import (
	"net/http"
	"strings"
	"testing"

	"tabhub/hub/face/admin"
)

func TestAdminAPI(t *testing.T) {
	d := open(t, nil)
	search := "website_tool_demo_tabhub__search_products"
	for _, c := range []struct {
		method, path, body string
		status             int
		has                string
	}{
		{"GET", "/api/status", "", 200, `"tabs":1`},
		{"GET", "/api/tabs", "", 200, `"demo.tabhub"`},
		{"GET", "/api/doctor", "", 200, `[]`},
		{"GET", "/api/browsers", "", 200, `[`},
		{"GET", "/api/tools", "", 200, `{"name":"own",`},
		{"GET", "/api/tools", "", 200, `"name":"` + search + `","domain":"demo.tabhub"`},
		{"GET", "/api/explain?name=" + search, "", 200, `"reason":`},
		{"GET", "/api/explain?name=nonsense", "", 404, `"nearest":[`},
		{"GET", "/api/explain?name=own", "", 400, `own is a tool of the hub itself`},
		{"GET", "/api/explain", "", 400, `name is missing`},
		{"POST", "/api/call", `{"name":"` + search + `","arguments":{"query":"mug"}}`, 200, `"content":[`},
		{"POST", "/api/call", `{"name":"own"}`, 200, `"text":"own"`},
		{"POST", "/api/call", `{"name":"website_tool_demo_tabhub__search_product"}`, 404, `"nearest":["` + search},
		{"POST", "/api/call", `{"name":"` + search + `","arguments":{"query":1}}`, 200, `INVALID_ARGUMENTS`},
		{"GET", "/api/resources", "", 200, `{"name":"tabhub://demo.tabhub/shop://products/{id}","template":true,"domain":"demo.tabhub"`},
		{"GET", "/api/prompts", "", 200, `{"name":"website_prompt_demo_tabhub__choose_gift","domain":"demo.tabhub"`},
		{"GET", "/api/resource?uri=tabhub://demo.tabhub/shop://products/1", "", 200, `"uri":"tabhub://demo.tabhub/shop://products/1"}]}`},
		{"GET", "/api/resource?uri=tabhub://demo.tabhub/shop://cartt", "", 404, `"nearest":["tabhub://demo.tabhub/shop://cart"`},
		{"GET", "/api/resource", "", 400, `uri is missing`},
		{"POST", "/api/prompt", `{"name":"website_prompt_demo_tabhub__choose_gift","arguments":{"occasion":"tea"}}`, 200, `"messages":[`},
		{"POST", "/api/prompt", `{"name":"website_prompt_demo_tabhub__choose_gift"}`, 422, `occasion`},
		{"POST", "/api/prompt", `{"name":"website_prompt_demo_tabhub__choose_gift","arguments":{"occasion":1}}`, 400, `arguments`},
		{"POST", "/api/call", `{}`, 400, `name is missing`},
		{"POST", "/api/call", `{"NAME":"own"}`, 400, `name is missing`},
		{"POST", "/api/call", `[]`, 400, `not what is expected`},
		{"POST", "/api/call", `[`, 400, `not what is expected`},
		{"GET", "/api/log?event=call", "", 200, `"tool":"search_products"`},
		{"GET", "/api/tools?q=" + strings.Repeat("a+", 501), "", 400, `q has 1002 bytes; it may have 1000`},
		{"GET", "/api/log?text=" + strings.Repeat("a+", 501), "", 400, `text has 1002 bytes; it may have 1000`},
		{"GET", "/api/log?limit=0", "", 400, `1 to 10000`},
		{"GET", "/api/log?since=yesterday", "", 400, `write it as`},
		{"GET", "/api/log?event=x", "", 400, `may be`},
		{"GET", "/api/log?decision=maybe", "", 400, `allow, ask or deny`},
		{"GET", "/api/log?class=open", "", 400, `destructive, hub or relay`},
		{"GET", "/api/log?after=x", "", 400, `number of a line`},
		{"GET", "/api/log?before=x", "", 400, `number of a line`},
		{"GET", "/api/log?before=1", "", 200, `[]`},
		{"GET", "/api/log?outcome=failed&text=search", "", 200, `"outcome":"INVALID_ARGUMENTS"`},
		{"GET", "/api/log?until=2000-01-01T00:00:00Z", "", 200, `[]`},
		{"GET", "/api/log?site=nothing.example", "", 200, `[]`},
		{"GET", "/api/log?after=1&limit=1&tool=search_products&site=demo.tabhub", "", 200, `"outcome":"INVALID_ARGUMENTS"`},
		{"PUT", "/api/site", `{"domain":"demo.tabhub","cache":true,"callTimeoutMs":1500}`, 200, ``},
		{"GET", "/api/site", "", 200, `{"domain":"demo.tabhub","cache":true,"callTimeoutMs":1500}`},
		{"PUT", "/api/site", `{"domain":"demo.tabhub","callTimeoutMs":-1}`, 400, `callTimeoutMs`},
		{"PUT", "/api/site", `{}`, 400, `domain is \"\"`},
		{"PUT", "/api/site", `{"domain":"not a domain"}`, 400, `such as example.com`},
		{"GET", "/api/log?event=proxy", "", 200, `[]`},
		{"POST", "/api/stop", `{"reason":"upgrade"}`, 202, `stopping`},
		{"POST", "/api/stop", `{"reason":"why not"}`, 400, `reason`},
		{"POST", "/api/token", ``, 403, `no token that could be replaced`},
		{"GET", "/api/nothing", "", 404, `/api/nothing`},
		{"GET", "/healthz", "", 200, `"service":"tabhub"`},
		{"GET", "/readyz", "", 200, `ready`},
		{"GET", "/nothing", "", 404, `nothing at this path`},
		{"POST", "/", "", 405, `/mcp`},
		{"GET", "/attach", "", 404, `tabhub stdio`},
	} {
		status, body, h := d.ask(c.method, c.path, c.body)
		if status != c.status || !strings.Contains(body, c.has) {
			t.Errorf("%s %s %s: %d %s; want %d with %s", c.method, c.path, c.body, status, body, c.status, c.has)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: a browser may guess what this is", c.method, c.path)
		}
	}
	if why := <-d.stopped; why != "upgrade" {
		t.Errorf("stopped because of %q", why)
	}
	if status, body, _ := d.ask("POST", "/api/call", `{"name":"x"}`, "Content-Type", "text/plain"); status != http.StatusUnsupportedMediaType {
		t.Errorf("a body that a form can send was taken: %d %s", status, body)
	}
	if status, _, _ := d.ask("PUT", "/api/site", `{"domain":"`+strings.Repeat("x", 70<<10)+`"}`); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a body of 70 KiB: %d", status)
	}
}

// Over the socket that only the hub's own user can reach nothing is asked for, and a
// page has no business there.
func TestOwner(t *testing.T) {
	d := open(t, nil)
	call := `{"name":"website_tool_demo_tabhub__search_products","arguments":{"query":"mug"}}`
	for _, c := range []struct {
		method, path, body string
		headers            []string
		status             int
		has                string
	}{
		{"GET", "/api/status", "", nil, 200, `"user":"local"`},
		{"GET", "/api/tabs", "", nil, 200, `"demo.tabhub"`},
		{"GET", "/api/tabs", "", []string{"Host", "evil.example"}, 200, `"demo.tabhub"`},
		{"POST", "/api/call", call, nil, 200, `"content":[`},
		{"POST", "/api/stop", `{"reason":"stop"}`, nil, 202, `stopping`},
		{"GET", "/readyz", "", nil, 200, `ready`},
		{"GET", "/healthz", "", nil, 200, `tabhub`},
		{"GET", "/attach", "", nil, 426, `tabhub stdio`},
		// A credential that is shown must be good.
		{"GET", "/api/tabs", "", []string{"Authorization", "Bearer " + secret}, 200, `"demo.tabhub"`},
		{"GET", "/api/tabs", "", []string{"Authorization", "Bearer wrong"}, 401, `not this hub's`},
		{"POST", "/api/stop", `{"reason":"stop"}`, []string{"Authorization", "Bearer wrong"}, 401, `not this hub's`},
		// What is for others is not here.
		{"POST", "/mcp", `{}`, nil, 404, `tabhub status`},
		{"GET", "/sse", "", nil, 404, `tabhub status`},
		{"GET", "/tabs", "", nil, 404, `tabhub status`},
		// A page's request that something passes on.
		{"GET", "/api/tabs", "", []string{"Origin", "https://evil.example"}, 403, `not for web pages`},
		{"GET", "/api/tabs", "", []string{"Origin", "http://hub.sock"}, 403, `not for web pages`},
		{"GET", "/api/tabs", "", []string{"Origin", "https://app.example.com"}, 403, `not for web pages`},
		{"POST", "/api/stop", `{"reason":"stop"}`, []string{"Origin", "null", "Authorization", "Bearer " + secret}, 403, `not for web pages`},
		{"GET", "/healthz", "", []string{"Origin", "null"}, 403, `not for web pages`},
	} {
		if status, body := d.askOwner(c.method, c.path, c.body, c.headers...); status != c.status || !strings.Contains(body, c.has) {
			t.Errorf("%s %s %q: %d %s; want %d with %s", c.method, c.path, c.headers, status, body, c.status, c.has)
		}
	}
	// Nothing that a request says of itself makes it the owner's.
	if status, body, _ := d.ask("GET", "/api/tabs", "", "Authorization", "", "Host", "hub.sock"); status != 403 {
		t.Errorf("over the network: %d %s", status, body)
	}
}

// On a hub with accounts the owner may look after the process, and has no tabs.
func TestOwnerOfAccounts(t *testing.T) {
	d := open(t, func(g *GuardOptions, _ *Options) { g.Accounts = true })
	for _, c := range []struct {
		method, path, body, token string
		status                    int
		has                       string
	}{
		{"GET", "/api/status", "", "", 200, `"user":""`},
		{"GET", "/api/status", "", "", 200, `"version":"v1"`},
		{"GET", "/api/status", "", secret, 200, `"tabs":1`},
		{"GET", "/api/tabs", "", "", 401, `tabhub token mint`},
		{"GET", "/api/tabs", "", secret, 200, `"demo.tabhub"`},
		{"POST", "/api/call", `{"name":"own"}`, "", 401, `tabhub token mint`},
		{"POST", "/api/token", "", "", 401, `tabhub token mint`},
		{"GET", "/attach", "", "", 401, `tabhub token mint`},
		{"GET", "/attach", "", secret, 426, ``},
		{"GET", "/readyz", "", "", 401, `tabhub token mint`},
		{"GET", "/api/doctor", "", "", 200, `[]`},
		{"POST", "/api/stop", `{"reason":"stop"}`, "", 202, `stopping`},
	} {
		var headers []string
		if c.token != "" {
			headers = []string{"Authorization", "Bearer " + c.token}
		}
		if status, body := d.askOwner(c.method, c.path, c.body, headers...); status != c.status || !strings.Contains(body, c.has) {
			t.Errorf("%s %s, token %q: %d %s; want %d with %s", c.method, c.path, c.token, status, body, c.status, c.has)
		}
	}
	if why := <-d.stopped; why != "stop" {
		t.Errorf("stopped because of %q", why)
	}
	if status, body, _ := d.ask("POST", "/api/stop", `{"reason":"stop"}`); status != 403 {
		t.Errorf("a user has stopped the hub of others: %d %s", status, body)
	}
}

// A user of a shared hub learns nothing of its process and of the others.
func TestStatusOfAccounts(t *testing.T) {
	d := open(t, func(g *GuardOptions, o *Options) {
		g.Accounts = true
		o.API.Info = func() admin.Info {
			return admin.Info{Version: "v1", PID: 4711, DataDir: "/srv/tabhub", Addrs: []string{"10.0.0.7:3300"}, Sockets: map[string]int{"connections": 987654}}
		}
	})
	code, body, _ := d.ask("GET", "/api/status", "")
	if code != http.StatusOK || !strings.Contains(body, `"v1"`) {
		t.Fatalf("%d %s", code, body)
	}
	for _, secret := range []string{"4711", "/srv/tabhub", "10.0.0.7", "987654", "memory"} {
		if strings.Contains(body, secret) {
			t.Errorf("the status tells %s: %s", secret, body)
		}
	}
	if code, body, _ := d.ask("GET", "/api/doctor", ""); code != http.StatusForbidden {
		t.Errorf("a user's doctor: %d %s", code, body)
	}
}
