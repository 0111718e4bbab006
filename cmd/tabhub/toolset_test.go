package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// relayScript is the published program, as the tests of package pages install it.
const relayScript = "../../hub/pages/node_modules/@mcp-b/webmcp-local-relay/dist/cli.js"

// serveTest runs a hub with the demo until the test ends, and returns it with its port.
func serveTest(t *testing.T, flags ...string) (*process, string) {
	t.Helper()
	return serveLogging(t, slog.New(slog.DiscardHandler), flags...)
}

func serveLogging(t *testing.T, log *slog.Logger, flags ...string) (*process, string) {
	t.Helper()
	a := &app{env: func(string) string { return "" }}
	f := pflag.NewFlagSet("serve", pflag.PanicOnError)
	a.config.addHubFlags(f)
	if err := f.Parse(append([]string{"--listen", "127.0.0.1:0", "--demo"}, flags...)); err != nil {
		t.Fatal(err)
	}
	if err := a.config.check(); err != nil {
		t.Fatal(err)
	}
	a.config.dataDir = filepath.Join(t.TempDir(), "data")
	p, err := a.startHub(t.Context(), home.Dir(a.config.dataDir), false, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.close("stop"); err != nil {
			t.Error(err)
		}
	})
	_, port, err := net.SplitHostPort(p.info.Addrs[0])
	if err != nil {
		t.Fatal(err)
	}
	return p, port
}

// startRelay runs the published relay on a port that a hub has. changed is sent to
// when the relay's list changes.
func startRelay(t *testing.T, port string) (session *mcp.ClientSession, changed <-chan struct{}) {
	t.Helper()
	if _, err := os.Stat(relayScript); err != nil {
		const reason = "needs the packages of hub/pages/package.json: npm ci --ignore-scripts"
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	node := exec.Command("node", relayScript, "--port", port)
	node.Env = append(os.Environ(), "HOME="+t.TempDir())
	notices := make(chan struct{}, 1)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			select {
			case notices <- struct{}{}:
			default:
			}
		},
	})
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: node, TerminateDuration: 10 * time.Millisecond}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session, notices
}

// awaitTools lists the relay's tools until they are as wanted.
func awaitTools(t *testing.T, session *mcp.ClientSession, changed <-chan struct{}, wanted func([]*mcp.Tool) bool) []*mcp.Tool {
	t.Helper()
	late := time.After(time.Minute)
	for {
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if wanted(list.Tools) {
			return list.Tools
		}
		select {
		case <-changed:
		case <-late:
			t.Fatal("the relay's list never became what it should")
		}
	}
}

func has(name string) func([]*mcp.Tool) bool {
	return func(tools []*mcp.Tool) bool {
		return slices.ContainsFunc(tools, func(t *mcp.Tool) bool { return t.Name == name })
	}
}

// A host that is set up with the relay must go on working when tabhub has its port.
func TestPublishedRelayIsAClientOfTheHub(t *testing.T) {
	p, port := serveTest(t, "--auth", "none")
	session, changed := startRelay(t, port)
	const search = "website_tool_demo_tabhub__search_products"
	tools := awaitTools(t, session, changed, has(search))
	i := slices.IndexFunc(tools, func(t *mcp.Tool) bool { return t.Name == search })
	if schema, _ := json.Marshal(tools[i].InputSchema); !strings.Contains(string(schema), `"maxPriceCents"`) {
		t.Errorf("input schema %s", schema)
	}
	if !strings.HasPrefix(tools[i].Description, "[WebMCP demo.tabhub tab 1 • Corner Shop] [demo.tabhub") || tools[i].Annotations == nil || !tools[i].Annotations.ReadOnlyHint {
		t.Errorf("description %q, annotations %+v", tools[i].Description, tools[i].Annotations)
	}
	call := func(name string, args any) *mcp.CallToolResult {
		t.Helper()
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r, _ := json.Marshal(call(search, map[string]any{"query": "mug"})); !strings.Contains(string(r), `Stoneware mug`) || !strings.Contains(string(r), `"structuredContent"`) {
		t.Errorf("search gave %s", r)
	}
	if r, ok := call("website_tool_demo_tabhub__product_picture", map[string]any{"productId": 1}).Content[0].(*mcp.ImageContent); !ok || r.MIMEType != "image/png" {
		t.Errorf("the picture is %+v", r)
	}
	if r := call(search, map[string]any{"maxPriceCents": "cheap"}); !r.IsError {
		t.Error("arguments that do not fit were taken")
	}
	if r, _ := json.Marshal(call("webmcp_list_sources", nil)); !strings.Contains(string(r), `"sourceId":"demo.tabhub tab 1"`) {
		t.Errorf("sources %s", r)
	}

	// The list follows a tab that comes and goes.
	page, err := p.tabs.Transport(spec.LocalUser).Join(t.Context(), tabtransport.Conn{
		Attested: true, Dialect: "in-process", Hello: &spec.Hello{ProtocolVersion: spec.ProtocolVersion, TabKey: "second"},
	}, func(context.Context, tabtransport.Incoming) (spec.Response, error) {
		return spec.Response{Result: json.RawMessage(`"hello"`)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	page.Send(0, &spec.Register{Kind: spec.KindTool, Items: []json.RawMessage{json.RawMessage(`{"name":"greet"}`)}, TabURL: "https://second.example/"})
	const greet = "website_tool_second_example__greet"
	awaitTools(t, session, changed, has(greet))
	if r, ok := call(greet, nil).Content[0].(*mcp.TextContent); !ok || r.Text != "hello" {
		t.Errorf("greet gave %+v", r)
	}
	page.Send(0, &spec.TabClosed{})
	page.Close()
	awaitTools(t, session, changed, func(tools []*mcp.Tool) bool { return !has(greet)(tools) })
}
