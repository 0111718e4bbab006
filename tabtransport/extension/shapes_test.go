package extension_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
	"tabhub/tabtransport/tabtest/shapes"
)

// Whatever browser the extension is in, the tools of a page and what they give are the same: it reads
// those of each from its own world, and gives pages of a browser without WebMCP its own.
func TestShapes(t *testing.T) {
	t.Parallel()
	own := shapes.Shape{Name: "the extension's own", OutputSchema: true}
	for _, s := range append(shapes.All, own) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			opts := chromium.Options{Extension: h.write(), WebMCP: s.Script != ""}
			dress(t, opts.Extension, s)
			page := h.browse(opts).Open(site(t, map[string]string{"/": shapes.Page}))
			var id int64
			tab := shapes.Tab{Page: page}
			tab.Await = func(names ...string) { id = h.tabWith(names...) }
			tab.Listed = func(name string) json.RawMessage {
				raw, err := json.Marshal(h.tool(id, name))
				if err != nil {
					t.Fatal(err)
				}
				return raw
			}
			tab.Call = func(ctx context.Context, name, args string) (string, bool) {
				got, err := h.callFrame(ctx, id, h.tool(id, name).FrameID, name, args, tabtransport.Wait{Timeout: chromium.Timeout})
				if err != nil {
					return err.Error(), true
				}
				return strings.CutPrefix(got, "failed: ")
			}
			tab.Check(t, s)
		})
	}
}

// prepend puts a script before what a file has.
func prepend(t testing.TB, file, script string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append([]byte(script), text...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
