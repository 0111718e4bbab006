package telemetry

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"tabhub/hub"
	"tabhub/hub/cluster"
	"tabhub/hub/cluster/forward"
	"tabhub/hub/state"
	"tabhub/hub/telemetry"
	"tabhub/storage/jetstream"
	"tabhub/tabtransport/wsserver"
)

// A scrape tells how calls went, and names no tool, site or client.
func TestScrape(t *testing.T) {
	r := newRig(t)
	r.Watch(Process{
		Hubs: func() []Hub {
			return []Hub{{Status: hub.Status{Counts: state.Counts{Tools: 2}, StoreError: "full"}}, {Status: hub.Status{Counts: state.Counts{Tools: 3}}, Questions: 1}}
		},
		Sockets: func() wsserver.Stats { return wsserver.Stats{Connections: 4, TooBig: 5} },
		Refused: func() (int64, int64) { return 6, 7 },
	})
	r.WatchNode(func() Node {
		return Node{
			Stats:   cluster.Stats{Held: true, Age: 500 * time.Millisecond},
			Members: []cluster.Member{{State: cluster.Ready}, {State: cluster.Ready}, {State: cluster.Draining}},
			Forward: forward.Stats{OK: 8, Broken: 1}, Journal: jetstream.Stats{Messages: 9, Waiting: 10},
		}
	})
	r.Opened(time.Millisecond)
	r.Written(time.Second)
	for _, name := range []string{tool, tool, crash, "nobodys"} {
		_ = r.call(t, name, nil) // the last is refused
	}
	got := r.scrape(t)
	wantLines(t, got,
		`tabhub_build_info{goversion="`+goVersion(got)+`",version="1.2.3"} 1`,
		`tabhub_calls_total{kind="tool",outcome="ok"} 2`,
		`tabhub_calls_total{kind="tool",outcome="TOOL_ERROR"} 1`,
		`tabhub_calls_total{kind="tool",outcome="unknown"} 1`,
		`tabhub_call_duration_seconds_count{kind="tool"} 3`,
		`tabhub_call_phase_duration_seconds_count{phase="execute"} 3`,
		`tabhub_calls_total{kind="resource",outcome="TOOL_TIMEOUT"} 0`,
		`tabhub_decisions_total{decision="allow"} 3`,
		`tabhub_decisions_total{decision="deny"} 0`,
		`tabhub_mcp_sessions{transport="stdio"} 1`,
		`mcp_server_operation_duration_seconds_count{error_type="",mcp_method_name="initialize",network_transport="pipe"} 1`,
		`mcp_server_operation_duration_seconds_count{error_type="",mcp_method_name="tools/call",network_transport="pipe"} 3`,
		`mcp_server_operation_duration_seconds_count{error_type="tool_error",mcp_method_name="tools/call",network_transport="pipe"} 1`,
		"tabhub_tools 5", "tabhub_hubs 2", "tabhub_questions_waiting 1", "tabhub_store_failing 1",
		"tabhub_socket_connections 4", "tabhub_socket_oversized_total 5",
		`tabhub_users_limited_total{of="request"} 6`, `tabhub_users_limited_total{of="socket"} 7`,
		"tabhub_node_lease_held 1", "tabhub_node_lease_age_seconds 0.5",
		`tabhub_node_members{state="ready"} 2`, `tabhub_node_members{state="draining"} 1`, `tabhub_node_members{state="suspended"} 0`,
		`tabhub_node_forwarded_total{outcome="ok"} 8`, `tabhub_node_forwarded_total{outcome="broken"} 1`, `tabhub_node_forwarded_total{outcome="again"} 0`,
		"tabhub_journal_messages_total 9", "tabhub_journal_queued_bytes 10",
		"tabhub_node_user_open_duration_seconds_count 1", "tabhub_journal_write_duration_seconds_sum 1",
	)
	for _, name := range []string{"shop", "nobodys", "private"} {
		if strings.Contains(got, name) {
			t.Errorf("a scrape names %q:\n%s", name, got)
		}
	}
	problems, err := testutil.GatherAndLint(r.registry())
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	if err != nil {
		t.Error(err)
	}
}

