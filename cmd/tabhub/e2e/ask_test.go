package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"tabhub/hub/trust/auth/oauth"
	"tabhub/tabtransport/tabtest/chromium"
)

const payments = `<!doctype html><title>Bank</title><script>
	document.modelContext.registerTool({name: 'pay', description: 'Pays',
		inputSchema: {type: 'object', properties: {to: {type: 'string'}}},
		execute: ({to}) => 'paid ' + to});
	</script>`

// Calls that need the owner's consent wait for an answer in the owner's browser. From there the
// owner can also pause all calls.
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
	begin := func(to string) <-chan answer {
		return c.begin("tools/call", `{"name":"`+pay+`","arguments":{"to":"`+to+`"}}`)
	}

	paid := begin("Ann")
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

	paid = begin("Ann")
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

	// The client gives up before the owner has answered: the window stays and says so, and the answer is good
	// when the client asks again.
	begin("Cid")
	w = b.Window("ask.html")
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, c.lastID))
	w.WaitFor("document.querySelector('#gone')?.checkVisibility()")
	w.ClickLast("#yes")
	p.until("the payment is allowed", func() bool {
		stdout, _, _ := p.run("approve")
		return strings.Contains(stdout, "allowed once, until ")
	})
	if a := c.call(pay, `{"to":"Cid"}`); a.outcome() != "ok" || !strings.Contains(string(a.result), "paid Cid") {
		t.Errorf("asked again: %s", a.result)
	}

	// A client knows only the hub's address. The owner lets it in: they type the number on its
	// page into the window.
	t.Run("sign-in", func(t *testing.T) { signIn(t, p, b) })
}

func signIn(t *testing.T, p *place, b *chromium.Browser) {
	back := make(chan url.Values, 1)
	client := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/callback" {
			back <- r.URL.Query()
		}
	}))
	t.Cleanup(client.Close)
	redirect := client.URL + "/callback"

	resp, err := http.Post(p.url()+oauth.RegisterPath, "application/json", strings.NewReader(`{"client_name":"An agent","redirect_uris":["`+redirect+`"]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var made oauth.Registration
	if err := json.NewDecoder(resp.Body).Decode(&made); err != nil {
		t.Fatal(err)
	}
	page := b.Open(p.url() + oauth.AuthorizePath + "?" + url.Values{
		"response_type": {"code"}, "client_id": {made.ClientID}, "redirect_uri": {redirect},
		"code_challenge": {strings.Repeat("x", 43)}, "code_challenge_method": {"S256"},
	}.Encode())
	page.Click("button")
	page.WaitFor(`document.querySelector("p.number").checkVisibility()`)
	var number string
	page.Into(`document.querySelector("p.number").textContent`, &number)

	w := b.Window("ask.html")
	w.WaitFor("document.querySelector('#answers')?.hidden === false")
	for _, want := range []string{"An agent", "a program on this computer, port " + client.URL[strings.LastIndex(client.URL, ":")+1:], "what your policy allows"} {
		if text := w.Eval("document.body.innerText"); !strings.Contains(text, want) {
			t.Errorf("the window does not say %q: %s", want, text)
		}
	}
	w.Click("input.code")
	w.Type(number)
	w.ClickLast("#yes")
	if q := <-back; q.Get("code") == "" {
		t.Errorf("the client is sent %v", q)
	}
}
