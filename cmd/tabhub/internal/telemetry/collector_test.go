package telemetry

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"tabhub/hub"
	"tabhub/hub/auth"
	"tabhub/hub/hubtest"
	"tabhub/hub/mcpserver"
	"tabhub/hub/policy"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// otlp is a collector: it takes what is sent to it over OTLP/HTTP.
type otlp struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	bodies  []string
	spans   []*tracepb.Span
	metrics []*metricspb.Metric
	process map[string]string // attributes of the resource
}

func newCollector(t *testing.T) *otlp {
	c := &otlp{t: t}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *otlp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("X-Key") != "a b" {
		c.t.Errorf("%s %s %v: %v", r.Method, r.URL, r.Header, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies = append(c.bodies, string(body))
	switch r.URL.Path {
	case "/v1/traces":
		var in collectortrace.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &in); err != nil {
			c.t.Error(err)
		}
		for _, of := range in.ResourceSpans {
			c.process = texts(of.Resource.Attributes)
			for _, s := range of.ScopeSpans {
				c.spans = append(c.spans, s.Spans...)
			}
		}
	case "/v1/metrics":
		var in collectormetrics.ExportMetricsServiceRequest
		if err := proto.Unmarshal(body, &in); err != nil {
			c.t.Error(err)
		}
		for _, of := range in.ResourceMetrics {
			for _, s := range of.ScopeMetrics {
				c.metrics = append(c.metrics, s.Metrics...)
			}
		}
	default:
		c.t.Errorf("nothing is served at %s", r.URL)
	}
}

func (c *otlp) env() func(string) string {
	return vars{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL + "/", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b"}.get
}

// span returns the one span of that name.
func (c *otlp) span(name string) *tracepb.Span {
	c.t.Helper()
	var found []*tracepb.Span
	for _, s := range c.spans {
		if s.Name == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		c.t.Fatalf("%d spans are named %q in %v", len(found), name, c.spans)
	}
	return found[0]
}

type vars map[string]string

func (v vars) get(name string) string { return v[name] }

func texts(of []*commonpb.KeyValue) map[string]string {
	out := map[string]string{}
	for _, kv := range of {
		out[kv.Key] = kv.Value.GetStringValue()
	}
	return out
}

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

func newRig(t *testing.T, env func(string) string) *rig {
	r := &rig{
		Telemetry: New(Options{Version: "1.2.3", Env: env, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}),
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
	s := mcpserver.New(h, mcpserver.Options{Telemetry: r.Telemetry})
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	owner := mcpserver.WithIdentity(context.Background(), &auth.Identity{User: spec.LocalUser, Kind: auth.KindOwner, Who: policy.Owner})
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
