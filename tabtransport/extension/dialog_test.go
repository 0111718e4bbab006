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

// A page that does not answer is noticed while a call is under way, as one is where a dialog is open
// that cannot be seen. The call goes on.
func TestSilentPageIsSaid(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	b.Open(site(t, map[string]string{"/": `<!doctype html><title>Works</title><script>
		document.modelContext.registerTool({name: 'work', description: 'd', execute: () => { for (const end = Date.now() + 12_000; Date.now() < end;); return 'done'; }});
	</script>`}))
	tab := h.tabWith("work")
	done := h.begin(tab, 0, "work", "{}")
	h.wait("the page does not answer", func() bool {
		d := h.tabs[tab].state.Dialog
		return d != nil && d.Type == spec.DialogUnknown
	})
	if got, err := h.ask(tab, &spec.Text{}); err == nil || !strings.Contains(err.Error(), "the page does not answer") {
		t.Errorf("the text: %s, %v", got, err)
	}
	if got := <-done; got != `{"content":[{"type":"text","text":"done"}]}` {
		t.Error(got)
	}
	h.wait("the page answers", func() bool { return h.tabs[tab].state.Dialog.Type == "" })
}
