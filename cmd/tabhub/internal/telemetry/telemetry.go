package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"tabhub/hub"
	"tabhub/hub/record"
	"tabhub/hub/telemetry"
	"tabhub/spec"
	"tabhub/tabtransport/wsserver"
)

// Options configure a Telemetry. Version and Log must be set.
type Options struct {
	Version string
	Env     func(string) string // nil: nothing is set
	Log     *slog.Logger
}

// Process is looked at when metrics are read.
type Process struct {
	Hubs    func() []Hub // of the users, less those that nobody has used yet
	Sockets func() wsserver.Stats
	// Refused are the requests, and the sockets and streams, that were more than a user may have.
	Refused func() (requests, sockets int64)
}

// Hub is how one user's hub is.
type Hub struct {
	hub.Status
	Questions int // that wait for the owner
	Queued    int // bytes that the record has not written yet
	Record    record.Status
}

// Telemetry is a telemetry.Observer. All methods are safe for concurrent use.
type Telemetry struct {
	metrics *metrics
	tracer  *tracer // nil: OpenTelemetry is not wanted
}

var _ telemetry.Observer = (*Telemetry)(nil)

// New returns a Telemetry. What the environment says that cannot be done is logged, and left
// out: it is meant for other programs, too, and must keep no hub from running.
func New(o Options) *Telemetry {
	if o.Env == nil {
		o.Env = func(string) string { return "" }
	}
	return &Telemetry{metrics: newMetrics(o.Version), tracer: newTracer(o)}
}

// Watch has p looked at when metrics are read. It is called once.
func (t *Telemetry) Watch(p Process) { t.metrics.registry.MustRegister(collector{p, newReadings()}) }

// Handler serves what Prometheus reads.
func (t *Telemetry) Handler() http.Handler { return t.metrics.handler() }

// lastSend is how long a hub that ends may wait for a collector.
const lastSend = 2 * time.Second

// Close sends what is left to the collector, and waits a moment for that.
func (t *Telemetry) Close(ctx context.Context) error {
	if t.tracer == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lastSend)
	defer cancel()
	return t.tracer.close(ctx)
}

// BeginRequest implements telemetry.Observer.
func (t *Telemetry) BeginRequest(ctx context.Context, r *telemetry.Request) context.Context {
	if t.tracer == nil {
		return ctx
	}
	return t.tracer.beginRequest(ctx, r)
}

// EndRequest implements telemetry.Observer.
func (t *Telemetry) EndRequest(ctx context.Context, r *telemetry.Request) {
	took := time.Since(r.Began)
	t.metrics.request(r, took)
	if t.tracer != nil {
		t.tracer.endRequest(ctx, r, took)
	}
}

// Details implements telemetry.Observer.
func (t *Telemetry) Details() bool { return t.tracer != nil }

// BeginSession implements telemetry.Observer.
func (t *Telemetry) BeginSession(of telemetry.Transport) { t.metrics.sessions[of].Inc() }

// EndSession implements telemetry.Observer.
func (t *Telemetry) EndSession(s telemetry.Session) {
	t.metrics.session(s)
	if t.tracer != nil {
		t.tracer.session(s)
	}
}

// BeginPhase implements telemetry.Observer.
func (t *Telemetry) BeginPhase(ctx context.Context, p telemetry.Phase) context.Context {
	if t.tracer == nil {
		return ctx
	}
	return t.tracer.beginPhase(ctx, p)
}

// EndPhase implements telemetry.Observer.
func (t *Telemetry) EndPhase(ctx context.Context, p telemetry.Phase, took time.Duration, result string) {
	t.metrics.phase(p, took, result)
	if t.tracer != nil {
		t.tracer.endPhase(ctx, p, result)
	}
}

// Called implements telemetry.Observer.
func (t *Telemetry) Called(kind spec.Kind, outcome string, took time.Duration) {
	t.metrics.called(kind, outcome, took)
}

// Traceparent implements telemetry.Observer.
func (t *Telemetry) Traceparent(ctx context.Context) string {
	if t.tracer != nil {
		if parent := traceparent(ctx); parent != "" {
			return parent
		}
	}
	return telemetry.Nobody.Traceparent(ctx)
}
