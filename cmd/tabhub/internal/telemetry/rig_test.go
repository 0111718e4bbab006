package telemetry

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tabhub/hub"
	"tabhub/hub/face/mcpserver"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/hubtest"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// rig is a hub with a tab and an MCP client that others wrote, all measured by a Telemetry.
type rig struct {
	*Telemetry
	client *mcp.ClientSession
	page   chan spec.Extensions // what the page was told with each call
}

const (
	tool  = "website_tool_shop_example_com__add_to_cart"
	crash = "website_tool_shop_example_com_crash"
)

func newRig(t *testing.T) *rig {
	r := &rig{
		Telemetry: New("1.2.3"),
		page:      make(chan spec.Extensions, 10),
	}
	h := hubtest.Open(t, hub.Options{Telemetry: r.Telemetry})
	h.JoinTab("https://shop.example.com", func(_ context.Context, in tabtransport.Incoming) (spec.Response, error) {
		call := in.Request.(*spec.ExecuteTool)
		r.page <- call.Extensions
		if call.ToolName == "crash" {
			return spec.Response{}, spec.Errorf(spec.CodeInternal, "the private result")
		}
		return spec.Response{Result: json.RawMessage(`{"content":[{"type":"text","text":"the private result"}]}`)}, nil
	}, `{"name":"add_to_cart","inputSchema":{"type":"object"}}`, `{"name":"crash","inputSchema":{"type":"object"}}`)
	s := mcpserver.New(h.ClientView(), mcpserver.Options{Options: methods.Options{Telemetry: r.Telemetry}})
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	owner := methods.WithIdentity(context.Background(), &auth.Identity{User: spec.LocalUser, Kind: auth.KindOwner, Principal: policy.Owner})
	here, there := net.Pipe()
	go func() {
		defer there.Close()
		_ = s.ServeStream(owner, there, there)
	}()
	var err error
	r.client, err = mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: here, Writer: here}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.client.Close() })
	return r
}

// call calls a tool with an argument that nobody else may see.
func (r *rig) call(t *testing.T, name string, meta mcp.Meta) error {
	t.Helper()
	result, err := r.client.CallTool(t.Context(), &mcp.CallToolParams{Meta: meta, Name: name, Arguments: map[string]any{"note": "the private argument"}})
	if err == nil && result.IsError != (name == crash) {
		t.Fatalf("%s answers %v", name, result.Content[0])
	}
	return err
}

// told returns what the page was told with the latest call.
func (r *rig) told(t *testing.T) string {
	t.Helper()
	select {
	case ext := <-r.page:
		return string(ext["traceparent"])
	default:
		t.Fatal("the page was not called")
		return ""
	}
}

// A page goes on from its client's span, and from nothing that is no span.
func TestTraceparentReachesThePage(t *testing.T) {
	r := newRig(t)
	const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for sent, want := range map[any]string{good: `"` + good + `"`, nil: "", 7: "", "": "", good + "-1": ""} {
		if err := r.call(t, tool, mcp.Meta{"traceparent": sent}); err != nil {
			t.Fatal(err)
		}
		if got := r.told(t); got != want {
			t.Errorf("of %v the page was told %s, want %s", sent, got, want)
		}
	}
}

func (r *rig) scrape(t *testing.T) string {
	t.Helper()
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func wantLines(t *testing.T, in string, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if !strings.Contains("\n"+in, "\n"+l+"\n") {
			name := l[:strings.IndexAny(l, "{ ")]
			t.Errorf("%q is not there, but %q", l, regexp.MustCompile("(?m)^"+name+".*$").FindAllString(in, -1))
		}
	}
}
