package telemetry

import (
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"tabhub/hub/telemetry"
	"tabhub/spec"
)

// Telemetry is a telemetry.Observer: it counts what happens, for Prometheus. Metrics that begin
// with mcp_ have the names that OpenTelemetry's conventions come to in Prometheus. All methods are
// safe for concurrent use.
type Telemetry struct {
	version  string
	process  Process                     // see Watch
	registry func() *prometheus.Registry // of the first scrape, which is not before Watch and WatchNode

	requests       *prometheus.HistogramVec // by method, transport and error
	sessionLengths *prometheus.HistogramVec // by transport and version
	sessions       [telemetry.Stdio + 1]prometheus.Gauge

	calls     *prometheus.CounterVec // by kind and outcome
	durations map[spec.Kind]prometheus.Observer
	phases    [telemetry.Execute + 1]prometheus.Observer // but Decide, which takes no time
	decisions *prometheus.CounterVec

	openSessions              *prometheus.GaugeVec     // of sessions
	callDurations, callPhases *prometheus.HistogramVec // of durations and phases

	node *nodeMetrics // nil unless the process is a node of a cluster
}

// operationBuckets are the bounds that the conventions want for operations and sessions of
// MCP, in seconds.
var operationBuckets = []float64{.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 120, 300}

// callBuckets are for calls, most of which a page answers within milliseconds.
var callBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}

// outcomes are those of calls. Their counters begin with 0: of one that appears with its first
// failure, rate and increase in Prometheus see none.
var outcomes = []string{
	"ok", "cancelled", "asked", "unknown",
	string(spec.FailTabNotFound), string(spec.FailTabClosed), string(spec.FailNotConnected), string(spec.FailToolTimeout),
	string(spec.FailToolError), string(spec.FailInvalidArguments), string(spec.FailQueueFull), string(spec.FailDenied),
	string(spec.FailPaused), string(spec.FailStopped),
}

// histogram has buckets, and native ones for a Prometheus that takes them.
func histogram(name, help string, buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160, NativeHistogramMinResetDuration: time.Hour,
	}
}

// New returns a Telemetry of a hub of that version.
func New(version string) *Telemetry {
	m := &Telemetry{
		version: version,
		requests: prometheus.NewHistogramVec(histogram("mcp_server_operation_duration_seconds",
			"How long requests of MCP clients took; error_type is empty for those that did not fail.", operationBuckets),
			[]string{"mcp_method_name", "network_transport", "error_type"}),
		sessionLengths: prometheus.NewHistogramVec(histogram("mcp_server_session_duration_seconds",
			"How long sessions of MCP clients lasted that have ended.", operationBuckets),
			[]string{"network_transport", "mcp_protocol_version"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tabhub_calls_total",
			Help: "Calls of what pages offer, by how they have ended."}, []string{"kind", "outcome"}),
		durations: map[spec.Kind]prometheus.Observer{},
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tabhub_decisions_total",
			Help: "What the owner's rules have said of actions."}, []string{"decision"}),
	}
	m.callDurations = prometheus.NewHistogramVec(histogram("tabhub_call_duration_seconds",
		"How long calls of what pages offer took, without the time that the owner took to answer.", callBuckets), []string{"kind"})
	for _, kind := range kinds {
		m.durations[kind] = m.callDurations.WithLabelValues(string(kind))
	}
	m.callPhases = prometheus.NewHistogramVec(histogram("tabhub_call_phase_duration_seconds",
		"How long parts of calls took: ask (the owner), open (a tab), execute (in the tab).", callBuckets), []string{"phase"})
	for p := telemetry.Ask; p <= telemetry.Execute; p++ {
		m.phases[p] = m.callPhases.WithLabelValues(p.String())
	}
	m.openSessions = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "tabhub_mcp_sessions",
		Help: "MCP sessions that are open."}, []string{"transport"})
	for i := range m.sessions {
		m.sessions[i] = m.openSessions.WithLabelValues(telemetry.Transport(i).String())
	}
	m.registry = sync.OnceValue(m.register)
	return m
}

