//go:build nightly

package extension_test

import (
	"fmt"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/tabtest/chromium"
)

// The bar by which the browser says that it is debugged makes the page lower: what is at its lower edge is hit all
// the same, and so is what is in a tab behind.
func TestTrustedInputUnderTheBar(t *testing.T) {
	h := newHub(t)
	dir := t.TempDir()
	if _, err := extension.WriteTrustedInput(dir, h.pairings.Ring, h.url()); err != nil {
		t.Fatal(err)
	}
	b := h.browse(chromium.Options{Extension: dir, Display: chromium.Display(t)})
	url := site(t, map[string]string{"/": `<!doctype html><title>Low</title><button style="position: fixed; left: 20px; bottom: 5px" onclick="done.push(event.isTrusted)">Order</button>
		<script>done = []; heights = [innerHeight]; onresize = () => heights.push(innerHeight)</script>`})
	p := b.Open(url)
	p.Front()
	tab := front(b)
	click := func(name string) {
		t.Helper()
		got := h.runAs(t.Context(), tab, &spec.Run{FrameID: new(int64), Origin: url}, `{"click": {"target": `+target("button", "Order")+`}}`, tabtransport.Wait{Timeout: chromium.Timeout})
		if did := p.Eval("done.splice(0)"); got != "null [click yes]" || did != "[true]" {
			t.Errorf("%s: %s, the page has %s", name, got, did)
		}
	}
	click("in front")
	t.Logf("the page was %s high", p.Eval("heights"))
	click("at once again")
	b.Open("about:blank").Front()
	if got := p.Eval("document.visibilityState"); got != `"hidden"` {
		t.Fatalf("the tab is %s", got)
	}
	click("behind")
	w := b.Worker()
	defer w.Close()
	w.WaitFor(fmt.Sprintf("!tabhubTrustedInput.uses(%d)", tab))
}
