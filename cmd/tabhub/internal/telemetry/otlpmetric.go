package telemetry

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
)

// metricExporter is an sdkmetric.Exporter of the histograms of tracer: OpenTelemetry has one
// for spans that any transport can be given, and none for metrics.
type metricExporter struct {
	*uploader
	temporality metricdata.Temporality
}

// metricExporter returns what sends metrics, nil if none are to be sent.
func (env environment) metricExporter() (*metricExporter, error) {
	u, err := env.uploader("METRICS")
	if u == nil {
		return nil, err
	}
	switch preference := env("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"); strings.ToLower(preference) {
	case "", "cumulative":
		return &metricExporter{u, metricdata.CumulativeTemporality}, nil
	case "delta", "lowmemory": // the same for histograms
		return &metricExporter{u, metricdata.DeltaTemporality}, nil
	default:
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE is %q; it may be cumulative, delta or lowmemory", preference)
	}
}

func (e metricExporter) Temporality(sdkmetric.InstrumentKind) metricdata.Temporality {
	return e.temporality
}

func (metricExporter) Aggregation(k sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(k)
}

func (metricExporter) ForceFlush(context.Context) error { return nil }

func (e metricExporter) Shutdown(context.Context) error {
	e.http.CloseIdleConnections()
	return nil
}

func (e metricExporter) Export(ctx context.Context, of *metricdata.ResourceMetrics) error {
	resource := &metricspb.ResourceMetrics{
		Resource:  &resourcepb.Resource{Attributes: pairs(of.Resource.Iter())},
		SchemaUrl: of.Resource.SchemaURL(),
	}
	for _, s := range of.ScopeMetrics {
		scope := &metricspb.ScopeMetrics{Scope: scopeOf(s.Scope), SchemaUrl: s.Scope.SchemaURL}
		for _, m := range s.Metrics {
			if h, ok := m.Data.(metricdata.Histogram[float64]); ok {
				scope.Metrics = append(scope.Metrics, &metricspb.Metric{
					Name: m.Name, Description: m.Description, Unit: m.Unit,
					Data: &metricspb.Metric_Histogram{Histogram: histogramOf(h)},
				})
			}
		}
		resource.ScopeMetrics = append(resource.ScopeMetrics, scope)
	}
	// The same bytes as an ExportMetricsServiceRequest.
	if err := e.upload(ctx, &metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{resource}}); err != nil {
		return fmt.Errorf("metrics export: %w", err) // as otlptrace says it of traces
	}
	return nil
}

func scopeOf(s instrumentation.Scope) *commonpb.InstrumentationScope {
	return &commonpb.InstrumentationScope{Name: s.Name, Version: s.Version}
}

func histogramOf(h metricdata.Histogram[float64]) *metricspb.Histogram {
	out := &metricspb.Histogram{AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE}
	if h.Temporality == metricdata.DeltaTemporality {
		out.AggregationTemporality = metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA
	}
	for _, p := range h.DataPoints {
		point := &metricspb.HistogramDataPoint{
			Attributes:        pairs(p.Attributes.Iter()),
			StartTimeUnixNano: uint64(p.StartTime.UnixNano()), TimeUnixNano: uint64(p.Time.UnixNano()),
			Count: p.Count, Sum: &p.Sum, BucketCounts: p.BucketCounts, ExplicitBounds: p.Bounds,
		}
		if v, ok := p.Min.Value(); ok {
			point.Min = &v
		}
		if v, ok := p.Max.Value(); ok {
			point.Max = &v
		}
		out.DataPoints = append(out.DataPoints, point)
	}
	return out
}

// pairs turns attributes into those of the wire. All that there are here are strings, but for
// what the environment may say of the process.
func pairs(of attribute.Iterator) (out []*commonpb.KeyValue) {
	for of.Next() {
		a := of.Attribute()
		out = append(out, &commonpb.KeyValue{
			Key:   string(a.Key),
			Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: a.Value.String()}},
		})
	}
	return out
}
