package mcpserver

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"tabhub/hub/face/mcpserver/methods"
	"tabhub/spec"
)

// The owner sees which clients are connected, by what they say themselves, and how. What they say stands
// in each line of the record, which it must not fill.
func TestSessions(t *testing.T) {
	s := newServer(t, newScripted(), Options{})
	c := streamTo(t, s)
	c.ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"A` + strings.Repeat("a", 1<<20) + `","version":"1.2` + `\u0007` + strings.Repeat("9", 100) + `"}}}`)
	r := httptest.NewRequest("POST", "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"B"}}}`))
	r.Header.Set("Content-Type", "application/json")
	s.MCP().ServeHTTP(httptest.NewRecorder(), r.WithContext(asTester(context.Background())))
	all := s.Sessions()
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	a, b := all[0], all[1]
	if !strings.HasPrefix(a.Said, "A") || len(a.Said) > spec.MaxName || a.Transport != "stdio" || a.Protocol != "2025-06-18" || a.Client == "" || a.Since.IsZero() || !strings.HasPrefix(a.Version, "1.2") || utf8.RuneCountInString(a.Version) > methods.MaxVersion || strings.Contains(a.Version, "\a") {
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

// A client that names no revision, or null, gets the first that may be left out.
func TestInitializeWithoutRevision(t *testing.T) {
	s := newServer(t, newScripted(), Options{})
	for _, c := range []struct{ params, want string }{
		{`{}`, `"protocolVersion":"2025-03-26"`},
		{`{"protocolVersion":null}`, `"protocolVersion":"2025-03-26"`},
		{`{"protocolVersion":"1999-01-01"}`, `"protocolVersion":"2025-11-25"`},
		{`{"protocolVersion":5}`, `"code":-32602`},
	} {
		if got := streamTo(t, s).ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + c.params + `}`); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.params, got, c.want)
		}
	}
}
