//go:build nightly

package extension_test

import (
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// To find a form in a shadow tree the whole document is looked through. A page that takes
// tools away and has the same ones called must not pay for that with each call. (The page
// can count it where its own world runs the calls.)
func TestDocumentIsNotSearchedForEachCall(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	p := b.Open(site(t, map[string]string{"/": `<!doctype html><title>Large</title><script>
		let searches = 0;
		const { querySelectorAll } = Document.prototype;
		Document.prototype.querySelectorAll = function (selector) {
			if (selector === "*") searches++;
			return querySelectorAll.call(this, selector);
		};
		const stop = new AbortController();
		document.modelContext.registerTool({name: "stays", description: "d", execute: () => "stays"});
		document.modelContext.registerTool({name: "goes", description: "d", execute: () => "goes"}, {signal: stop.signal});
	</script>`}))
	tab := h.tabWith("stays", "goes")
	call := func(want string) {
		t.Helper()
		if got, err := h.call(tab, "stays", "{}"); err != nil || !strings.Contains(got, "stays") {
			t.Errorf("the call: %s, %v", got, err)
		}
		if n := p.Eval("searches"); n != want {
			t.Errorf("the document was searched %s times, want %s", n, want)
		}
	}
	call("1")
	p.Eval("stop.abort()")
	h.tabWith("stays")
	call("1")
	p.Eval(`document.modelContext.registerTool({name: "new", description: "d", execute: () => "new"})`)
	h.tabWith("stays", "new")
	call("2")
}
