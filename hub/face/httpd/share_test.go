package httpd

import (
	"net/http"
	"strings"
	"testing"

	"tabhub/hub/tenant"
)

// A user whose clients ask too much is told so, and when to ask again, and can still look and
// decide.
func TestUsersShare(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	share := tenant.NewShares(tenant.Limits{Rate: 1, Sockets: 1}).New()
	if _, err := share.Socket(true, nil); err != nil {
		t.Fatal(err)
	}
	d.tenant.Share = share
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	for n := 0; ; n++ {
		code, body, h := d.ask("POST", "/mcp", list, "Accept", "application/json, text/event-stream")
		if code == http.StatusTooManyRequests {
			if n < 3 || h.Get("Retry-After") != "1" || !strings.Contains(body, "more than 1 times a second") {
				t.Errorf("after %d requests: %v %s", n, h, body)
			}
			break
		}
		if n > 50 {
			t.Fatal("nothing is refused")
		}
	}
	if code, body, _ := d.ask("GET", "/api/tabs", ""); code != http.StatusOK {
		t.Errorf("the user's own request: %d %s", code, body)
	}
	if code, body, _ := d.ask("GET", "/sse", ""); code != http.StatusTooManyRequests {
		t.Errorf("a stream: %d %s", code, body)
	}
}
