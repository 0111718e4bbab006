package telemetry

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"
	"go.opentelemetry.io/otel/semconv/v1.40.0/mcpconv"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"tabhub/hub/telemetry"
)

// scope names what makes the spans and metrics.
const scope = "tabhub"

// resultKey is how a phase has ended, as the record says it. It is the one attribute that the
// conventions do not know.
const resultKey = attribute.Key("tabhub.result")

// tracer makes spans and metrics with OpenTelemetry's SDK, as the semantic conventions for
// MCP have them.
type tracer struct {
	spans      trace.Tracer
	operations mcpconv.ServerOperationDuration
	sets       sets // of operations
	sessions   mcpconv.ServerSessionDuration
	shutdown   []func(context.Context) error
}

// newTracer returns what the environment asks for, nil if that is nothing.
func newTracer(o Options) *tracer {
	env := environment(o.Env)
	traces, err := env.uploader("TRACES")
	if err != nil {
		o.Log.Error("OpenTelemetry: no traces are sent", "err", err)
	}
	metrics, err := env.metricExporter()
	if err != nil {
		o.Log.Error("OpenTelemetry: no metrics are sent", "err", err)
	}
	if traces == nil && metrics == nil {
		return nil
	}
	otel.SetLogger(logr.FromSlogHandler(o.Log.Handler())) // what it thinks of the variables that the SDK reads
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { o.Log.Warn("OpenTelemetry", "err", err) }))
	t := &tracer{spans: tracenoop.Tracer{}, sets: sets{all: map[telemetry.Request]attribute.Set{}}}
	var meter metric.Meter = metricnoop.Meter{}
	of := describe(o)
	if traces != nil {
		o.Log.Info("OpenTelemetry: traces are sent, which name tools and their sites", "to", traces.to())
		provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(otlptrace.NewUnstarted(traceClient{traces})), sdktrace.WithResource(of))
		t.spans = provider.Tracer(scope, trace.WithInstrumentationVersion(o.Version), trace.WithSchemaURL(semconv.SchemaURL))
		t.shutdown = append(t.shutdown, provider.Shutdown)
	}
	if metrics != nil {
		o.Log.Info("OpenTelemetry: metrics are sent, which name tools and their sites", "to", metrics.to())
		provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metrics)),
			sdkmetric.WithResource(of), sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter)) // metricExporter sends none
		meter = provider.Meter(scope, metric.WithInstrumentationVersion(o.Version), metric.WithSchemaURL(semconv.SchemaURL))
		t.shutdown = append(t.shutdown, provider.Shutdown)
	}
	bounds := metric.WithExplicitBucketBoundaries(operationBuckets...)
	var serr error
	t.operations, err = mcpconv.NewServerOperationDuration(meter, bounds)
	t.sessions, serr = mcpconv.NewServerSessionDuration(meter, bounds)
	if err := errors.Join(err, serr); err != nil {
		o.Log.Error("OpenTelemetry", "err", err) // the instrument does nothing then
	}
	return t
}

// describe says what the process is. The environment has the last word.
func describe(o Options) *resource.Resource {
	of, err := resource.New(context.Background(),
		resource.WithService(), // a service.instance.id, without which the metrics of two hubs are one series
		resource.WithTelemetrySDK(),
		resource.WithAttributes(semconv.ServiceName("tabhub"), semconv.ServiceVersion(o.Version)),
		resource.WithFromEnv())
	if err != nil {
		o.Log.Warn("OpenTelemetry", "err", err)
	}
	return of
}

func (t *tracer) close(ctx context.Context) error {
	var errs []error
	for _, shutdown := range t.shutdown {
		errs = append(errs, shutdown(ctx))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("sending the last traces and metrics: %w", err)
	}
	return nil
}

// The kinds of spans, but for those inside the hub.
var (
	serves = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)}
	asks   = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient)}
)

// attributes are those that spans and metrics of a request share.
func attributes(r *telemetry.Request) []attribute.KeyValue {
	all := make([]attribute.KeyValue, 0, 12)
	all = append(all, semconv.McpMethodNameKey.String(r.Method), semconv.NetworkTransportKey.String(network(r.Transport)))
	if r.Transport != telemetry.Stdio {
		all = append(all, semconv.NetworkProtocolName("http"))
	}
	if r.Version != "" {
		all = append(all, semconv.McpProtocolVersion(r.Version))
	}
	if r.Method == "tools/call" {
		all = append(all, semconv.GenAIOperationNameExecuteTool)
	}
	if r.Tool != "" {
		all = append(all, semconv.GenAIToolName(r.Tool))
	}
	if r.Prompt != "" {
		all = append(all, semconv.GenAIPromptName(r.Prompt))
	}
	if failed := errorType(r); failed != "" {
		all = append(all, semconv.ErrorTypeKey.String(failed))
	}
	if r.Code != 0 {
		all = append(all, semconv.RPCResponseStatusCode(statusCode(r.Code)))
	}
	return all
}

func (t *tracer) beginRequest(ctx context.Context, r *telemetry.Request) context.Context {
	if p := telemetry.ParentOf(ctx); p.Traceparent != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": p.Traceparent, "tracestate": p.Tracestate})
	}
	name := r.Method
	if target := r.Tool + r.Prompt; target != "" { // it has one of them
		name += " " + target
	}
	ctx, _ = t.spans.Start(ctx, name, serves...)
	return ctx
}

