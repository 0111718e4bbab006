package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

const payments = `<!doctype html><title>Bank</title><script>
	document.modelContext.registerTool({name: 'pay', description: 'Pays',
		inputSchema: {type: 'object', properties: {to: {type: 'string'}}},
		execute: ({to}) => 'paid ' + to});
	</script>`

// What is to be asked waits for its owner's yes, given in the owner's own browser. The owner
// stops all of it from there, too.
func TestOwnerIsAsked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve("--policy", "ask")
	b := p.browseWith(chromium.Options{WebMCP: true, Windows: true})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, payments)
	}))
	t.Cleanup(site.Close)
	b.Open(site.URL)
	c := p.stdio()
	pay := c.awaitTools("the bank's tool is listed", func(l tools) bool { return len(l.names()) == 1 }).named("_pay")
	begin := func() <-chan answer {
		return c.begin("tools/call", `{"name":"`+pay+`","arguments":{"to":"Ann"}}`)
	}

	paid := begin()
	w := b.Window("ask.html")
	w.WaitFor("document.querySelector('#answers')?.hidden === false")
	for _, want := range []string{site.URL, "pay", "Ann", "may change something"} {
		if text := w.Eval("document.body.innerText"); !strings.Contains(text, want) {
			t.Errorf("the window does not say %q: %s", want, text)
		}
	}
	w.ClickLast("#yes")
	if a := c.wait("the payment", paid); a.outcome() != "ok" || !strings.Contains(string(a.result), "paid Ann") {
		t.Errorf("allowed: %s", a.result)
	}

	paid = begin()
	b.Window("ask.html").ClickLast("#no")
	if a := c.wait("the payment", paid); a.outcome() != "DENIED" {
		t.Errorf("not allowed: %s", a.result)
	}

	popup := b.Open("chrome-extension://" + b.ExtensionID + "/popup.html")
	popup.WaitFor("document.querySelector('#apps').innerText.includes('2 calls, the last just now')")
	popup.Click("#pause")
	popup.WaitFor("document.querySelector('#headline').textContent === 'Paused'")
	if a := c.call(pay, `{"to":"Bob"}`); a.outcome() != "PAUSED" {
		t.Errorf("paused: %s", a.result)
	}
	popup.Click("#pause")
	popup.WaitFor("document.querySelector('#headline').textContent === 'Connected'")
	paid = c.begin("tools/call", `{"name":"`+pay+`","arguments":{"to":"Cid"}}`)
	b.Window("ask.html").ClickLast("#yes")
	if a := c.wait("the payment", paid); a.outcome() != "ok" {
		t.Errorf("after the pause: %s", a.result)
	}
}
