package httpd

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/trust/record"
)

// The owner must find refused requests in the record, and a flood of them must not push calls out
// of the record.
func TestRefusedClientsAreRecorded(t *testing.T) {
	d := open(t, nil)
	refused := func() []record.Line {
		lines, err := d.tenant.Record.Read(t.Context(), record.Query{Event: record.Refused})
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	for _, headers := range [][]string{
		{"Authorization", "Bearer wrong", "User-Agent", "agent/1"},
		{"Origin", "https://evil.example"},
	} {
		if status, answer, _ := d.ask("POST", "/mcp", `{}`, headers...); status != http.StatusUnauthorized && status != http.StatusForbidden {
			t.Fatalf("%d %s", status, answer)
		}
	}
	d.ask("GET", "/api/tabs", "", "Authorization", "Bearer wrong") // is no client's
	d.ask("POST", "/mcp", `{}`)                                    // is let in
	lines := refused()
	if len(lines) != 2 {
		t.Fatalf("recorded %+v", lines)
	}
	if l := lines[0]; l.Outcome != "unauthorized" || l.Said != "agent/1" || l.URL != "/mcp" || l.Reason == "" || strings.Contains(l.Reason, "wrong") {
		t.Errorf("a wrong token: %+v", l)
	}
	if l := lines[1]; l.Outcome != "forbidden" || l.Origin != "https://evil.example" {
		t.Errorf("a page: %+v", l)
	}
	for range 40 {
		d.ask("POST", "/mcp", `{}`, "Authorization", "Bearer wrong")
	}
	if n, missed := len(refused()), d.server.refusals.missed.Load(); n != 10 || missed != 32 {
		t.Errorf("%d lines, and %d are to be counted", n, missed)
	}
}

// The author of a page that the hub refuses learns nothing from the browser: the log must say which
// flag would admit it, and say it so that it is found among a thousand lines.
func TestRefusedPagesAreLoggedOnce(t *testing.T) {
	d := open(t, nil)
	for range 3 {
		for _, origin := range []string{"https://shop.example", "null", "http://localhost:5173"} {
			d.ask("GET", "/tabs", "", "Origin", origin)
		}
		d.ask("GET", "/tab.js", "", "Origin", "https://reads.example") // is open to all
		d.ask("GET", "/api/tabs", "", "Origin", "https://pries.example")
	}
	log := d.log.String()
	for text, want := range map[string]int{
		"a page was refused": 2, "origin=https://shop.example ": 1, "--allow-origin https://shop.example": 1,
		"origin=null ": 1, "serve a file from a web server": 1, "--allow-origin null": 0,
	} {
		if n := strings.Count(log, text); n != want {
			t.Errorf("%q is in the log %d times, want %d:\n%s", text, n, want, log)
		}
	}
}

// A page with frames of many origins neither fills the log nor hides another page from it for long.
func TestRefusedPagesDoNotFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newRefusals()
		named := 0
		for range 60 {
			for i := range 1000 {
				if p.isNews(fmt.Sprintf("https://%d.example", i)) {
					named++
				}
			}
			time.Sleep(time.Second)
		}
		if named > 11 || len(p.origins) > maxRefusedOrigins {
			t.Errorf("%d named, %d remembered", named, len(p.origins))
		}
		time.Sleep(time.Minute)
		if !p.isNews("https://shop.example") || p.isNews("https://shop.example") {
			t.Error("an origin is not named once")
		}
	})
}
