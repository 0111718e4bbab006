package telemetry

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

const (
	clientTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	clientSpan  = "00f067aa0ba902b7"
)

// One call shows in a collector as one trace, from the client's span to the one that the page
// goes on from, in the words of the semantic conventions for MCP.
func TestTraceOfACall(t *testing.T) {
	c := newCollector(t)
	r := newRig(t, c.env())
	meta := mcp.Meta{"traceparent": "00-" + clientTrace + "-" + clientSpan + "-01", "tracestate": "vendor=1", "baggage": "who=the private user"}
	if err := r.call(t, tool, meta); err != nil {
		t.Fatal(err)
	}
	told := r.told(t)
	if err := r.client.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	served, executed := c.span("tools/call "+tool), c.span("execute in the tab")
	if got := hex.EncodeToString(served.TraceId) + " " + hex.EncodeToString(served.ParentSpanId); got != clientTrace+" "+clientSpan || served.TraceState != "vendor=1" {
		t.Errorf("the request is a part of %s, %s", got, served.TraceState)
	}
	if served.Kind != tracepb.Span_SPAN_KIND_SERVER || executed.Kind != tracepb.Span_SPAN_KIND_CLIENT || served.Status.GetCode() != tracepb.Status_STATUS_CODE_UNSET {
		t.Errorf("the request's span is %v", served)
	}
	if !bytes.Equal(executed.TraceId, served.TraceId) || !bytes.Equal(executed.ParentSpanId, served.SpanId) {
		t.Errorf("the call is not below the request: %v", executed)
	}
	if want := fmt.Sprintf(`"00-%s-%x-01"`, clientTrace, executed.SpanId); told != want {
		t.Errorf("the page was told %s, want %s", told, want)
	}

	// The names are those of docs/gen-ai/mcp.md of the semantic conventions.
	got := texts(served.Attributes)
	for _, key := range []string{"jsonrpc.request.id", "mcp.session.id", "mcp.protocol.version"} {
		if got[key] == "" {
			t.Errorf("the request's span has no %s: %v", key, got)
		}
		delete(got, key)
	}
	want := map[string]string{
		"mcp.method.name": "tools/call", "gen_ai.tool.name": tool, "gen_ai.operation.name": "execute_tool", "network.transport": "pipe",
	}
	if !maps.Equal(got, want) {
		t.Errorf("the request's span has %v, want %v", got, want)
	}
	if e := served.Events; len(e) != 1 || e[0].Name != "decide" || texts(e[0].Attributes)["tabhub.result"] != "allow" {
		t.Errorf("the decision is not in the request's span: %v", e)
	}
	if c.process["service.name"] != "tabhub" || c.process["service.version"] != "1.2.3" || c.process["service.instance.id"] == "" {
		t.Errorf("the process is %v", c.process)
	}
	if got := texts(c.span("initialize").Attributes)["mcp.protocol.version"]; got != "2025-11-25" {
		t.Errorf("initialize has agreed on %q", got)
	}

	names := map[string]string{}
	for _, m := range c.metrics {
		names[m.Name] = m.Unit
		for _, p := range m.GetHistogram().GetDataPoints() {
			if !slices.Equal(p.ExplicitBounds, []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}) {
				t.Errorf("%s has the bounds %v", m.Name, p.ExplicitBounds)
			}
			of := texts(p.Attributes)
			if of["mcp.method.name"] != "tools/call" {
				continue
			}
			delete(of, "mcp.protocol.version")
			if !maps.Equal(of, want) || p.Count != 1 {
				t.Errorf("%s counts %d of %v, want 1 of %v", m.Name, p.Count, of, want)
			}
		}
	}
	if want := map[string]string{"mcp.server.operation.duration": "s", "mcp.server.session.duration": "s"}; !maps.Equal(names, want) {
		t.Errorf("the metrics are %v, want %v", names, want)
	}
	if all := strings.Join(c.bodies, ""); strings.Contains(all, "private") {
		t.Errorf("an argument, a result or who has asked is in what was sent:\n%q", all)
	}
}

