package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// payingPage is a page with a tool that pays, and counts how often; more is put into it.
func payingPage(t testing.TB, more string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!doctype html><title>Pays</title>`+more+`<script>
			window.runs = 0;
			document.modelContext.registerTool({name: 'pay', description: 'Pays', inputSchema: {type: 'object'},
				execute: () => (runs++, 'paid at ' + location.origin)});
		</script>`)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// question returns the window that asks, once it can be answered.
func question(b *chromium.Browser) *chromium.Page {
	w := b.Window("ask.html")
	w.WaitFor("document.querySelector('#answers')?.hidden === false && !document.querySelector('#yes').disabled")
	return w
}

// A frame of another site that brings a tool of the page's name gets no call of the page's,
// and the owner sees whose tool it is, and where.
func TestFrameWithThePagesTool(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve("--policy", "ask")
	b := p.browseWith(chromium.Options{WebMCP: true, Windows: true})
	evil := payingPage(t, "")
	shop := payingPage(t, `<iframe allow="tools" src="`+evil+`"></iframe>`)
	b.Open(shop)
	c := p.stdio()
	names := c.awaitTools("both tools are listed", func(l tools) bool { return len(l.names()) == 2 }).names()
	for site, other := range map[string]string{shop: evil, evil: shop} {
		_, port, _ := strings.Cut(strings.TrimPrefix(site, "http://"), ":")
		name := names[0]
		if !strings.Contains(name, port) {
			name = names[1]
		}
		paid := c.begin("tools/call", `{"name":"`+name+`","arguments":{}}`)
		w := question(b)
		text := w.Eval("document.body.innerText")
		if within := strings.Contains(text, other); !strings.Contains(text, site) || within != (site == evil) {
			t.Errorf("asked about %s within %s: %s", site, other, text)
		}
		w.ClickLast("#yes")
		if a := c.wait("the payment", paid); a.outcome() != "ok" || !strings.Contains(string(a.result), "paid at "+site) {
			t.Errorf("a call of %s: %s", name, a.result)
		}
	}
}

// A page that leaves its tab to another site while the owner is asked has that one do nothing,
// be it loaded anew or brought back by the browser as it was (the back/forward cache).
func TestTabLeadsElsewhereWhileAsked(t *testing.T) {
	t.Parallel()
	shop, evil := payingPage(t, ""), payingPage(t, "")
	for how, lead := range map[string]func(*chromium.Page){
		"forward": func(page *chromium.Page) { page.Navigate(evil) },
		"back":    (*chromium.Page).Back,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.serve("--policy", "ask")
			b := p.browseWith(chromium.Options{WebMCP: true, Windows: true})
			c := p.stdio()
			await := func(site string) string {
				_, port, _ := strings.Cut(strings.TrimPrefix(site, "http://"), ":")
				return c.awaitTools("the tab shows "+site, func(l tools) bool {
					return len(l.names()) == 1 && strings.Contains(l.names()[0], port)
				}).named("_pay")
			}
			page := b.Open(evil)
			await(evil)
			page.Navigate(shop)
			paid := c.begin("tools/call", `{"name":"`+await(shop)+`","arguments":{}}`)
			w := question(b)
			lead(page)
			await(evil)
			w.WaitFor("!document.querySelector('#yes').disabled")
			w.ClickLast("#yes")
			if a := c.wait("the payment", paid); a.outcome() == "ok" || !strings.Contains(string(a.result), "not sent") {
				t.Errorf("the call of the shop's tool: %s", a.result)
			}
			if runs := page.Eval("runs"); runs != "0" {
				t.Errorf("the other site ran it %s times", runs)
			}
		})
	}
}

// A hub that is killed under its question has sent nothing. The client that calls again is
// asked about once, in the same browser, and only that yes counts.
func TestHubKilledWhileAsked(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "TABHUB_POLICY=ask")
	c := p.stdio()
	b := p.browseWith(chromium.Options{WebMCP: true, Windows: true})
	page := b.Open(payingPage(t, ""))
	pay := c.awaitTools("the shop's tool is listed", func(l tools) bool { return len(l.names()) == 1 }).named("_pay")
	paid := c.begin("tools/call", `{"name":"`+pay+`","arguments":{}}`)
	before := question(b)
	p.kill()
	if a := c.wait("the payment", paid); a.outcome() == "ok" {
		t.Errorf("the call of the hub that was killed: %s", a.result)
	}
	c.awaitTools("the tab is back", func(l tools) bool { return len(l.names()) == 1 })
	paid = c.begin("tools/call", `{"name":"`+pay+`","arguments":{}}`)
	before.WaitFor("document.querySelector('#headline').textContent === 'This is no longer asked'")
	before.Eval("void setTimeout(() => window.close())")
	before.WaitGone()
	w := question(b)
	if runs := page.Eval("runs"); runs != "0" {
		t.Errorf("the page has paid %s times before it was allowed", runs)
	}
	w.ClickLast("#yes")
	if a := c.wait("the payment", paid); a.outcome() != "ok" {
		t.Errorf("the payment: %s", a.result)
	}
	if runs := page.Eval("runs"); runs != "1" {
		t.Errorf("the page has paid %s times", runs)
	}
}
