package mcpserver

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// sse opens a session and returns its events and the path of its endpoint.
func (c *web) sse() (*events, string) {
	c.t.Helper()
	e := readEvents(c.t, c.do("GET", "/sse", ""))
	name, endpoint, err := e.next()
	path, ok := strings.CutPrefix(endpoint, c.url)
	if name != "endpoint" || err != nil || !ok || !strings.HasPrefix(path, "/message?sessionId=") {
		c.t.Fatalf("first event %s %q, %v", name, endpoint, err)
	}
	return e, path
}

func (c *web) message(path, body string) (int, string) {
	c.t.Helper()
	resp := c.do("POST", path, body)
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

func TestBadMessagesOverSSE(t *testing.T) {
	c := overTCP(t, New(newScripted(), Options{MaxBody: 4096}))
	c.header.Set("Authorization", "alice")
	_, path := c.sse()
	for _, tt := range []struct {
		body   string
		status int
		says   string
	}{
		{strings.Repeat(" ", 5000), 413, "4096"},
	} {
		if status, body := c.message(path, tt.body); status != tt.status || !strings.Contains(body, tt.says) {
			t.Errorf("%.60s: %d %s", tt.body, status, body)
		}
	}
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for path, want := range map[string]int{"/message": 400, "/message?sessionId=x": 404} {
		if status, _ := c.message(path, ping); status != want {
			t.Errorf("%s: %d", path, status)
		}
	}
	c.header.Set("Authorization", "bob")
	if status, _ := c.message(path, ping); status != 404 {
		t.Errorf("another's session: %d", status)
	}
	// The session ids of the two transports do not mix.
	c.initialize("2025-06-18")
	if status, _ := c.message("/message?sessionId="+c.header.Get("Mcp-Session-Id"), ping); status != 404 {
		t.Errorf("a session of /mcp on /message: %d", status)
	}
	for path, method := range map[string]string{"/sse": "POST", "/message": "GET"} {
		if resp := c.do(method, path, ""); resp.StatusCode != 405 || resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %s: %s", method, path, resp.Status)
		}
	}
}

func TestEndpointIsWhatTheClientReaches(t *testing.T) {
	for want, o := range map[string]Options{
		"http://hub.test:3300/message":      {},
		"https://tools.example.com/message": {BehindProxy: true},
		"https://example.com/hub/message":   {BehindProxy: true, PublicURL: "https://example.com/hub/"},
	} {
		r := httptest.NewRequest("GET", "/sse", nil)
		r.Host = "hub.test:3300"
		r.Header.Set("X-Forwarded-Proto", "HTTPS, http")
		r.Header.Set("X-Forwarded-Host", "tools.example.com, inner")
		if got := newServer(t, newScripted(), o).endpoint(r); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Clients that are configured with one address, ?token= and all, send no header.
func TestEndpointHasTheTokenOfTheAddress(t *testing.T) {
	c := overTCP(t, New(newScripted(), Options{}))
	for path, want := range map[string]string{
		"/sse":                         "",
		"/sse?token=a%26b%0Adata:%20c": "&token=a%26b%0Adata%3A+c",
	} {
		name, data, _ := readEvents(t, c.doContext(t.Context(), "GET", path, "")).next()
		prefix, rest, _ := strings.Cut(data, "?sessionId=")
		if _, token, found := strings.Cut(rest, "&"); name != "endpoint" || prefix != c.url+"/message" || found != (want != "") || found && "&"+token != want {
			t.Errorf("%s: %s %s, want a token %q", path, name, data, want)
		}
	}
}

// stalled is a client that takes nothing.
type stalled struct {
	http.ResponseWriter
	deadline time.Time
}

func (s *stalled) SetWriteDeadline(t time.Time) error { s.deadline = t; return nil }
func (s *stalled) Flush()                             {}
func (s *stalled) Write(b []byte) (int, error) {
	if s.deadline.IsZero() {
		select {} // for as long as the server waits
	}
	time.Sleep(time.Until(s.deadline))
	return 0, context.DeadlineExceeded
}

// A client that asks for much and reads nothing must not fill the hub, which TestClientThatDoesNotReadIsDropped shows for event streams.
func TestStalledReaderIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, newScripted(), Options{})
		begin := time.Now()
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":"`+strings.Repeat("x", largeAnswer)+`","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)).WithContext(asTester(t.Context()))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json")
		s.MCP().ServeHTTP(&stalled{ResponseWriter: httptest.NewRecorder()}, r)
		if took := time.Since(begin); took < time.Second || took > time.Minute {
			t.Errorf("a client that does not take its answer was kept for %v", took)
		}
	})
}
