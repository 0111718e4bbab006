package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tabhub/hub"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/telemetry"
)

// observer notes what it is told.
type observer struct {
	telemetry.Observer
	mu     sync.Mutex
	begun  []telemetry.Transport
	ended  []telemetry.Session
	served []telemetry.Request
}

func (o *observer) BeginSession(t telemetry.Transport) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begun = append(o.begun, t)
}

func (o *observer) EndSession(s telemetry.Session) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = append(o.ended, s)
}

func (o *observer) EndRequest(r *telemetry.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.served = append(o.served, *r)
}

// Whatever way a client is connected, its session and each of its requests are counted once.
func TestObserved(t *testing.T) {
	for _, tt := range []struct {
		transport telemetry.Transport
		version   string
	}{{telemetry.Stdio, "2025-11-25"}, {telemetry.HTTP, "2025-11-25"}, {telemetry.HTTP, "2026-07-28"}, {telemetry.SSE, "2024-11-05"}} {
		t.Run(tt.transport.String()+" "+tt.version, func(t *testing.T) {
			h := newScripted()
			h.tools["fails"] = func(context.Context, hub.Call) (json.RawMessage, error) {
				return json.RawMessage(`{"content":[],"isError":true}`), nil
			}
			o := &observer{Observer: telemetry.Nobody}
			s := New(h, Options{Options: methods.Options{Telemetry: o}})
			ts := httptest.NewServer(s.mux())
			defer ts.Close()
			here, there := net.Pipe()
			to := map[telemetry.Transport]mcp.Transport{
				telemetry.Stdio: &mcp.IOTransport{Reader: here, Writer: here},
				telemetry.HTTP:  &mcp.StreamableClientTransport{Endpoint: ts.URL + "/mcp"},
				telemetry.SSE:   &mcp.SSEClientTransport{Endpoint: ts.URL + "/sse"},
			}[tt.transport]
			var stream sync.WaitGroup
			stream.Go(func() { _ = s.ServeStream(asTester(t.Context()), there, there) })
			client := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1"}, nil)
			c, err := client.Connect(t.Context(), to, &mcp.ClientSessionOptions{ProtocolVersion: tt.version})
			if err != nil {
				t.Fatal(err)
			}
			if r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "fails"}); err != nil || !r.IsError {
				t.Fatalf("%v, %v", r, err)
			}
			if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "nobodys"}); err == nil {
				t.Fatal("a name that is nobody's was called")
			}
			_ = c.Close()
			here.Close()
			_ = s.Close(context.Background())
			stream.Wait()

			sessions := 1
			if tt.version == "2026-07-28" {
				sessions = 0
			}
			if len(o.begun) != sessions || len(o.ended) != sessions {
				t.Fatalf("%d sessions have begun and %d have ended, want %d", len(o.begun), len(o.ended), sessions)
			}
			if sessions > 0 && (o.begun[0] != tt.transport || o.ended[0].Transport != tt.transport || o.ended[0].Version != tt.version || o.ended[0].Took <= 0) {
				t.Errorf("the session that began with %s was %+v", o.begun[0], o.ended[0])
			}
			calls := slices.DeleteFunc(o.served, func(r telemetry.Request) bool { return r.Method != "tools/call" })
			if len(calls) != 2 {
				t.Fatalf("%d calls", len(calls))
			}
			if r := calls[0]; r.Transport != tt.transport || !r.ToolError || r.Code != 0 {
				t.Errorf("the call was %+v", r)
			}
			if r := calls[1]; r.ToolError || r.Code != -32602 {
				t.Errorf("the call of an unknown name was %+v", r)
			}
		})
	}
}

// What a client has taken back counts as that, but for a listen, which is meant to end so; and a
// method that it has made up counts by no name.
func TestObservedOddities(t *testing.T) {
	h := newScripted()
	started, _ := h.hold("wait")
	o := &observer{Observer: telemetry.Nobody}
	s := New(h, Options{Options: methods.Options{Telemetry: o}})
	c := streamTo(t, s)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`)
	<-started
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got := c.ask(`{"jsonrpc":"2.0","id":2,"method":"made/up"}`); !strings.Contains(got, "-32601") {
		t.Errorf("made/up: %s", got)
	}
	listening := streamTo(t, s)
	listening.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`)
	listening.next()
	listening.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	listening.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{` + modernMeta + `}}`)
	if err := s.Close(t.Context()); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for method, want := range map[string]telemetry.Request{"tools/call": {Cancelled: true}, methods.MethodListen: {}, "_OTHER": {Code: -32601}} {
		i := slices.IndexFunc(o.served, func(r telemetry.Request) bool { return r.Method == method })
		if i < 0 || o.served[i].Cancelled != want.Cancelled || o.served[i].Code != want.Code {
			t.Errorf("%s was %+v", method, o.served)
		}
	}
}
