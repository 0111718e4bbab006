package proxytool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tabhub/hub"
	"tabhub/hub/builtin/proxytool"
	"tabhub/hub/face/mcpserver"
	"tabhub/hub/face/mcpserver/expose"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/hubtest"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// session is a client of others, on a hub whose tabs are in memory.
type session struct {
	t        *testing.T
	hub      *hubtest.Hub
	client   *mcp.ClientSession
	progress chan float64
}

func connect(t *testing.T) *session {
	h := hubtest.Open(t, hub.Options{})
	s := &session{t: t, hub: h, progress: make(chan float64, 1000)}
	server := mcpserver.New(h.ClientView(), mcpserver.Options{Options: methods.Options{
		Builtin: proxytool.New(h.ClientView(), nil, nil),
		Expose:  expose.Proxy,
	}})
	t.Cleanup(func() { server.Close(context.Background()) })
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	var serving sync.WaitGroup
	serving.Go(func() {
		server.ServeStream(methods.WithIdentity(t.Context(), &auth.Identity{User: spec.LocalUser, Principal: policy.Owner}), toServer, fromServer)
		fromServer.Close()
	})
	c := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			s.progress <- r.Params.Progress
		},
	})
	var err error
	s.client, err = c.Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.client.Close()
		serving.Wait()
	})
	return s
}

// open opens a tab that offers a tool.
func (s *session) open(origin, tool string) {
	s.t.Helper()
	s.hub.JoinTab(origin, func(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
		args := string(in.Request.(*spec.ExecuteTool).Args)
		if strings.Contains(args, "fail") {
			return spec.Response{}, errors.New("the page is out of milk")
		}
		in.Progress(1, new(2.0), "half")
		return spec.Response{Result: fmt.Appendf(nil,
			`{"content":[{"type":"text","text":%q,"annotations":{"priority":1}},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}],"structuredContent":{"big":12345678901234567890},"_meta":{"com.example.shop/own":1}}`, args)}, nil
	}, fmt.Sprintf(`{"name":%q,"description":"Buys milk","inputSchema":{"type":"object"},"_meta":{"tags":["dairy"]}}`, tool))
}

func (s *session) proxy(args map[string]any) *mcp.CallToolResult {
	s.t.Helper()
	p := &mcp.CallToolParams{Name: proxytool.Name, Arguments: args}
	p.SetProgressToken("p")
	r, err := s.client.CallTool(s.t.Context(), p)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// meta returns what a typed client sees of the annotations.
func (s *session) meta(c mcp.Content) map[string]any {
	s.t.Helper()
	var m mcp.Meta
	switch c := c.(type) {
	case *mcp.TextContent:
		m = c.Meta
	case *mcp.ImageContent:
		m = c.Meta
	case *mcp.EmbeddedResource:
		m = c.Meta
	}
	notes, _ := m["tabhub/proxy"].(map[string]any)
	return notes
}

// tools lists the tools that pass a filter and returns their names.
func (s *session) tools(filter map[string]any) (names []string) {
	s.t.Helper()
	r := s.proxy(map[string]any{"action": "list", "type": "tool", "filter": filter})
	var list []struct{ Name string }
	if err := json.Unmarshal([]byte(r.Content[0].(*mcp.EmbeddedResource).Resource.Text), &list); err != nil {
		s.t.Fatal(err)
	}
	for _, it := range list {
		names = append(names, it.Name)
	}
	return names
}

// TestFrozenClient: a client that lists once, before any tab is open, reaches all
// that is opened later.
func TestFrozenClient(t *testing.T) {
	s := connect(t)
	tools, err := s.client.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 2 || tools.Tools[0].Name != "proxy" || !tools.Tools[1].Annotations.ReadOnlyHint {
		t.Fatalf("%+v, %v", tools, err)
	}
	if got := s.tools(nil); len(got) != 0 {
		t.Fatalf("got %v", got)
	}
	s.open("https://shop.example.com", "buy")
	s.open("https://bank.example.com", "pay")

	names := s.tools(map[string]any{"query": "buy milk", "domain": "shop.example.com"})
	if len(names) != 1 {
		t.Fatalf("found %v", names)
	}
	if got := s.tools(map[string]any{"tags": []string{"dairy"}}); len(got) != 2 {
		t.Errorf("tagged: %v", got)
	}

	r := s.proxy(map[string]any{"action": "info", "type": "tool", "path": names[0]})
	if m := s.meta(r.Content[0]); m["dataType"] != "Tool" || m["multiple"] != false || m["proxyPath"] != names[0] {
		t.Errorf("info: %v", m)
	}
	r = s.proxy(map[string]any{"action": "call", "type": "tool", "path": names[0], "args": `{"n":1}`})
	if r.IsError || len(r.Content) != 2 || r.Content[0].(*mcp.TextContent).Text != `{"n":1}` || r.Content[0].(*mcp.TextContent).Annotations.Priority != 1 ||
		string(r.Content[1].(*mcp.ImageContent).Data) != "\x89PNG\r\n\x1a\n" || r.Meta["com.example.shop/own"] != 1.0 || fmt.Sprint(r.StructuredContent) == "<nil>" {
		t.Errorf("call: %+v", r)
	}
	for _, c := range r.Content {
		if m := s.meta(c); m["proxyAction"] != "call" || m["proxyType"] != "tool" || m["proxyPath"] != names[0] {
			t.Errorf("call: %v", m)
		}
	}
	if p := <-s.progress; p != 1 {
		t.Errorf("progress: %v", p)
	}
	r = s.proxy(map[string]any{"action": "call", "type": "tool", "path": names[0], "args": map[string]any{"x": "fail"}})
	if !r.IsError || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, "out of milk") {
		t.Errorf("failing call: %+v", r)
	}
	r = s.proxy(map[string]any{"action": "call", "type": "tool", "path": names[0][:len(names[0])-1]})
	if text := r.Content[0].(*mcp.TextContent).Text; !r.IsError || !strings.HasPrefix(text, "Unknown tool: ") || !strings.Contains(text, "nearest: "+names[0]) {
		t.Errorf("unknown: %s", text)
	}
}
