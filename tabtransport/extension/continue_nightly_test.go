//go:build nightly

package extension_test

import (
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// A page of a site that the user has switched off since it was loaded learns that a token is of no call.
func TestTokenOfASwitchedOffSite(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, checkout)
	quiet := b.Open(url + "/login")
	offers := b.Open(url)
	h.tabWith("checkout")
	switchSite(b, url, false)
	for name, p := range map[string]*chromium.Page{"a page that has offered nothing": quiet, "a page that has offered tools": offers} {
		if got := p.Eval(`document.modelContext.resumeTool("t", () => {}).catch(({name}) => name)`); got != `"InvalidStateError"` {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A document that hears too late that it has a call tells the client that the call does not go on: here
// between the two halves of the extension everything takes its time.
func TestCallComesTooLate(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	pages := map[string]string{"/": checkout["/"], "/shipping": `<!doctype html><title>Shipping</title><script>
		addEventListener("tabhub-port", (event) => {
			const [far] = event.ports;
			if (event.slow) return;
			event.stopImmediatePropagation();
			const {port1: near, port2} = new MessageChannel();
			near.onmessage = ({data}) => setTimeout(() => far.postMessage(data), data.type === "resumed" ? 6_000 : 0);
			far.onmessage = ({data}) => near.postMessage(data);
			dispatchEvent(Object.assign(new MessageEvent("tabhub-port", {ports: [port2]}), {slow: true}));
		});
		void document.modelContext.resumeTool(new URLSearchParams(location.search).get("token"), () => "not any more");
	</script>`}
	h.browse(chromium.Options{}).Open(site(t, pages))
	got, err := h.call(h.tabWith("checkout"), "checkout", `{}`)
	if err != nil || !strings.Contains(got, "does not wait for it any more") {
		t.Error(got, err)
	}
}
