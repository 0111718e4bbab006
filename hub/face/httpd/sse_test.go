package httpd

import (
	"encoding/json"
	"strings"
	"testing"
)

// Clients of Moonsurf's MCP over SSE know this answer, whatever is wrong.
func TestNoTokenOverSSE(t *testing.T) {
	d := open(t, nil)
	for _, path := range []string{"/sse", "/sse?token=wrong", "/message?sessionId=x", "/message?sessionId=x&token="} {
		method := "GET"
		if strings.HasPrefix(path, "/message") {
			method = "POST"
		}
		code, body, h := d.ask(method, path, "", "Authorization", "")
		var got struct{ Error, Hint string }
		if json.Unmarshal([]byte(body), &got) != nil || code != 401 || got.Error != "Authentication required" || got.Hint == "" ||
			!strings.HasPrefix(h.Get("WWW-Authenticate"), "Bearer") || strings.Contains(body, "wrong") {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
}
