package httpd

import (
	"net/http"
	"strings"
	"testing"

	"tabhub/hub/cluster"
	"tabhub/spec"
)

// oneNode is a node in a state.
type oneNode struct {
	Nodes
	state cluster.State
}

func (n *oneNode) Self() cluster.Member { return cluster.Member{Name: "n0", State: n.state} }

// A balancer sends no credential, and no new client to a node that gives its users to others.
func TestNodeIsReady(t *testing.T) {
	node := &oneNode{}
	d := open(t, func(_ *GuardOptions, o *Options) {
		o.Nodes = node
		o.Elsewhere = &located{at: map[spec.UserID]http.Handler{}}
	})
	get := func(path string) (int, string) {
		status, body, _ := d.ask("GET", path, "", "Authorization", "")
		return status, body
	}
	for state, want := range map[cluster.State]int{
		cluster.Joining: 503, cluster.Ready: 200, cluster.Suspended: 503, cluster.Draining: 503, cluster.Left: 503, cluster.Ended: 503,
	} {
		node.state = state
		if status, body := get("/readyz"); status != want || !strings.Contains(body, string(state)) {
			t.Errorf("a node that is %s answers %d %s", state, status, body)
		}
	}
	if status, _ := get("/api/tabs"); status != 401 {
		t.Errorf("without a credential the tabs are %d", status)
	}
}
