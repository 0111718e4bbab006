package httpd

import (
	"testing"

	"tabhub/tabtransport/tabtest"
)

// What the dashboard's scripts do without a page.
func TestScripts(t *testing.T) {
	t.Parallel()
	tabtest.NodeTest(t, "dashboard")
}
