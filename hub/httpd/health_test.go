package httpd

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// What a page of the hub shows is what has happened: a call that went well, and one that
// did not.
func TestHealthCountsCalls(t *testing.T) {
	d := open(t, nil)
	const name = `{"name":"website_tool_demo_tabhub__search_products","arguments":{"query":`
	d.ask("POST", "/api/call", name+`"mug"}}`)
	d.ask("POST", "/api/call", name+`1}}`)
	for _, span := range []string{"", "?span=hour", "?span=day"} {
		_, body, _ := d.ask("GET", "/api/health"+span, "")
		var report HealthReport
		if err := json.Unmarshal([]byte(body), &report); err != nil {
			t.Fatal(err)
		}
		var calls, failed uint32
		for i := range report.Calls.Calls {
			calls, failed = calls+report.Calls.Calls[i], failed+report.Calls.Failed[i]
		}
		if calls != 2 || failed != 1 || report.Calls.Outcomes["INVALID_ARGUMENTS"] != 1 {
			t.Errorf("%q: %d calls, %d failed, %v", span, calls, failed, report.Calls.Outcomes)
		}
		if p := report.Process; p == nil || p.Goroutines == 0 || p.Heap == 0 || p.Memory < p.Heap {
			t.Errorf("%q: %+v", span, p)
		}
	}
}

// A user of a shared hub learns nothing of its process and of what the doctor has found on
// its machine.
func TestHealthOfAccounts(t *testing.T) {
	d := open(t, func(g *GuardOptions, o *Options) {
		g.Accounts = true
		o.Info = func() Info { return Info{Version: "v1", Sockets: map[string]int{"connections": 987654}} }
		o.Doctor = func(context.Context) []Finding {
			return []Finding{{State: "problem", Check: "data", Text: "/srv/tabhub"}}
		}
	})
	if _, body, _ := d.ask("GET", "/api/health", ""); !strings.Contains(body, `"calls":[`) || strings.Contains(body, "987654") || strings.Contains(body, "goroutines") {
		t.Errorf("a user's: %s", body)
	}
	if status, body, _ := d.ask("GET", "/api/doctor", ""); status != 403 || strings.Contains(body, "srv") {
		t.Errorf("a user's doctor: %d %s", status, body)
	}
	if _, body := d.askOwner("GET", "/api/health", ""); !strings.Contains(body, "987654") || strings.Contains(body, `"calls":`) {
		t.Errorf("the owner's: %s", body)
	}
	if status, body := d.askOwner("GET", "/api/doctor", ""); status != 200 || !strings.Contains(body, "/srv/tabhub") {
		t.Errorf("the owner's doctor: %d %s", status, body)
	}
}

// Who opens the view sees charts of the calls that were made, drawn under the page's own
// policy, and what the doctor says; what that quotes of files is text.
func TestHealthInABrowser(t *testing.T) {
	t.Parallel()
	const hostile = `<img src=x onerror="document.title='owned'">`
	var looks atomic.Int32
	d := openSignIn(t, func(_ *GuardOptions, o *Options) {
		o.Doctor = func(context.Context) []Finding {
			if looks.Add(1) > 1 {
				return nil
			}
			return []Finding{{State: "ok", Check: "clock", Text: "12:00"}, {State: "problem", Check: "data", Text: hostile, Fix: "chmod 700 " + hostile}}
		}
	})
	page := chromium.Shared(t, chromium.Options{}).Open(d.signInURL(d.token.Identity()))
	page.WaitFor(`document.body.dataset.view === "now"`)
	page.Eval(`window.violations = [], addEventListener("securitypolicyviolation", (e) => violations.push(e.violatedDirective))`)
	awaitView(page, "health")
	page.WaitFor(`document.querySelector("#no-calls").checkVisibility() && !document.querySelector("#call-charts").checkVisibility()`)
	page.WaitFor(`document.querySelector("#diagnosis").textContent === "There is 1 problem."`)
	if got := page.Eval(`[document.querySelector("#findings li").textContent.includes("onerror"), document.querySelectorAll("main img").length]`); got != `[true,0]` {
		t.Errorf("what the doctor says: %s", got)
	}
	page.Eval(`[...document.querySelectorAll("#look-again button")][0].click()`)
	page.WaitFor(`document.querySelector("#diagnosis").textContent === "Nothing is wrong."`)

	const call = `{"name":"website_tool_demo_tabhub__search_products","arguments":{"query":`
	d.ask("POST", "/api/call", call+`"mug"}}`)
	d.ask("POST", "/api/call", call+`1}}`)
	page.WaitFor(`document.querySelector("#count-calls").textContent === "2" && document.querySelector("#count-failed").textContent === "1"`)
	page.WaitFor(`document.querySelector("#outcomes").textContent.includes("INVALID_ARGUMENTS")`)
	// Both charts have drawn more than nothing, and the table says the same.
	const drawn = `[...document.querySelectorAll(".canvas canvas")].every((c) => c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((x) => x > 0))`
	page.WaitFor(`document.querySelectorAll(".canvas canvas").length === 2 && ` + drawn)
	if got := page.Eval(`[...document.querySelector("#call-rows tr").cells].slice(1, 3).map((c) => c.textContent)`); got != `["2","1"]` {
		t.Errorf("the table's latest row: %s", got)
	}
	page.Eval(`document.querySelector('#spans a[href$="day"]').click()`)
	page.WaitFor(`document.querySelector("#steps")?.textContent === "each minute" && document.querySelector("#count-calls").textContent === "2" && document.querySelector("#call-rows").rows.length === 24`)
	awaitView(page, "now") // which the charts must survive
	if got := page.Eval(`[document.title, violations]`); got != `["tabhub",[]]` {
		t.Errorf("the title, and what the policy has stopped: %s", got)
	}
}
