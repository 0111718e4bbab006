package mcpserver

import (
	"context"
	"encoding/json"
	"net"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tabhub/hub"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/hubtest"
	"tabhub/hub/telemetry"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// A client that others wrote lists, calls, is asked back, follows progress and
// changes, and cancels, in each way to connect and each era. Its session and each of its requests are
// counted once.
func TestGoSDK(t *testing.T) {
	for _, tt := range []struct{ transport, version string }{
		{"stdio", "2025-06-18"}, {"stdio", "2025-11-25"}, {"stdio", "2026-07-28"},
		{"http", "2025-03-26"}, {"http", "2025-11-25"}, {"http", "2026-07-28"},
		{"sse", "2024-11-05"},
	} {
		t.Run(tt.transport+" "+tt.version, func(t *testing.T) { testGoSDK(t, tt.transport, tt.version) })
	}
}

func testGoSDK(t *testing.T, transport, version string) {
	h := hubtest.Open(t, hub.Options{})
	hangs, cancelled := make(chan struct{}), make(chan struct{})
	tools := []string{`{"name":"steps","inputSchema":{"type":"object"}}`, `{"name":"hang","inputSchema":{"type":"object"}}`, `{"name":"ask","inputSchema":{"type":"object"}}`}
	tab := h.JoinTab("https://a.example.com", func(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
		switch in.Request.(*spec.ExecuteTool).ToolName {
		case "steps":
			for i := range 10 {
				in.Progress(float64(i), nil, "")
			}
		case "hang":
			close(hangs)
			<-ctx.Done()
			close(cancelled)
		case "ask":
			return nosy(ctx, in)
		}
		return spec.Response{Result: json.RawMessage(`{"content":[{"type":"text","text":"done"}],"structuredContent":{"n":1}}`)}, nil
	}, tools...)

	o := &observer{Observer: telemetry.Nobody}
	s := New(h.ClientView(), Options{Options: methods.Options{Telemetry: o}})
	ts := httptest.NewServer(s.mux())
	t.Cleanup(func() {
		_ = s.Close(context.Background())
		ts.Close()
	})
	changed := make(chan struct{}, 10)
	progress := make(chan float64, 20)
	client := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { progress <- r.Params.Progress },
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada", "colour": "red"}}, nil
		},
	})
	// From 2026-07-28 on the client does not wait until it is notified of changes.
	listens := make(chan struct{})
	client.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "notifications/subscriptions/acknowledged" {
				close(listens)
			}
			return next(ctx, method, r)
		}
	})
	var to mcp.Transport
	switch transport {
	case "stdio":
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			_ = s.ServeStream(asTester(t.Context()), there, there)
		}()
		to = &mcp.IOTransport{Reader: here, Writer: here}
	case "http":
		to = &mcp.StreamableClientTransport{Endpoint: ts.URL + "/mcp"}
	case "sse":
		to = &mcp.SSEClientTransport{Endpoint: ts.URL + "/sse"}
	}
	c, err := client.Connect(t.Context(), to, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if v := c.InitializeResult().ProtocolVersion; v != version {
		t.Errorf("agreed on %s", v)
	}
	list, err := c.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 3 {
		t.Fatalf("%v, %v", list, err)
	}

	call := &mcp.CallToolParams{Name: "website_tool_a_example_com_steps"}
	call.SetProgressToken("p")
	r, err := c.CallTool(t.Context(), call)
	if err != nil || r.IsError || r.Content[0].(*mcp.TextContent).Text != "done" {
		t.Fatalf("%v, %v", r, err)
	}
	for i := range 10 {
		if p := <-progress; p != float64(i) {
			t.Fatalf("progress %v, want %d", p, i)
		}
	}

	r, err = c.CallTool(t.Context(), &mcp.CallToolParams{Name: "website_tool_a_example_com_ask"})
	if err != nil || r.IsError || r.Content[0].(*mcp.TextContent).Text != "red" {
		t.Errorf("a page that asks back: %+v, %v", r, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "website_tool_a_example_com_hang"})
		ended <- err
	}()
	<-hangs
	cancel()
	<-cancelled
	if err := <-ended; err == nil {
		t.Error("the cancelled call succeeded")
	}

	m := &spec.Register{Kind: spec.KindTool, Update: true}
	for _, item := range append(tools, `{"name":"late","inputSchema":{"type":"object"}}`) {
		m.Items = append(m.Items, json.RawMessage(item))
	}
	if version == "2026-07-28" {
		<-listens
	}
	tab.Send(0, m)
	for tools := 0; tools != 4; { // the first change may be that of the registration
		<-changed
		list, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		tools = len(list.Tools)
	}

	_ = c.Close()
	_ = s.Close(context.Background())
	sessions := 1
	if version == "2026-07-28" { // each request stands alone
		sessions = 0
	}
	o.mu.Lock() // a request may end after its client has the answer
	defer o.mu.Unlock()
	if len(o.begun) != sessions || len(o.ended) != sessions || sessions > 0 && (o.begun[0].String() != transport || o.ended[0].Version != version || o.ended[0].Took <= 0) {
		t.Errorf("sessions have begun with %v and ended as %+v", o.begun, o.ended)
	}
	served := slices.DeleteFunc(o.served, func(r telemetry.Request) bool { return r.Method != "tools/call" || r.Transport.String() != transport })
	if len(served) < 3 || len(served) > 5 { // that which asks back has up to three
		t.Errorf("%d calls", len(served))
	}
}
