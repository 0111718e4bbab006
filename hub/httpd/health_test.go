package httpd

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
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
