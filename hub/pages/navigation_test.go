package pages_test

import (
	"strings"
	"testing"

	"tabhub/hub/call"
	"tabhub/tabtransport/tabtest/chromium"
)

// Whichever way a page is reached, a client whose call has led to the next one learns where
// that is and what can be called there.
func TestNavigationOnBothPaths(t *testing.T) {
	t.Parallel()
	const tool = `<script>document.modelContext.registerTool({
		name: location.search ? "there" : "go", description: "Goes", execute: () => { location.search = "?next"; return new Promise(() => {}); },
	})</script>`
	words := map[string]string{"extension": "before the tool answered; it may have taken effect", "script": "TAB_CLOSED"}
	for _, way := range chromium.Rows(1, "script", "extension") {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			var b *chromium.Browser
			body := tool
			if way == "extension" {
				b = s.extended(chromium.Options{WebMCP: true})
			} else {
				b = chromium.Shared(t, chromium.Options{WebMCP: true})
				body += `<script src="http://HUB/tab.js"></script>`
			}
			url := s.host(body, "")
			b.Open(url)
			raw, err := s.hub.Calls.Call(t.Context(), call.Request{By: tester, Name: s.name("go")})
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{words[way], `"isError":true`, "The page is now at " + url, "?next (“Somebody’s page”). Tools there: " + s.name("there") + "."} {
				if !strings.Contains(string(raw), want) {
					t.Errorf("%s lacks %s", raw, want)
				}
			}
		})
	}
}
