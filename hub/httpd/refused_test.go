package httpd

import (
	"net/http"
	"strings"
	"testing"

	"tabhub/hub/record"
)

// The owner must find out who has knocked, and a flood of it must not push what was done out
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
