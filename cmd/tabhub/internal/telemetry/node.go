package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tabhub/hub/cluster"
	"tabhub/hub/cluster/forward"
	"tabhub/storage/jetstream"
)

// Node is how a process is as a node of a cluster. It is looked at when metrics are read.
type Node struct {
	cluster.Stats
	Members []cluster.Member
	Users   cluster.UsersStats
	Forward forward.Stats
	Links   int // connections to other nodes
	Journal jetstream.Stats
}

// nodeMetrics are those of a node.
type nodeMetrics struct {
	read     func() Node
	readings []reading[Node]
	members  *prometheus.Desc
	forward  *prometheus.Desc

	opened, written prometheus.Histogram
}

// openBuckets are for opening a user's hub, which may have to wait for a lease to end, and
// writeBuckets for writes to JetStream, which may have to wait for an election.
var (
	openBuckets  = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15}
	writeBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
)

// WatchNode has how the node is looked at when metrics are read. It is called once, before
// they are, and before Opened and Written are, and only for a node.
func (t *Telemetry) WatchNode(read func() Node) {
	m := &nodeMetrics{
		read: read,
		readings: []reading[Node]{
			gauge("tabhub_node_lease_held", "Whether the node has its lease and may serve its users.", func(n Node) float64 { return one(n.Held) }),
			gauge("tabhub_node_lease_age_seconds", "Time since the last renewal of the lease that has succeeded.", func(n Node) float64 { return n.Age.Seconds() }),
			counter("tabhub_node_lease_renewals_total", "Renewals of the lease.", func(n Node) float64 { return float64(n.Renewals) }),
			counter("tabhub_node_lease_renewals_failed_total", "Attempts to renew the lease that have failed.", func(n Node) float64 { return float64(n.RenewalsFailed) }),
			counter("tabhub_node_suspensions_total", "Times that the lease was held again after it was not.", func(n Node) float64 { return float64(n.Suspensions) }),
			counter("tabhub_node_suspended_seconds_total", "How long these have lasted.", func(n Node) float64 { return n.Suspended.Seconds() }),
			counter("tabhub_node_lost_total", "Times that the node had to close the hubs of all its users.", func(n Node) float64 { return float64(n.Lost) }),
			counter("tabhub_node_users_failed_total", "Times that a user's hub could not be opened.", func(n Node) float64 { return float64(n.Users.Failed) }),
			counter("tabhub_node_users_moved_total", "Users that were given to another node.", func(n Node) float64 { return float64(n.Users.Moved) }),
			gauge("tabhub_node_links", "Connections to other nodes.", func(n Node) float64 { return float64(n.Links) }),
			gauge("tabhub_node_splices", "WebSockets that have come here and are passed on to another node.", func(n Node) float64 { return float64(n.Forward.Splices) }),
			counter("tabhub_journal_messages_total", "Messages written to users' journals.", func(n Node) float64 { return float64(n.Journal.Messages) }),
			counter("tabhub_journal_bytes_total", "Bytes of these.", func(n Node) float64 { return float64(n.Journal.Bytes) }),
			counter("tabhub_journal_snapshots_total", "Journals that were compacted.", func(n Node) float64 { return float64(n.Journal.Snapshots) }),
			gauge("tabhub_journal_queued_bytes", "What is not written to the journals yet, about.", func(n Node) float64 { return float64(n.Journal.Waiting) }),
		},
		members: prometheus.NewDesc("tabhub_node_members", "Nodes of the cluster that have a lease, as this one sees them.", []string{"state"}, nil),
		forward: prometheus.NewDesc("tabhub_node_forwarded_total", "Requests and WebSockets for other nodes, by what has become of them.", []string{"outcome"}, nil),
		opened: prometheus.NewHistogram(histogram("tabhub_node_user_open_duration_seconds",
			"How long it took to open the hubs of users that were opened here.", openBuckets)),
		written: prometheus.NewHistogram(histogram("tabhub_journal_write_duration_seconds",
			"How long writes to users' journals took.", writeBuckets)),
	}
	t.node = m
}

// Opened counts a user's hub that was opened here. Without WatchNode it does nothing.
func (t *Telemetry) Opened(took time.Duration) {
	if m := t.node; m != nil {
		m.opened.Observe(took.Seconds())
	}
}

// Written counts a write to a user's journal. Without WatchNode it does nothing.
func (t *Telemetry) Written(took time.Duration) {
	if m := t.node; m != nil {
		m.written.Observe(took.Seconds())
	}
}

// Describe implements prometheus.Collector, as that of collector.
func (m *nodeMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m *nodeMetrics) Collect(to chan<- prometheus.Metric) {
	n := m.read()
	for _, r := range m.readings {
		to <- prometheus.MustNewConstMetric(r.desc, r.kind, r.of(n))
	}
	for _, state := range []cluster.State{cluster.Joining, cluster.Ready, cluster.Suspended, cluster.Draining} {
		count := 0
		for _, member := range n.Members {
			if member.State == state {
				count++
			}
		}
		to <- prometheus.MustNewConstMetric(m.members, prometheus.GaugeValue, float64(count), string(state))
	}
	for outcome, count := range map[string]int64{"ok": n.Forward.OK, "again": n.Forward.Again, "unreached": n.Forward.Unreached, "broken": n.Forward.Broken} {
		to <- prometheus.MustNewConstMetric(m.forward, prometheus.CounterValue, float64(count), outcome)
	}
}

// one is 1 for true.
func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
