package httpd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"tabhub/hub/face/admin"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
	"tabhub/tabtransport/tabtest/chromium"
)

const hostileText = `</td><img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`

// offer joins a tab with tools of these names, which answer with a code.
func (d *testServer) offer(url string, names ...string) {
	d.t.Helper()
	var tools []string
	for _, name := range names {
		tool, _ := json.Marshal(map[string]any{"name": name, "description": hostileText, "inputSchema": map[string]string{"type": "object"}, "annotations": map[string]bool{"readOnlyHint": true}})
		tools = append(tools, string(tool))
	}
	d.join("Chromium 156", url, hostileText, answering(`{"content":[{"type":"text","text":"Your code is 7f3k-29xq-88ab."}]}`), tools...)
}

// openSignedIn opens a page of the dashboard that may decide.
func (d *testServer) openSignedIn(b *chromium.Browser) *chromium.Page {
	d.t.Helper()
	page := b.Open(d.signInURL(d.token.Identity()))
	page.Front()
	page.WaitFor(`document.body.dataset.view === "now"`)
	return page
}

// wantInert fails if what a page or a client has said has become a part of the page.
func wantInert(t *testing.T, page *chromium.Page) {
	t.Helper()
	if got := page.Eval(`[document.title.includes("owned"), document.querySelectorAll("main img, main script").length]`); got != `[false,0]` {
		t.Errorf("what others have said is a part of the page: %s", got)
	}
}