var kinds = []spec.Kind{spec.KindTool, spec.KindResource, spec.KindPrompt}

// register makes what only scrapes need, so that no start waits for it.
func (t *Telemetry) register() *prometheus.Registry {
	for _, kind := range kinds {
		for _, outcome := range outcomes {
			t.calls.WithLabelValues(string(kind), outcome)
		}
	}
	for _, decision := range []string{"allow", "ask", "deny"} {
		t.decisions.WithLabelValues(decision)
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "tabhub_build_info", Help: "The version of the hub; always 1.",
		ConstLabels: prometheus.Labels{"version": t.version, "goversion": runtime.Version()}})
	build.Set(1)
	r := prometheus.NewRegistry()
	r.MustRegister(t.requests, t.sessionLengths, t.openSessions, t.calls, t.callDurations, t.callPhases, t.decisions, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if t.process.Hubs != nil {
		r.MustRegister(collector{t.process, newReadings()})
	}
	if n := t.node; n != nil {
		r.MustRegister(n, n.opened, n.written)
	}
	return r
}

// Handler serves what Prometheus reads.
func (t *Telemetry) Handler() http.Handler {
	scrape := sync.OnceValue(func() http.Handler {
		return promhttp.HandlerFor(t.registry(), promhttp.HandlerOpts{Registry: t.registry()})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { scrape().ServeHTTP(w, r) })
}

// EndRequest implements telemetry.Observer.
func (t *Telemetry) EndRequest(r *telemetry.Request) {
	t.requests.WithLabelValues(r.Method, network(r.Transport), errorType(r)).Observe(time.Since(r.Began).Seconds())
}

// BeginSession implements telemetry.Observer.
func (t *Telemetry) BeginSession(of telemetry.Transport) { t.sessions[of].Inc() }

// EndSession implements telemetry.Observer.
func (t *Telemetry) EndSession(s telemetry.Session) {
	t.sessions[s.Transport].Dec()
	t.sessionLengths.WithLabelValues(network(s.Transport), s.Version).Observe(s.Took.Seconds())
}

// EndPhase implements telemetry.Observer.
func (t *Telemetry) EndPhase(p telemetry.Phase, took time.Duration, result string) {
	if p != telemetry.Decide {
		t.phases[p].Observe(took.Seconds())
	} else if result != "" {
		t.decisions.WithLabelValues(result).Inc()
	}
}

// Called implements telemetry.Observer.
func (t *Telemetry) Called(kind spec.Kind, outcome string, took time.Duration) {
	t.calls.WithLabelValues(string(kind), outcome).Inc()
	if took > 0 { // else it never was one: its name is nobody's
		t.durations[kind].Observe(took.Seconds())
	}
}

// network is the network.transport of a client.
func network(t telemetry.Transport) string {
	if t == telemetry.Stdio {
		return "pipe"
	}
	return "tcp"
}

// errorType is the error.type of a request, "" if it has not failed. Some codes say that the
// client has asked for what cannot be served, which is no failure of the server.
func errorType(r *telemetry.Request) string {
	switch {
	case r.Cancelled:
		return "cancelled"
	case r.ToolError:
		return "tool_error"
	}
	switch r.Code {
	case 0, spec.CodeParseError, spec.CodeInvalidRequest, spec.CodeMethodNotFound, spec.CodeInvalidParams, resourceNotFound,
		headerMismatch, missingCapability, unsupportedVersion:
		return ""
	}
	return statusCode(r.Code)
}

// MCP's own codes for what a client has asked wrongly: until 2025-11-25, and from 2026-07-28.
const (
	resourceNotFound   = -32002
	headerMismatch     = -32020
	missingCapability  = -32021
	unsupportedVersion = -32022
)

// statusCode is the rpc.response.status_code of a JSON-RPC error. A page can make up codes.
func statusCode(code int) string {
	switch {
	case code == spec.CodeParseError, code <= spec.CodeInvalidRequest && code >= spec.CodeInternal, code <= resourceNotFound && code >= unsupportedVersion:
		return strconv.Itoa(code)
	}
	return "_OTHER"
}
