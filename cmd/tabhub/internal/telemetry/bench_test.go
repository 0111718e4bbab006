package telemetry

import (
	"context"
	"log/slog"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"tabhub/hub/telemetry"
	"tabhub/spec"
)

// What it adds to a call: all that a hub and an MCP server tell of one, which spec/docs/METRICS.md
// has the numbers of.
func BenchmarkCall(b *testing.B) {
	measured := New(Options{Version: "1"})
	exported := New(Options{Version: "1", Env: vars{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}.get, Log: slog.New(slog.DiscardHandler)})
	exported.tracer.spans = sdktrace.NewTracerProvider(sdktrace.WithBatcher(nowhere{})).Tracer(scope) // which sends nothing
	unsampled := New(Options{Version: "1", Env: vars{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}.get, Log: slog.New(slog.DiscardHandler)})
	unsampled.tracer.spans = sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())).Tracer(scope)
	for _, bb := range []struct {
		name string
		o    telemetry.Observer
	}{{"nobody", telemetry.Nobody}, {"Prometheus", measured}, {"and OpenTelemetry", exported}, {"and OpenTelemetry, not sampled", unsampled}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := &telemetry.Request{Method: "tools/call", Version: "2025-11-25", Transport: telemetry.Stdio, Began: time.Now(), Tool: tool, ID: "17", Session: "s"}
				ctx := bb.o.BeginRequest(context.Background(), r)
				_, decide := telemetry.Begin(ctx, bb.o, telemetry.Decide)
				decide.End("allow")
				in, execute := telemetry.Begin(ctx, bb.o, telemetry.Execute)
				_ = bb.o.Traceparent(in)
				execute.End("ok")
				bb.o.Called(spec.KindTool, "ok", time.Millisecond)
				bb.o.EndRequest(ctx, r)
			}
		})
	}
}

// nowhere is a span exporter that drops what it gets.
type nowhere struct{}

func (nowhere) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (nowhere) Shutdown(context.Context) error                             { return nil }