// The owner finds a site, says how it is treated, and forgets what it has left.
func TestSitesOnTheDashboard(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	d.leave("https://left.example/")
	d.offer("https://shop.example/", "find", "weird<b>")
	page := d.openSignedIn(chromium.Shared(t, chromium.Options{}))
	awaitView(page, "sites")
	page.WaitFor(`document.querySelector("#sites").rows.length === 3`)
	page.WaitFor(`document.querySelector("#sites").textContent.includes("last seen")`)
	page.Click("#site-search input")
	page.Type("left")
	page.WaitFor(`document.querySelector("#sites").rows.length === 1 && location.hash === "#sites?q=left&from=0"`)
	page.Click("#sites a")
	page.WaitFor(`document.querySelector("#site-name")?.textContent === "left.example"`)
	page.Click("#all-sites")
	page.WaitFor(`document.querySelector("#site-search input")?.value === "left" && document.querySelector("#sites").rows.length === 1`)
	page.Click("#site-search input")
	page.Type("zzz")
	page.WaitFor(`document.querySelector("#no-site-found").checkVisibility()`)

	awaitView(page, "sites?site=left.example")
	page.WaitFor(`document.querySelector("#site-cached button")?.checkVisibility()`)
	page.Click("#site-cached button")
	page.WaitFor(`document.querySelector("#site-cached button").textContent === "Forget?"`)
	page.Click("#site-cached button")
	page.WaitFor(`document.querySelector("#no-access").checkVisibility() && document.querySelector("#site-cached").hidden`)

	awaitView(page, "sites?site=shop.example")
	page.WaitFor(`document.querySelector("#access")?.rows.length === 2`)
	page.Eval(`document.querySelector("#site-settings [name=cache]").value = "true", document.querySelector("#site-settings [name=check]").value = "off"`)
	page.Click("#site-settings [name=timeout]")
	page.Type("45")
	page.Click("#site-settings button")
	page.WaitFor(`document.querySelector("#site-settings .answer").textContent === "Saved."`)
	if sites := d.tenant.Hub.Sites(); len(sites) != 1 || sites[0].Domain != "shop.example" || !*sites[0].Cache || sites[0].Check != "off" || sites[0].CallTimeout.Seconds() != 45 {
		t.Errorf("the settings are %+v", sites)
	}
	page.Click("#site-private")
	page.WaitFor(`document.querySelector("#site-state").textContent.includes("private")`)
	page.Click("#site-pause")
	page.WaitFor(`document.querySelector("#site-state").textContent.includes("paused") && document.querySelector("#site-pause").textContent === "Resume"`)
	page.WaitFor(`document.querySelector("#access").textContent.includes("paused this")`)
	page.Click("#site-pause")
	page.WaitFor(`!document.querySelector("#site-state").textContent.includes("paused")`)

	// A rule for one tool, in its row, and away again.
	choose := func(effect string) {
		page.Eval(fmt.Sprintf(`(s => { s.value = %q; s.dispatchEvent(new Event("change")) })(document.querySelector("[aria-label='Your rule for find']"))`, effect))
	}
	choose("deny")
	page.WaitFor(`document.querySelector("#access tr").textContent.includes("deny") && document.querySelector("#rules")?.rows.length === 1`)
	if rules := d.tenant.Hub.Rules.Policy().Document().Rules; len(rules) != 1 || rules[0].Site != "shop.example" || rules[0].Tool != "find" || rules[0].Effect != policy.Deny || rules[0].Client != "" {
		t.Errorf("the rules are %+v", rules)
	}
	choose("")
	page.WaitFor(`document.querySelector("#no-rules").checkVisibility()`)
	// And one by the form, which knows the site.
	page.Click("#rule-form [name=tool]")
	page.Type("weird*")
	page.Click("#rule-form button:not([type])")
	page.WaitFor(`document.querySelector("#rules").rows.length === 1 && document.querySelector("#rules").textContent.includes("weird*")`)

	// A call shows up by itself.
	if status, body, _ := d.ask("POST", "/api/call", `{"name":"website_tool_shop_example__find","arguments":{}}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	page.WaitFor(`document.querySelector("#calls").textContent.includes("shop.example · find")`)
	wantInert(t, page)
	if got := page.Eval(`document.querySelector("#in-record").hash`); got != `"#record?site=shop.example"` {
		t.Errorf("the record is at %s", got)
	}
}

// The owner sees the connected clients, pauses one, and narrows what it
// may do.
func TestClientsOnTheDashboard(t *testing.T) {
	t.Parallel()
	clients := newClients(t)
	d := openSignIn(t, func(g *GuardOptions, o *Options) {
		g.Verifier, o.API.Clients = &auth.Hub{Owner: g.Verifier, Clients: clients}, clients
		o.API.Connect = func() []admin.Connectable {
			return []admin.Connectable{{
				Name: "cursor", Title: "Cursor", After: "Switch it on.",
				Start: &admin.Connect{Line: "tabhub install cursor", Entry: `{"mcpServers":{}}`},
				URL:   &admin.Connect{Entry: `{"url":"http://127.0.0.1/mcp"}`}, Links: []admin.ConnectLink{{Title: "Cursor", HRef: "cursor://anysphere.cursor-deeplink/mcp/install?name=tabhub"}},
			}}
		}
	})
	made := d.mint(`{"name":"claude","kind":"token"}`)
	name, _ := json.Marshal(hostileText)
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":` + string(name) + `,"version":"7.1"}}}`
	as := []string{"Authorization", "Bearer " + made.Token, "Accept", "application/json, text/event-stream"}
	page := d.openSignedIn(chromium.Shared(t, chromium.Options{}))
	awaitView(page, "clients")
	page.WaitFor(`document.querySelector("#clients").textContent.includes("not connected")`)
	_, _, header := d.ask("POST", "/mcp", initialize, as...)
	page.WaitFor(`document.querySelector("#clients").textContent.includes("http · MCP 2025-06-18")`) // by itself
	page.WaitFor(`document.querySelector("#clients").textContent.includes("7.1")`)
	awaitView(page, "now")
	page.WaitFor(`document.querySelector("#count-clients").textContent === "1"`) // though nothing of it is under way
	awaitView(page, "clients")

	// How to connect another one.
	page.Click("#connect summary")
	page.WaitFor(`document.querySelector("#connect pre").checkVisibility()`)
	if got := page.Eval(`[...document.querySelectorAll("#connect pre")].map(e => e.textContent)`); got != `["tabhub install cursor","{\"mcpServers\":{}}","{\"url\":\"http://127.0.0.1/mcp\"}"]` {
		t.Errorf("to copy: %s", got)
	}
	if got := page.Eval(`document.querySelector("#connect a").href`); !strings.HasPrefix(got, `"cursor://`) {
		t.Errorf("the link is %s", got)
	}
	if page.Eval(`document.body.textContent.includes("`+made.Token+`")`) != "false" {
		t.Error("a token is on the page")
	}

	page.Click("#clients a")
	page.WaitFor(`document.querySelector("#sessions")?.textContent.includes("7.1")`)
	call := func() string {
		_, body, _ := d.ask("POST", "/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"`+searchTool+`","arguments":{"query":"mug"}}}`, append(as, "Mcp-Session-Id", header.Get("Mcp-Session-Id"))...)
		return body
	}
	page.Click("#client-pause")
	page.WaitFor(`document.querySelector("#client-state").textContent.includes("paused")`)
	if got := call(); !strings.Contains(got, "PAUSED") {
		t.Errorf("a call while its client is paused: %s", got)
	}
	page.Click("#client-pause")
	page.WaitFor(`!document.querySelector("#client-state").textContent.includes("paused")`)
	call()
	page.WaitFor(`document.querySelector("#calls").textContent.includes("search_products")`)

	// What it may not use any more, it does not see.
	page.Click("#tool-search input")
	page.Type("search_prod")
	page.WaitFor(`document.querySelector("#access").rows.length === 1`)
	page.Eval(`(s => { s.value = "deny"; s.dispatchEvent(new Event("change")) })(document.querySelector("#access select"))`)
	page.WaitFor(`document.querySelector("#no-access").checkVisibility() && document.querySelector("#rules").rows.length === 1`)
	if got := call(); !strings.Contains(got, "unknown tool") && !strings.Contains(got, "DENIED") {
		t.Errorf("a call of what its client may not use: %s", got)
	}
	wantInert(t, page)
	awaitView(page, "clients?client=nobody")
	page.WaitFor(`document.querySelector("#client-state")?.textContent.includes("its access has ended")`)
}
