//go:build nightly

package extension_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// A page that traces what it does goes on from the span of its call.
func TestPageServerHearsOfTheSpan(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	p := b.Open(site(t, map[string]string{"/": strings.ReplaceAll(oldServer, "ANNOUNCED", "0") + `<script>
		addEventListener('message', ({data}) => { if (data.payload?.method === 'tools/call') document.title = data.payload.params._meta.traceparent; });
		</script>`}))
	tab := h.tabWith("old")
	const span = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	ask := &spec.ExecuteTool{ToolName: "old", Args: json.RawMessage(`{}`), FrameID: new(int64(0)), Extensions: spec.Extensions{spec.ExtTraceparent: json.RawMessage(`"` + span + `"`)}}
	if got, err := h.ask(tab, ask); err != nil || !strings.Contains(got, "from the old server") {
		t.Errorf("old: %s, %v", got, err)
	}
	if got := p.Eval("document.title"); got != `"`+span+`"` {
		t.Errorf("the page heard of %q", got)
	}
}