func (t *tracer) endRequest(ctx context.Context, r *telemetry.Request, took time.Duration) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		all := append(attributes(r), semconv.JSONRPCRequestID(r.ID))
		if r.URI != "" {
			all = append(all, semconv.McpResourceURI(r.URI))
		}
		if r.Session != "" {
			all = append(all, semconv.McpSessionID(r.Session))
		}
		span.SetAttributes(all...)
		if errorType(r) != "" {
			span.SetStatus(codes.Error, "") // a message may quote arguments
		}
		span.End()
	}
	t.operations.RecordSet(ctx, took.Seconds(), t.sets.of(r))
}

// sets are the attributes of the metrics of requests, made once for each combination.
type sets struct {
	mu  sync.RWMutex
	all map[telemetry.Request]attribute.Set
}

// maxSets bounds the combinations that are kept. Beyond it they are made anew.
const maxSets = 1000

func (s *sets) of(r *telemetry.Request) attribute.Set {
	key := telemetry.Request{Method: r.Method, Transport: r.Transport, Version: r.Version, Code: r.Code, ToolError: r.ToolError, Cancelled: r.Cancelled}
	if r.Code == 0 { // else the name may be nobody's, and any
		key.Tool, key.Prompt = r.Tool, r.Prompt
	}
	s.mu.RLock()
	set, ok := s.all[key]
	s.mu.RUnlock()
	if ok {
		return set
	}
	set = attribute.NewSet(attributes(&key)...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) < maxSets {
		s.all[key] = set
	}
	return set
}

func (t *tracer) session(s telemetry.Session) {
	all := []attribute.KeyValue{semconv.McpProtocolVersion(s.Version), semconv.NetworkTransportKey.String(network(s.Transport))}
	if s.Transport != telemetry.Stdio {
		all = append(all, semconv.NetworkProtocolName("http"))
	}
	t.sessions.RecordSet(context.Background(), s.Took.Seconds(), attribute.NewSet(all...))
}

// phaseNames are the names of the spans of phases. A decision takes too little time for one:
// it is an event of the span around it.
var phaseNames = [...]string{telemetry.Decide: "decide", telemetry.Ask: "ask the owner", telemetry.Open: "open a tab", telemetry.Execute: "execute in the tab"}

func (t *tracer) beginPhase(ctx context.Context, p telemetry.Phase) context.Context {
	if p == telemetry.Decide {
		return ctx
	}
	if p == telemetry.Execute { // which the page may go on with
		ctx, _ = t.spans.Start(ctx, phaseNames[p], asks...)
	} else {
		ctx, _ = t.spans.Start(ctx, phaseNames[p])
	}
	return ctx
}

func (t *tracer) endPhase(ctx context.Context, p telemetry.Phase, result string) {
	span := trace.SpanFromContext(ctx)
	switch {
	case !span.IsRecording():
		return
	case p == telemetry.Decide:
		span.AddEvent(phaseNames[p], trace.WithAttributes(resultKey.String(result)))
		return
	case p != telemetry.Ask && result != "ok":
		span.SetAttributes(resultKey.String(result), semconv.ErrorTypeKey.String(result))
		span.SetStatus(codes.Error, "")
	default:
		span.SetAttributes(resultKey.String(result))
	}
	span.End()
}

// traceparent returns the span of a context as the header of W3C Trace Context.
func traceparent(ctx context.Context) string {
	of := trace.SpanContextFromContext(ctx)
	if !of.IsValid() {
		return ""
	}
	trace, span := of.TraceID(), of.SpanID()
	b := hex.AppendEncode(append(make([]byte, 0, 55), "00-"...), trace[:])
	b = hex.AppendEncode(append(b, '-'), span[:])
	if of.IsSampled() {
		return string(append(b, "-01"...))
	}
	return string(append(b, "-00"...))
}

// environment is the environment, less what is empty.
type environment func(string) string

// of returns a setting of OTLP for a signal, TRACES or METRICS, or for all.
func (env environment) of(signal, name string) string {
	if v := env("OTEL_EXPORTER_OTLP_" + signal + "_" + name); v != "" {
		return v
	}
	return env("OTEL_EXPORTER_OTLP_" + name)
}

// exports reports whether a signal is to be sent: if its exporter is otlp, or if none is
// named, but an endpoint.
func (env environment) exports(signal string) (bool, error) {
	if strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}
	switch exporter := env("OTEL_" + signal + "_EXPORTER"); exporter {
	case "otlp":
	case "none":
		return false, nil
	case "":
		if env.of(signal, "ENDPOINT") == "" {
			return false, nil
		}
	default:
		return false, fmt.Errorf("OTEL_%s_EXPORTER is %q; it may be otlp or none, and Prometheus reads /metrics", signal, exporter)
	}
	if p := env.of(signal, "PROTOCOL"); p != "" && p != "http/protobuf" {
		return false, fmt.Errorf("the OTLP protocol for %s is %q; tabhub speaks http/protobuf alone: set OTEL_EXPORTER_OTLP_%s_PROTOCOL=http/protobuf, and an endpoint that takes it, on a collector mostly port 4318", strings.ToLower(signal), p, signal)
	}
	return true, nil
}
