package main

import (
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/daemon"
	"tabhub/cmd/tabhub/internal/daemon/node"
)

// The address that serve prints opens the dashboard. A code of a node would be good nowhere: its
// user's hub is not open yet, or is another node's.
func TestAddressOfTheDashboard(t *testing.T) {
	p, _ := serveTest(t)
	if got := p.DashboardWords("http://base"); !strings.Contains(got, "/#code=") {
		t.Error(got)
	}
	node := daemon.Process{Token: p.Token, Node: new(node.Node)}
	if got := node.DashboardWords("http://base"); !strings.HasPrefix(got, "http://base/\n") || strings.Contains(got, "code") || !strings.Contains(got, "`tabhub dashboard`") {
		t.Error(got)
	}
}
