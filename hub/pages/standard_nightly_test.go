//go:build nightly

package pages_test

import (
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// The page says which hub it joins, if it is not the one that the script is of.
func TestPageNamesTheHub(t *testing.T) {
	t.Parallel()
	s, other := newSite(t), newSite(t)
	b := chromium.Shared(t, chromium.Options{})
	const use = `<script type="module">document.modelContext.registerTool({name: "here", description: "d", execute: () => "here"})</script>`
	for _, body := range []string{
		`<script src="http://HUB/tab.js" data-hub="http://OTHER/"></script>` + use,
		`<script type="module" data-hub="http://OTHER">import "http://HUB/tab.js"</script>` + use,
	} {
		page := b.Open(s.host(strings.ReplaceAll(body, "OTHER", other.addr), ""))
		if r := other.call("here", `{}`); r.text() != "here" {
			t.Errorf("%s: %+v", body, r)
		}
		page.Close()
		other.await("the page is closed", func() bool { return len(other.names()) == 0 })
	}
	if names := s.names(); len(names) != 0 {
		t.Errorf("the script's own hub has %v", names)
	}
	// What others may have written says nothing, whatever it calls itself.
	const written = `<script type="text/plain" data-hub="http://OTHER"></script>`
	for _, body := range []string{written, `<form name="head">` + written + `</form><h2 id="tabhub"></h2>`} {
		page := b.Open(s.host(strings.ReplaceAll(`<body>`+body+`<script type="module">import "http://HUB/tab.js"</script>`+use, "OTHER", other.addr), ""))
		s.name("here")
		page.Close()
		s.await("the page is closed", func() bool { return len(s.names()) == 0 })
	}
	b.Open(s.host(`<script src="http://HUB/tab.js" data-hub="localhost:3300"></script>`+use, ""))
	s.name("here")
}
