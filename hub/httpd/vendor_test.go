package httpd

import (
	"bytes"
	"os"
	"path"
	"testing"
)

// What the dashboard runs of others must be what they have published.
func TestVendoredAsPublished(t *testing.T) {
	for _, name := range []string{"dist/uPlot.esm.js", "dist/uPlot.min.css", "LICENSE"} {
		published, err := os.ReadFile("../pages/node_modules/uplot/" + name)
		if err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip("needs the packages of hub/pages/package.json: npm ci --ignore-scripts")
		}
		ours, err := dashboardFS.ReadFile("dashboard/vendor/uplot/" + path.Base(name))
		if err != nil || !bytes.Equal(ours, published) {
			t.Errorf("%s differs from the package's: %v", name, err)
		}
	}
}
