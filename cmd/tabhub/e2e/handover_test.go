package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tabhub/spec/rawjson"
	"tabhub/tabtransport/tabtest/chromium"
)

// stdioNamed is stdio for a client that calls itself something.
func (p *place) stdioNamed(name string) *client {
	p.t.Helper()
	c := p.stdioRaw()
	if a := c.ask("initialize", strings.Replace(initializeParams, "e2e", name, 1)); a.err != nil {
		p.t.Fatalf("initialize: %s", a.err)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// listens waits until a page is looked at for its owner's hand.
func listens(b *chromium.Browser, tab int64) {
	w := b.Worker()
	defer w.Close()
	w.WaitFor(fmt.Sprintf(`chrome.scripting.executeScript({target: {tabId: %d}, func: () => globalThis.tabhubHand !== undefined}).then(([{result}]) => result, () => false)`, tab))
}

// While the owner types in a tab that a client holds, the client's call there waits until they go
// elsewhere, fails at once or goes on, as the hub is told.
func TestHandover(t *testing.T) {
	t.Parallel()
	for _, handover := range []string{"wait", "fail", "ignore"} {
		t.Run(handover, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.serve("--handover", handover)
			c := p.stdio()
			b := p.browse()
			url := website(t)
			page := b.Open(url)
			buy := c.awaitTools("the shop's tools are listed", func(l tools) bool { return len(l.names()) == 4 }).named("_buy")
			w := b.Worker()
			var tab int64
			w.Into(fmt.Sprintf(`chrome.tabs.query({url: "%s/*"}).then(([{id}]) => id)`, url), &tab)
			var list struct {
				Tabs []struct {
					TabID string
					URL   string
				}
			}
			c.callJSON("browser_tab", `{"action":"list"}`, &list)
			at := slices.IndexFunc(list.Tabs, func(t struct{ TabID, URL string }) bool { return t.URL == url+"/" })
			var claimed struct{ Name string }
			c.callJSON("browser_tab", fmt.Sprintf(`{"action":"claim","tabId":%q,"name":"Buying tea"}`, list.Tabs[at].TabID), &claimed)
			listens(b, tab)
			page.Keys("x")
			awaitUntold(t, "the owner uses the tab", page, func() bool {
				var tabs []struct{ InUse bool }
				p.api("/api/tabs", &tabs)
				return len(tabs) == 1 && tabs[0].InUse
			})
			switch handover {
			case "fail":
				if got := c.call(buy, `{"n":1}`).outcome(); got != "TAB_IN_USE" {
					t.Errorf("buy: %s", got)
				}
			case "ignore":
				if got := c.call(buy, `{"n":1}`).outcome(); got != "ok" {
					t.Errorf("buy: %s", got)
				}
			case "wait":
				bought := c.begin("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"n":1},"_meta":{"progressToken":"p"}}`, buy))
				w.WaitFor(fmt.Sprintf(`chrome.action.getTitle({tabId: %d}).then((is) => is === "tabhub: %s waits for you to finish")`, tab, claimed.Name))
				if c.noticed("notifications/progress") == 0 {
					t.Error("the client was told nothing")
				}
				if got := page.Eval("runs['buy 1'] ?? 0"); got != "0" {
					t.Errorf("the call ran %s times while the owner typed", got)
				}
				b.Open("about:blank") // the owner goes elsewhere
				a := c.wait("buy", bought)
				if got := string(rawjson.Get(a.result, "structuredContent", "bought")); got != "1" {
					t.Errorf("buy: %s %s", a.outcome(), a.result)
				}
			}
		})
	}
}

// What a client opens is in a group of its own, which says so when the client has ended, or is closed
// but for what the owner has typed into.
func TestRoomOfAClient(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"keep", "close"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.serve("--room-end", end)
			b := p.browse()
			url := website(t)
			owners := b.Open(url + "/?owner")
			claude, codex := p.stdioNamed("Claude Code"), p.stdioNamed("Codex")
			claude.awaitTools("the shop's tools are listed", func(l tools) bool { return len(l.names()) == 4 })
			for i := range 3 {
				claude.callContent("browser_tab", fmt.Sprintf(`{"action":"new","url":"%s/?claude%d"}`, url, i))
			}
			codex.callContent("browser_tab", fmt.Sprintf(`{"action":"new","url":"%s/?codex"}`, url))
			w := b.Worker()
			has := func(title string, tabs int) {
				w.WaitFor(fmt.Sprintf(`(async () => {
					const [group, more] = (await chrome.tabGroups.query({})).filter(({title}) => title === %q);
					return %d ? group && !more && (await chrome.tabs.query({groupId: group.id})).length === %[2]d : !group;
				})()`, title, tabs))
			}
			has("Claude Code", 3)
			has("Codex", 1)
			if got := owners.Eval("document.visibilityState"); got != `"visible"` {
				t.Errorf("the owner's tab is %s", got)
			}
			codex.close()
			if end == "keep" {
				has("Codex (ended)", 1)
			} else {
				has("Codex", 0)
				has("Codex (ended)", 0)
			}
			typed := b.AttachURL(url + "/?claude1")
			typed.Front()
			var tab int64
			w.Into(fmt.Sprintf(`chrome.tabs.query({url: "%s/?claude1"}).then(([{id}]) => id)`, url), &tab)
			listens(b, tab)
			typed.Keys("x")
			w.WaitFor(fmt.Sprintf(`chrome.storage.session.get("rooms").then(({rooms}) => Object.values(rooms).some(({byHand}) => byHand.includes(%d)))`, tab))
			owners.Front()
			claude.close()
			if end == "keep" {
				has("Claude Code (ended)", 3)
			} else {
				has("Claude Code (ended)", 1)
				has("Claude Code", 0)
			}
			typed.Eval("1") // it is there
		})
	}
}
