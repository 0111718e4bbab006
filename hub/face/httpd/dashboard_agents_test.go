package httpd

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/call"
	"tabhub/hub/face/admin"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// agent is a run of a client that has a session.
func agent(client, session string) *consent.Caller {
	return &consent.Caller{Principal: &policy.Principal{ID: "c-" + client, Name: client}, Said: "said-" + client, Session: session}
}

// claim has an agent hold the only tab of a browser that join has joined.
func (d *testServer) claim(by *consent.Caller, address, name string) spec.TabAddr {
	d.t.Helper()
	at := spec.TabAddr{Peer: spec.PeerID("browser:" + address), Tab: 1}
	if _, err := d.tenant.Hub.Agents.Claim(d.t.Context(), by, at, agents.Terms{Name: name, TTL: time.Hour}, nil); err != nil {
		d.t.Fatal(err)
	}
	return at
}

// The owner sees which agent is at work in which tab, that a call waits while they use it
// themselves, and can end the lease.
func TestOwnerSeesAgentsAndFreesTheirTabs(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	const shop, hostile = "https://shop.example/", `<img src=x onerror=alert(1)>`
	tab := d.join("Chromium 141", shop, "The shop", answering(`{"content":[]}`), `{"name":"buy"}`)
	page := d.openDashboard()
	awaitView(page, "clients")
	page.WaitFor(`document.querySelector("#no-agents").checkVisibility()`)

	claude := agent("claude", "s1")
	gone := d.tenant.Hub.Owner.Connected(claude)
	defer gone(true)
	at := d.claim(claude, shop, hostile)
	page.WaitFor(`document.querySelector("#agents button")?.checkVisibility()`)
	text := page.Eval(`document.querySelector("#agents tr").innerText`)
	for _, want := range []string{"claude", "connected", "The shop", "leases it as claude (" + hostile + ")", "shop.example"} {
		if !strings.Contains(text, want) {
			t.Errorf("the agent's row %s does not say %q", text, want)
		}
	}

	// User input, and the call that waits for it.
	use := func(inUse bool) { tab.Send(1, &spec.TabState{InUse: &inUse}) }
	use(true)
	page.WaitFor(`document.querySelector("#agents .chip.wait")?.textContent === "in use by you"`)
	done := make(chan error, 1)
	go func() {
		_, err := d.tenant.Hub.Calls.Call(t.Context(), call.Request{Name: "website_tool_shop_example__buy", Args: json.RawMessage(`{}`), By: claude})
		done <- err
	}()
	page.WaitFor(`document.querySelector("#agents .chip.wait")?.textContent === "waiting for you"`)
	awaitView(page, "now")
	page.WaitFor(`document.querySelector("#calls .chip")?.textContent === "waiting for you" && document.querySelector("#calls").textContent.includes("claude waits for you to finish")`)
	awaitView(page, "tabs?tab=browser:"+shop+"/1")
	page.WaitFor(`document.querySelector("#open .facts")?.textContent.includes("waits for you to finish")`)
	if got := page.Eval(`document.querySelector("#found").textContent`); !strings.Contains(got, "leased by claude ("+hostile+")") {
		t.Errorf("the list of tabs: %s", got)
	}
	use(false)
	if err := <-done; err != nil {
		t.Error(err)
	}
	page.WaitFor(`document.querySelector("#open .facts").textContent.includes("Leased") && !document.querySelector("#open .facts").textContent.includes("waits for you")`)

	// The owner ends the lease.
	page.Click("#open .facts button")
	page.WaitFor(`document.querySelector("#toasts").textContent.includes("no longer leases the tab") && !document.querySelector("#open .facts").textContent.includes("Leased")`)
	if holder := d.tenant.Hub.Agents.Holder(at); holder != nil {
		t.Errorf("it is still %v", holder)
	}
	d.claim(claude, shop, "shopping")
	awaitView(page, "clients?client=c-claude")
	page.WaitFor(`document.querySelector("#agents")?.textContent.includes("shopping")`)
	page.Click("#agents button")
	page.WaitFor(`document.querySelector("#agents")?.textContent.includes("its calls go there") && !document.querySelector("#agents button")`)
	if got := page.Eval(`document.querySelectorAll("main img").length`); got != "0" {
		t.Error("what an agent calls itself has become a part of the page")
	}
}

// Many agents with many tabs are answered a page at a time, and a few tabs of each.
func TestManyAgents(t *testing.T) {
	d := open(t, nil)
	d.joinMany(60)
	for i := range 200 {
		by := agent(fmt.Sprintf("client-%03d", i), "s")
		for n := range 60 {
			if err := d.tenant.Hub.Agents.Use(t.Context(), by, spec.TabAddr{Peer: spec.PeerID(fmt.Sprintf("browser:https://site-%d.example/", n)), Tab: 1}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, body, header := d.ask("GET", "/api/lease?limit=50&tabs=6", "")
	var page []admin.AgentReport
	if err := json.Unmarshal([]byte(body), &page); err != nil || len(page) != 50 || len(page[0].Tabs) != 6 || page[0].AllTabs != 60 || header.Get("Tabhub-Total") != "200" || len(body) > 200_000 {
		t.Errorf("%d bytes, %d of %s agents, %v", len(body), len(page), header.Get("Tabhub-Total"), err)
	}
	for _, query := range []string{"tabs=-1", "tabs=x", "limit=x"} {
		if status, body, _ := d.ask("GET", "/api/lease?"+query, ""); status != 400 || !strings.Contains(body, "number") {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
}

// joinMany joins browsers with a tab each, of as many sites.
func (d *testServer) joinMany(n int) {
	d.t.Helper()
	for i := range n {
		d.join("Chromium 141", fmt.Sprintf("https://site-%d.example/", i), fmt.Sprintf("Site %d", i), answering(`{"content":[]}`), `{"name":"do"}`)
	}
}

// The owner names a browser on the dashboard, gives it another name, and takes that away; a client
// that is bound to the name says so.
func TestBrowserIsNamedOnTheDashboard(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	d.join("Chromium 141", "https://shop.example/", "The shop", nil, `{"name":"buy"}`)
	page := d.viewTabs("")
	page.WaitFor(`document.querySelector("#named-browser option")`)
	name := func(as string) {
		page.Eval(`document.querySelector("#browser-name").value = ""`)
		page.Click("#browser-name")
		page.Type(as)
		page.Click("#name-form button")
	}
	name("No!")
	page.WaitFor(`document.querySelector("#browser-name:invalid")`)
	name("work")
	page.WaitFor(`document.querySelector("#browsers").textContent.startsWith("work")`)
	name("play")
	page.WaitFor(`document.querySelector("#browsers").textContent.startsWith("play")`)
	if err := d.tenant.Hub.Rules.EditPolicy("test", func(doc *policy.Document) error { doc.Bind("owner", []string{"work"}); return nil }); err != nil {
		t.Fatal(err)
	}
	page.WaitFor(`document.querySelector("#browsers").textContent.includes("no browser has this name; only there: owner")`)
	page.Click(`#browsers button[aria-label="Take the name away: play"]`)
	page.Click(`#browsers button[aria-label^="Really"]`)
	page.WaitFor(`document.querySelector("#toasts").textContent.includes("No browser is called play any more.") && !document.querySelector("#browsers").textContent.includes("play")`)
	awaitView(page, "clients?client=owner")
	page.WaitFor(`document.querySelector("#credential")?.textContent.includes("only in work")`)
}
