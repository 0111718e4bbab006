package extension_test

import (
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// A dialog that a tool opens blocks its page: the hub hears of it while it is open, and when it
// is closed.
func TestDialogIsSaid(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	p := b.Open(site(t, map[string]string{"/": `<!doctype html><title>Asks</title><script>
		document.modelContext.registerTool({name: 'ask', description: 'd', execute: () => 'said ' + confirm('Sure?')});
	</script>`}))
	tab := h.tabWith("ask")
	answer := p.NextDialog()
	done := h.begin(tab, 0, "ask", "{}")
	h.wait("the dialog is open", func() bool {
		d := h.tabs[tab].state.Dialog
		return d != nil && d.Type == "confirm" && d.Message == "Sure?"
	})
	answer(true)
	if got := <-done; got != `{"content":[{"type":"text","text":"said true"}]}` {
		t.Error(got)
	}
	h.wait("the dialog is closed", func() bool { return h.tabs[tab].state.Dialog.Type == "" })
}

// A dialog of which the page's world does not tell is noticed while a call is under way: the page
// does not answer. The call goes on.
func TestSilentPageIsSaid(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	p := b.Open(site(t, map[string]string{"/": `<!doctype html><title>Asks</title><iframe src="/inner"></iframe><script>
		document.modelContext.registerTool({name: 'ask', description: 'd', execute: () => 'said ' + frames[0].confirm('Sure?')});
	</script>`, "/inner": "<!doctype html>"}))
	tab := h.tabWith("ask")
	answer := p.NextDialog()
	done := h.begin(tab, 0, "ask", "{}")
	h.wait("the page does not answer", func() bool {
		d := h.tabs[tab].state.Dialog
		return d != nil && d.Type == spec.DialogUnknown
	})
	if got, err := h.ask(tab, &spec.Text{}); err == nil || !strings.Contains(err.Error(), "the page does not answer") {
		t.Errorf("the text: %s, %v", got, err)
	}
	answer(true)
	if got := <-done; got != `{"content":[{"type":"text","text":"said true"}]}` {
		t.Error(got)
	}
	h.wait("the page answers", func() bool { return h.tabs[tab].state.Dialog.Type == "" })
}
