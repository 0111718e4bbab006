//go:build nightly && linux

package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/tabtransport/tabtest/chromium"
)

// What the documents show page authors is as it should be.
func TestCheckOfTheExamples(t *testing.T) {
	t.Parallel()
	chromium.Require(t)
	site := httptest.NewServer(http.FileServer(http.Dir("../../hub/pages/examples")))
	t.Cleanup(site.Close)
	for _, page := range []string{"plain", "form", "resource", "progress", "ask"} {
		if r, code, said := checked(t, site.URL+"/"+page+"/"); code != command.ExitOK || r.Warnings > 0 || len(r.Items) == 0 {
			t.Errorf("%s: exit code %d, %s %+v", page, code, said, r.Findings)
		}
	}
}
