//go:build nightly

package pages_test

import (
	"strings"
	"testing"

	"tabhub/hub/lists"
	"tabhub/tabtransport/tabtest/chromium"
)

// A resource that takes its time is read either way.
func TestSlowReadOnBothPaths(t *testing.T) {
	t.Parallel()
	slow := strings.Replace(pageServer, `return answer({contents:`, `return setTimeout(answer, 10_500, {contents:`, 1)
	if slow == pageServer {
		t.Fatal("the server answers as before")
	}
	for _, way := range []string{"extension", "script"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			var b *chromium.Browser
			body := `<script>` + slow + `begin()</script>`
			if way == "extension" {
				b = s.extended(chromium.Options{})
			} else {
				b = chromium.Shared(t, chromium.Options{})
				body += `<script src="http://HUB/tab.js"></script>`
			}
			b.Open(s.host(body, ""))
			s.await("the resource", func() bool { return len(s.hub.Lists.List(lists.ListResources).Items) == 1 })
			if raw, err := s.hub.Calls.ReadResource(t.Context(), tester, s.hub.Lists.List(lists.ListResources).Items[0].Name); err != nil || !strings.Contains(string(raw), "read") {
				t.Errorf("resource: %s %v", raw, err)
			}
		})
	}
}
