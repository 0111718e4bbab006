package httpd

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tabhub/spec"
)

// A balancer sends no credential, and no new client to a process that gives its users to others.
func TestProcessIsReady(t *testing.T) {
	var busy error
	d := newTestServer(t, func(_ *GuardOptions, o *Options) {
		o.Ready = func() error { return busy }
		o.Locator = &located{at: map[spec.UserID]http.Handler{}}
	})
	get := func(path string) (int, string, http.Header) {
		w := httptest.NewRecorder()
		d.server.ServeHTTP(w, ask(path, "127.0.0.1:3300", "-"))
		return w.Code, w.Body.String(), w.Header()
	}
	if status, body, header := get("/readyz"); status != 200 || header.Get("Connection") == "close" {
		t.Errorf("a process that is ready answers %d %s", status, body)
	}
	busy = errors.New("this node is draining")
	if status, body, header := get("/readyz"); status != 503 || !strings.Contains(body, busy.Error()) || header.Get("Connection") != "close" {
		t.Errorf("one that is not answers %d %s, and keeps the connection: %v", status, body, header)
	}
	if status, _, _ := get("/api/tabs"); status != 401 {
		t.Errorf("without a credential the tabs are %d", status)
	}
}
