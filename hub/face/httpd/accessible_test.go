package httpd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"tabhub/hub/call"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
)

// People who see the dashboard badly or not at all must be able to use each of its views: axe-core finds
// nothing that is serious in any of them, wide and light, or narrow and dark, and none is wider than the
// window, however long names are.
func TestDashboardIsAccessible(t *testing.T) {
	t.Parallel()
	const path = "../../pages/node_modules/axe-core/axe.min.js"
	axe, err := os.ReadFile(path)
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip("run npm ci in hub/pages")
	}
	if err != nil {
		t.Fatal(err)
	}
	for dark, width := range map[bool]int64{false: 1280, true: 390} {
		t.Run(fmt.Sprintf("dark %v", dark), func(t *testing.T) {
			t.Parallel()
			d := openSignIn(t, nil)
			d.join("Chromium 141", "https://"+strings.Repeat("a-long-name.", 18)+"example.com/", "Shop", nil, offered...)
			const held = "https://held.example/"
			d.join("Chromium 141", held, strings.Repeat("AVeryLongTitle", 8), nil, offered...)
			d.claim(agent(strings.Repeat("a-long-client-", 5), "s1"), held, strings.Repeat("a-long-name-", 6))
			if status, body := d.askOwner("PUT", "/api/packs", packFile(strings.Repeat("ALongTitle", 12), strings.Repeat("a-long-button-", 6))); status != http.StatusOK {
				t.Fatalf("%d %s", status, body)
			}
			page := d.openDashboard()
			page.Dark(dark)
			page.Eval(string(axe) + "; undefined")
			check := func(what string) {
				t.Helper()
				var found []string
				page.Into(`axe.run({resultTypes: ["violations"]}).then(({violations}) => violations
					.filter(({impact}) => impact === "serious" || impact === "critical")
					.map(({id, nodes}) => id + " at " + nodes.map(({target, failureSummary}) => target.join(" ") + ": " + failureSummary).join("; ")))`, &found)
				for _, problem := range found {
					t.Errorf("%s: %s", what, problem)
				}
				for _, window := range []int64{1000, 721, width} {
					page.Resize(window, 800)
					if got := page.Eval(`document.documentElement.scrollWidth - innerWidth`); got != "0" {
						t.Errorf("%s is %s pixels wider than a window of %d", what, got, window)
					}
				}
			}
			d.call("claude", "search_products", `{"query":"mug"}`)
			d.setMode(policy.ModeAsk)
			asked := make(chan struct{})
			go func() {
				defer close(asked)
				by := consent.As(&policy.Principal{ID: "c-1", Name: "claude"})
				d.tenant.Hub.Calls.Call(t.Context(), call.Request{Name: searchTool, Args: json.RawMessage(`{"query":"pen"}`), By: by})
			}()
			page.WaitFor(`document.querySelector(".answer-yes")?.ariaDisabled === "false"`)
			page.Resize(width, 800)
			for view, shown := range map[string]string{
				"now": "#calls tr", "tabs": "#found li", "sites": "#sites tr", "clients": "#agents button", "record": "#record-rows tr", "health": "#view > *",
				"sites?site=demo.tabhub": "#access tr", "sites?show=rules": "#rules tr", "sites?show=packs": "#packs tr", "sites?show=packs&pack=shop-tools": "#pack-parts li", "clients?client=owner": "#access tr", "tabs?tab=browser:" + held + "/1": "#open .facts",
			} {
				awaitView(page, view)
				page.WaitFor(fmt.Sprintf(`document.querySelector(%q)`, shown))
				check(fmt.Sprintf("%s at %d", view, width))
			}
			page.Eval(`location.hash = "#tabs?kind=tools&tool=` + searchTool + `"`)
			page.WaitFor(`document.querySelector("#open .schema")`)
			check(fmt.Sprintf("a tool at %d", width))
			page.Click("#where a[href*='tab=']")
			page.WaitFor(`document.querySelector("#open .links")`)
			check(fmt.Sprintf("a tab at %d", width))
			awaitView(page, "record")
			page.WaitFor(`document.querySelector("#record-rows a")`)
			page.Click("#record-rows a")
			page.WaitFor(`document.querySelector("#story li")`)
			check(fmt.Sprintf("story at %d", width))
			d.tenant.Hub.Rules.Pause("test", true)
			<-asked
			page.Click("#sign-out")
			page.WaitFor(`document.querySelector("#signed-out").checkVisibility()`)
			check("signed out")
		})
	}
}
