package telemetry

import (
	"net/http"
	"time"

	"tabhub/hub"
	"tabhub/hub/record"
	"tabhub/hub/telemetry"
	"tabhub/spec"
	"tabhub/tabtransport/wsserver"
)

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
type Telemetry struct{ metrics *metrics }

var _ telemetry.Observer = (*Telemetry)(nil)

// New returns a Telemetry of a hub of that version.
func New(version string) *Telemetry { return &Telemetry{newMetrics(version)} }

// Watch has p looked at when metrics are read. It is called once.
func (t *Telemetry) Watch(p Process) { t.metrics.registry.MustRegister(collector{p, newReadings()}) }

// Handler serves what Prometheus reads.
func (t *Telemetry) Handler() http.Handler { return t.metrics.handler() }

// EndRequest implements telemetry.Observer.
func (t *Telemetry) EndRequest(r *telemetry.Request) { t.metrics.request(r, time.Since(r.Began)) }

// BeginSession implements telemetry.Observer.
func (t *Telemetry) BeginSession(of telemetry.Transport) { t.metrics.sessions[of].Inc() }

// EndSession implements telemetry.Observer.
func (t *Telemetry) EndSession(s telemetry.Session) { t.metrics.session(s) }

// EndPhase implements telemetry.Observer.
func (t *Telemetry) EndPhase(p telemetry.Phase, took time.Duration, result string) {
	t.metrics.phase(p, took, result)
}

// Called implements telemetry.Observer.
func (t *Telemetry) Called(kind spec.Kind, outcome string, took time.Duration) {
	t.metrics.called(kind, outcome, took)
}