// What failed, and why, shows in its span; a name that is nobody's makes no series.
func TestTraceOfFailures(t *testing.T) {
	c := newCollector(t)
	r := newRig(t, c.env())
	if err := r.call(t, crash, nil); err != nil {
		t.Fatal(err)
	}
	if err := r.call(t, "nobodys", nil); err == nil {
		t.Fatal("a name that is nobody's was called")
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	failed := c.span("tools/call " + crash)
	if got := texts(failed.Attributes); got["error.type"] != "tool_error" || failed.Status.Code != tracepb.Status_STATUS_CODE_ERROR {
		t.Errorf("what failed has %v, %v", got, failed.Status)
	}
	// That is no failure of the server, say the conventions.
	unknown := c.span("tools/call nobodys")
	if got := texts(unknown.Attributes); got["rpc.response.status_code"] != "-32602" || got["error.type"] != "" || unknown.Status.GetCode() != tracepb.Status_STATUS_CODE_UNSET {
		t.Errorf("what is unknown has %v, %v", got, unknown.Status)
	}
	for _, m := range c.metrics {
		for _, p := range m.GetHistogram().GetDataPoints() {
			if of := texts(p.Attributes); of["gen_ai.tool.name"] == "nobodys" {
				t.Errorf("%s counts by the names that clients make up: %v", m.Name, of)
			}
		}
	}
}

// A page goes on from its client's span even if the hub traces nothing, and from nothing that
// is no span.
func TestTraceparentWithoutTracing(t *testing.T) {
	r := newRig(t, nil)
	const good = "00-" + clientTrace + "-" + clientSpan + "-01"
	for sent, want := range map[any]string{
		good: `"` + good + `"`, nil: "", 7: "", "": "", good + "-1": "", "ff" + good[2:]: "", strings.ToUpper(good): "", good[:52] + `"<b`: "",
		"00-" + strings.Repeat("0", 32) + good[35:]: "", good[:36] + strings.Repeat("0", 16) + good[52:]: "",
	} {
		if err := r.call(t, tool, mcp.Meta{"traceparent": sent}); err != nil {
			t.Fatal(err)
		}
		if got := r.told(t); got != want {
			t.Errorf("of %v the page was told %s, want %s", sent, got, want)
		}
	}
}

// What OpenTelemetry's SDK says goes to the hub's log, in its form.
func TestLogOfTheSDK(t *testing.T) {
	t.Setenv("OTEL_METRIC_EXPORT_INTERVAL", "10s")
	var log bytes.Buffer
	made := New(Options{Env: newCollector(t).env(), Log: slog.New(slog.NewJSONHandler(&log, nil))})
	if err := made.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), `"environment variable":"OTEL_METRIC_EXPORT_INTERVAL"`) {
		t.Errorf("logged %s", &log)
	}
}

// Nothing is made of the SDK unless the environment wants it, and what it wants that cannot
// be done is said and left out: the hub has to run.
func TestEnvironment(t *testing.T) {
	const at = "http://127.0.0.1:1"
	for _, tt := range []struct {
		env             vars
		traces, metrics bool
		says            string
	}{
		{vars{}, false, false, ""},
		{vars{"OTEL_SERVICE_NAME": "other", "OTEL_TRACES_SAMPLER": "always_on"}, false, false, ""},
		{vars{"OTEL_EXPORTER_OTLP_ENDPOINT": at}, true, true, ""},
		{vars{"OTEL_EXPORTER_OTLP_ENDPOINT": at, "OTEL_SDK_DISABLED": "true"}, false, false, ""},
		{vars{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": at}, true, false, ""},
		{vars{"OTEL_METRICS_EXPORTER": "otlp"}, false, true, ""},
		{vars{"OTEL_EXPORTER_OTLP_ENDPOINT": at, "OTEL_METRICS_EXPORTER": "none"}, true, false, ""},
		{vars{"OTEL_EXPORTER_OTLP_ENDPOINT": at, "OTEL_METRICS_EXPORTER": "prometheus"}, true, false, "OTEL_METRICS_EXPORTER"},
		{vars{"OTEL_EXPORTER_OTLP_ENDPOINT": at, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, false, false, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf"},
		{vars{"OTEL_EXPORTER_OTLP_ENDPOINT": at, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"}, true, false, "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL"},
	} {
		traces, err := environment(tt.env.get).exports("TRACES")
		metrics, merr := environment(tt.env.get).exports("METRICS")
		said := fmt.Sprint(err, merr)
		if traces != tt.traces || metrics != tt.metrics || !strings.Contains(said, tt.says) || (tt.says == "") != (err == nil && merr == nil) {
			t.Errorf("%v: traces %v, metrics %v, %s", tt.env, traces, metrics, said)
		}
		var log bytes.Buffer
		made := New(Options{Env: tt.env.get, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if (made.tracer != nil) != (tt.traces || tt.metrics) || !strings.Contains(log.String(), tt.says) {
			t.Errorf("%v: made %v, logged %s", tt.env, made.tracer, &log)
		}
		if made.tracer != nil && tt.metrics { // nothing was measured, so nothing is sent
			continue
		}
		if err := made.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