func goVersion(scrape string) string {
	_, rest, _ := strings.Cut(scrape, `goversion="`)
	v, _, _ := strings.Cut(rest, `"`)
	return v
}

// Pages and clients can make up methods and codes, but no series.
func TestFewSeries(t *testing.T) {
	m := New("1")
	for code := range 2000 {
		m.EndRequest(&telemetry.Request{Method: "tools/call", Code: code - 33000})
		m.EndRequest(&telemetry.Request{Method: "tools/call", Code: code})
	}
	if n := testutil.CollectAndCount(m.requests); n > 40 {
		t.Errorf("codes of pages make %d series", n)
	}
}

// What a client has asked for wrongly is no failure of the hub: alarms are set on those.
func TestFailures(t *testing.T) {
	for code, want := range map[int]string{
		0: "", -32700: "", -32600: "", -32601: "", -32602: "", -32002: "", // as MCP has had them
		-32020: "", -32021: "", -32022: "", // a version that the hub does not speak is how versions are negotiated
		-32603: "-32603", -32001: "_OTHER", -32003: "-32003", 1: "_OTHER",
	} {
		if got := errorType(&telemetry.Request{Code: code}); got != want {
			t.Errorf("%d is %q, want %q", code, got, want)
		}
	}
}

var metricName = regexp.MustCompile(`\b(?:tabhub|mcp_server|promhttp|go|process)_[a-z0-9_]+`)

// ours are the names of all metrics, as a scrape has them.
func ours(t *testing.T) []string {
	t.Helper()
	tel := New("1")
	tel.Watch(Process{Hubs: func() []Hub { return nil }, Sockets: func() wsserver.Stats { return wsserver.Stats{} }, Refused: func() (int64, int64) { return 0, 0 }})
	tel.WatchNode(func() Node { return Node{} })
	tel.EndRequest(new(telemetry.Request)) // what has labels is not there before
	tel.EndSession(telemetry.Session{})
	all, err := tel.registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range all {
		names = append(names, m.GetName())
	}
	return names
}

// An operator looks metrics up in the document, and gets a dashboard that shows something.
func TestMetricsAreDocumented(t *testing.T) {
	document, err := os.ReadFile("../../../../spec/docs/OPERATE.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(string(document)) {
		if strings.HasPrefix(line, "| `tabhub_") || strings.HasPrefix(line, "| `mcp_server_") {
			listed = append(listed, metricName.FindString(line))
		}
	}
	names := ours(t)
	own := slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return !strings.HasPrefix(n, "tabhub_") && !strings.HasPrefix(n, "mcp_server_")
	})
	slices.Sort(listed)
	if !slices.Equal(listed, own) {
		t.Errorf("OPERATE.md lists\n%s\nand there are\n%s", strings.Join(listed, "\n"), strings.Join(own, "\n"))
	}

	dashboard, err := os.ReadFile("../../deploy/grafana/tabhub.json")
	if err != nil || !json.Valid(dashboard) {
		t.Fatalf("the dashboard: %v", err)
	}
	for _, shown := range metricName.FindAllString(string(dashboard), -1) {
		base := regexp.MustCompile("_(bucket|count|sum)$").ReplaceAllString(shown, "")
		if !slices.Contains(names, shown) && !slices.Contains(names, base) {
			t.Errorf("the dashboard shows %s, which there is not", shown)
		}
	}
	// A Prometheus that scrapes native histograms keeps no buckets.
	for _, classic := range regexp.MustCompile(`rate\((mcp_server_\w+|tabhub_\w+)_(?:bucket|count)`).FindAllStringSubmatch(string(dashboard), -1) {
		if !strings.Contains(string(dashboard), "rate("+classic[1]+"{") {
			t.Errorf("the dashboard shows %s by its buckets alone", classic[1])
		}
	}
	if !strings.Contains(string(dashboard), "tabhub_calls_total") {
		t.Error("the dashboard shows no calls")
	}
}
