package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"tabhub/hub"
	"tabhub/hub/trust/record"
	"tabhub/tabtransport/wsserver"
)

// Process is looked at when metrics are read.
type Process struct {
	Hubs    func() []Hub // of the users, without those not used yet
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

// collector reads metrics off a process when they are asked for. What belongs to users is
// summed up over all of them.
type collector struct {
	Process
	readings
}

// reading is a metric that is read off.
type reading[T any] struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(T) float64
}

func gauge[T any](name, help string, of func(T) float64) reading[T] {
	return reading[T]{prometheus.NewDesc(name, help, nil, nil), prometheus.GaugeValue, of}
}

func counter[T any](name, help string, of func(T) float64) reading[T] {
	return reading[T]{prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue, of}
}

// readings are what is read off hubs and sockets.
type readings struct {
	ofHubs    []reading[Hub]
	ofSockets []reading[wsserver.Stats]
	refused   *prometheus.Desc
}

func newReadings() readings {
	return readings{
		ofHubs: []reading[Hub]{
			gauge("tabhub_hubs", "Hubs of users that are open.", func(Hub) float64 { return 1 }),
			gauge("tabhub_browsers", "Browsers that are connected.", func(h Hub) float64 { return float64(h.Browsers) }),
			gauge("tabhub_pages", "Pages and programs that have joined by themselves, without a browser's extension.", func(h Hub) float64 { return float64(h.Pages) }),
			gauge("tabhub_tabs", "Tabs that are open.", func(h Hub) float64 { return float64(h.Tabs) }),
			gauge("tabhub_sites", "Sites that these tabs show.", func(h Hub) float64 { return float64(h.Domains) }),
			gauge("tabhub_tools", "Tools that are offered.", func(h Hub) float64 { return float64(h.Tools) }),
			gauge("tabhub_tools_cached", "Tools that are listed though no tab has them now.", func(h Hub) float64 { return float64(h.Cached) }),
			gauge("tabhub_resources", "Resources and templates that are offered.", func(h Hub) float64 { return float64(h.Resources) }),
			gauge("tabhub_prompts", "Prompts that are offered.", func(h Hub) float64 { return float64(h.Prompts) }),
			gauge("tabhub_items_rejected", "Tools, resources and prompts that were not taken, by the latest registrations.", func(h Hub) float64 { return float64(h.Rejected) }),
			gauge("tabhub_calls_in_flight", "Calls that are under way.", func(h Hub) float64 { return float64(h.InFlight) }),
			gauge("tabhub_questions_waiting", "Questions that wait for an owner.", func(h Hub) float64 { return float64(h.Questions) }),
			gauge("tabhub_store_failing", "Hubs whose latest write to the store has failed.", func(h Hub) float64 { return one(h.StoreError != "") }),
			gauge("tabhub_record_failing", "Hubs whose record cannot be written now.", func(h Hub) float64 { return one(h.Record.Error != "") }),
			gauge("tabhub_record_queued_bytes", "What the record has not written yet, about.", func(h Hub) float64 { return float64(h.Queued) }),
			counter("tabhub_record_lost_total", "Entries of the record that could not be written.", func(h Hub) float64 { return float64(h.Record.Lost) }),
		},
		ofSockets: []reading[wsserver.Stats]{
			gauge("tabhub_socket_connections", "WebSockets of browsers and pages that are open.", func(s wsserver.Stats) float64 { return float64(s.Connections) }),
			counter("tabhub_socket_accepted_total", "WebSockets that were accepted.", func(s wsserver.Stats) float64 { return float64(s.Accepted) }),
			counter("tabhub_socket_refused_total", "WebSockets that were refused, by their credentials or by the hub.", func(s wsserver.Stats) float64 { return float64(s.Refused) }),
			counter("tabhub_socket_malformed_total", "Frames that were no message.", func(s wsserver.Stats) float64 { return float64(s.Malformed) }),
			counter("tabhub_socket_stray_total", "Answers and progress that nobody waited for.", func(s wsserver.Stats) float64 { return float64(s.Stray) }),
			counter("tabhub_socket_oversized_total", "Frames that were too large.", func(s wsserver.Stats) float64 { return float64(s.TooBig) }),
			counter("tabhub_socket_throttled_total", "Registrations that a later one has replaced before they were read.", func(s wsserver.Stats) float64 { return float64(s.Throttled) }),
			counter("tabhub_socket_slow_total", "WebSockets closed because the peer did not read or answer.", func(s wsserver.Stats) float64 { return float64(s.Slow) }),
			counter("tabhub_socket_flooding_total", "WebSockets closed because the peer sent too much.", func(s wsserver.Stats) float64 { return float64(s.TooFast) }),
		},
		refused: prometheus.NewDesc("tabhub_users_limited_total", "Requests and sockets that were refused because a user had too many.", []string{"of"}, nil),
	}
}

// Watch has p looked at when metrics are read. It is called once, before they are.
func (t *Telemetry) Watch(p Process) { t.process = p }

// Describe implements prometheus.Collector: what it reads is not known before.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	hubs, sockets := c.Hubs(), c.Sockets()
	for _, r := range c.ofHubs {
		var sum float64
		for _, h := range hubs {
			sum += r.of(h)
		}
		to <- prometheus.MustNewConstMetric(r.desc, r.kind, sum)
	}
	for _, r := range c.ofSockets {
		to <- prometheus.MustNewConstMetric(r.desc, r.kind, r.of(sockets))
	}
	refusedRequests, refusedSockets := c.Refused()
	to <- prometheus.MustNewConstMetric(c.refused, prometheus.CounterValue, float64(refusedRequests), "request")
	to <- prometheus.MustNewConstMetric(c.refused, prometheus.CounterValue, float64(refusedSockets), "socket")
}
