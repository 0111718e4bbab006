package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"tabhub/hub/auth/oauth"
	"tabhub/tabtransport/tabtest/chromium"
)

// A client that knows the hub's address alone is let in by the owner, who types the number
// of its page into the window of the extension.
func TestSignInWithWindow(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	b := p.browseWith(chromium.Options{Windows: true})
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
	w.Click("input.said")
	w.Type(number)
	w.ClickLast("#yes")
	if q := <-back; q.Get("code") == "" {
		t.Errorf("the client is sent %v", q)
	}
}
