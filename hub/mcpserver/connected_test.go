package mcpserver

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"tabhub/hub"
	"tabhub/hub/consent"
	"tabhub/hub/policy"
)

// The owner sees who is connected, by what they say themselves, and how.
func TestSessions(t *testing.T) {
	s := newServer(t, newScripted(), Options{})
	c := streamTo(t, s)
	c.ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"A","version":"1.2` + `\u0007` + strings.Repeat("9", 100) + `"}}}`)
	r := httptest.NewRequest("POST", "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"B"}}}`))
	r.Header.Set("Content-Type", "application/json")
	s.MCP().ServeHTTP(httptest.NewRecorder(), r.WithContext(asTester(context.Background())))
	all := s.Sessions()
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	a, b := all[0], all[1]
	if a.Said != "A" || a.Transport != "stdio" || a.Protocol != "2025-06-18" || a.Client == "" || a.Since.IsZero() || !strings.HasPrefix(a.Version, "1.2") || utf8.RuneCountInString(a.Version) > maxVersion || strings.Contains(a.Version, "\a") {
		t.Errorf("over stdio: %+v", a)
	}
	if b.Said != "B" || b.Transport != "http" || b.Protocol != "2025-03-26" || b.Version != "" {
		t.Errorf("over HTTP: %+v", b)
	}
	c.conn.Close()
	<-c.ended
	if all := s.Sessions(); len(all) != 1 || all[0].Said != "B" {
		t.Errorf("one has left: %+v", all)
	}
}

// What the owner is told that tools cost is what each choice puts into the list.
func TestCosts(t *testing.T) {
	h := newScripted()
	small := `{"name":"a","_meta":{"domain":"a.com"}}`
	large := `{"name":"b","_meta":{"domain":"b.com"},"description":"` + strings.Repeat("x", 400) + `"}`
	h.set(hub.ListTools, small, large)
	for _, c := range []struct {
		expose Expose
		said   string
		want   Expose
	}{{ExposeAll, "x", ExposeAll}, {ExposeAuto, "x", ExposeAuto}, {ExposeAuto, "claude-ai", ExposeProxy}, {ExposeProxy, "x", ExposeProxy}} {
		s := newServer(t, h, Options{Expose: c.expose, ExposeBudget: 50})
		by := consent.As(policy.Owner)
		by.Said = c.said
		got := s.Costs(by)
		if got.Expose != c.want || got.All != (Cost{2, Tokens(len(small) + len(large) + 2)}) || got.Auto != (Cost{1, Tokens(len(small) + 1)}) || got.Proxy != (Cost{}) {
			t.Errorf("%s for %s: %+v", c.expose, c.said, got)
		}
		if len(got.Sites) != 2 || got.Sites[0].Site != "b.com" || got.Sites[0].Auto || !got.Sites[1].Auto || got.Sites[1].Tokens != Tokens(len(small)+1) {
			t.Errorf("%s: sites %+v", c.expose, got.Sites)
		}
	}
}
