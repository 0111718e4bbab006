package httpd

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"tabhub/hub/auth"
	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// join joins a tab with a tool to the hub, as the companion extension does.
func (d *testServer) join(url, title string) {
	d.t.Helper()
	conn := tabtransport.Conn{Attested: true, Dialect: "tabhub.v1", Hello: &spec.Hello{ProtocolVersion: spec.ProtocolVersion, BrowserID: "b-1", BrowserName: "Chromium 141", Capabilities: []spec.Capability{}}}
	local, err := d.peers.Join(d.t.Context(), conn, func(ctx context.Context, _ tabtransport.Incoming) (spec.Response, error) {
		return spec.Response{}, spec.Errorf(spec.CodeInternal, "not in this test")
	})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(local.Close)
	tools := []json.RawMessage{json.RawMessage(`{"name":"search","inputSchema":{"type":"object"}}`), json.RawMessage(`{"name":"<b>bad</b>","inputSchema":{"type":7}}`)}
	if _, err := local.Ask(d.t.Context(), 1, &spec.Register{Kind: spec.KindTool, Items: tools, TabURL: url, Title: title}); err != nil {
		d.t.Fatal(err)
	}
}

// recorder is a server that keeps what it is sent.
type recorder struct {
	http.Handler
	mu   sync.Mutex
	seen []*http.Request
}

func (rec *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec.mu.Lock()
	rec.seen = append(rec.seen, r)
	rec.mu.Unlock()
	rec.Handler.ServeHTTP(w, r)
}

// requests are those for the path, or for any if that is "".
func (rec *recorder) requests(path string) (out []*http.Request) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for _, r := range rec.seen {
		if path == "" || r.URL.Path == path {
			out = append(out, r)
		}
	}
	return out
}

// A person opens the address that the hub prints and sees what goes on, and what a
// hostile page calls itself does no harm.
func TestDashboardInABrowser(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	const hostile = `</td><img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`
	d.join("https://shop.example.com/?a=1", hostile)
	b := chromium.Start(t, chromium.Options{})
	address := d.server.SignInURL(d.token.Identity())
	page := b.Open(address)
	page.WaitFor(`document.querySelector("#tabs").textContent.includes("demo.tabhub")`)
	page.WaitFor(`document.querySelector("#tabs").textContent.includes("shop.example.com")`)
	page.WaitFor(`document.querySelector("#tabs").textContent.includes("onerror=")`)
	page.WaitFor(`document.querySelector("#refused").textContent.includes("<b>bad</b>")`)
	page.WaitFor(`document.querySelector("#browsers").textContent.includes("Chromium 141")`)
	if got := page.Eval(`[document.title, document.querySelectorAll("main img, main script, main b").length]`); got != `["tabhub",0]` {
		t.Errorf("the title of a tab has become a part of the page: %s", got)
	}
	if got, want := page.Eval(`[location.href, document.cookie, history.length]`), `["http://`+d.addr+`/","",`; !strings.HasPrefix(got, want) {
		t.Errorf("address, cookies, history: %s; want %s…", got, want)
	}
	// Nothing is fetched but what the page has: the policy would say so.
	if got := page.Eval(`performance.getEntriesByType("resource").filter(e => !e.name.startsWith(location.origin)).length`); got != "0" {
		t.Errorf("%s requests leave the hub", got)
	}

	// What happens shows up by itself.
	if status, body, _ := d.ask("POST", "/api/call", `{"name":"website_tool_demo_tabhub__search_products","arguments":{"query":"mug"}}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	page.WaitFor(`document.querySelector("#calls").textContent.includes("search_products")`)

	page.Reload()
	page.WaitFor(`document.querySelector("#tabs").textContent.includes("demo.tabhub")`)

	// Another tab has to sign in, and the first one's address no longer does.
	other := b.Open("http://" + d.addr + "/?token=" + secret)
	other.WaitFor(`!document.querySelector("#by-address").hidden && document.querySelector("#signed-out").checkVisibility()`)
	if got := other.Eval(`[location.href, document.querySelector("#data").checkVisibility()]`); got != `["http://`+d.addr+`/",false]` {
		t.Errorf("an address with the token: %s", got)
	}
	other.Navigate(address)
	other.WaitFor(`document.querySelector("#trouble").textContent.includes("used up")`)
	// A new address in a tab that has the page already loads nothing anew.
	other.Navigate(d.server.SignInURL(d.token.Identity()))
	other.WaitFor(`document.querySelector("#tabs").textContent.includes("demo.tabhub")`)
	other.Click("#sign-out")
	other.WaitFor(`document.querySelector("#trouble").textContent === "Signed out."`)
	other.Reload()
	other.WaitFor(`document.querySelector("#signed-out").checkVisibility()`)
	if got := other.Eval(`document.querySelector("#tabs").textContent`); got != `""` {
		t.Errorf("the page still shows %s", got)
	}

	// A page that is signed in when the token is replaced is out as soon as it asks.
	d.token.Set("the next one")
	page.Front()
	page.WaitFor(`document.querySelector("#trouble").textContent.startsWith("Signed out:") && !document.querySelector("#data").checkVisibility()`)
}

// A server of somebody else on another port of this machine shares the host's cookies.
// It must learn nothing from a signed-in browser that follows its links.
func TestAnotherPortGetsNoCredential(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	other := &recorder{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write([]byte(`<!doctype html><title>other</title><img src="http://` + d.addr + `/api/tabs"><img src="/picture">`))
	})}
	s := httptest.NewServer(other)
	defer s.Close()
	page := chromium.Start(t, chromium.Options{}).Open(d.server.SignInURL(d.token.Identity()))
	page.WaitFor(`document.querySelector("#tabs").textContent.includes("demo.tabhub")`)
	session := strings.Trim(page.Eval(`sessionStorage.getItem("tabhub.session")`), `"`)
	if status := d.as(session, "GET", "/api/tabs", ""); status != http.StatusOK {
		t.Fatalf("the page's session %q: %d", session, status)
	}
	page.Navigate(s.URL + "/link")
	if len(other.requests("/link")) == 0 || len(other.requests("/picture")) == 0 {
		t.Fatal("the other server was not asked")
	}
	for _, r := range other.requests("") {
		for name, values := range r.Header {
			if text := strings.Join(values, ","); name == "Cookie" || name == "Authorization" || strings.Contains(text, session) || strings.Contains(text, secret) || strings.Contains(text, d.addr) {
				t.Errorf("%s is sent %s: %s", r.URL, name, text)
			}
		}
	}
	// Nor may its page read or do anything, whatever the browser adds to its requests.
	for _, try := range []string{
		`fetch("http://` + d.addr + `/api/tabs", {credentials: "include"})`,
		`fetch("http://` + d.addr + `/api/session", {method: "POST", body: "{}", headers: {"Content-Type": "application/json"}})`,
		`fetch("http://` + d.addr + `/api/session", {method: "POST", body: "{}", headers: {"Content-Type": "text/plain"}})`,
	} {
		if got := page.Eval(try + `.then(r => r.type, () => "refused")`); got != `"refused"` {
			t.Errorf("%s: %s", try, got)
		}
	}
	if got := page.Eval(`sessionStorage.length`); got != "0" {
		t.Errorf("it sees %s entries of the hub's session storage", got)
	}
}

// The hub ends while its page is open, and somebody else takes the port before the next
// one starts. What the page tells them is worth nothing there.
func TestWhoTakesThePortLearnsNothing(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	page := chromium.Start(t, chromium.Options{}).Open(d.server.SignInURL(d.token.Identity()))
	page.WaitFor(`document.querySelector("#tabs").textContent.includes("demo.tabhub")`)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := d.server.Shutdown(ctx, "stop"); err != nil {
		t.Fatal(err)
	}
	page.WaitFor(`document.querySelector("#trouble").textContent.startsWith("The hub does not answer")`)

	squatter := &recorder{Handler: http.NotFoundHandler()}
	ln, err := net.Listen("tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: squatter}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	page.WaitFor(`document.querySelector("#trouble").textContent.startsWith("Signed out:")`)
	var learnt []string
	for _, r := range squatter.requests("") {
		if v := r.Header.Get("Authorization"); v != "" {
			learnt = append(learnt, strings.TrimPrefix(v, "Bearer "))
		}
		if r.Header.Get("Cookie") != "" {
			t.Errorf("it is sent a cookie: %s", r.Header.Get("Cookie"))
		}
	}
	if len(learnt) != 1 || learnt[0] == secret {
		t.Fatalf("it has learnt %q, want one dead session", learnt)
	}
	if got := page.Eval(`[Object.entries(sessionStorage), Object.entries(localStorage)]`); got != "[[],[]]" {
		t.Errorf("a page that it serves could read %s", got)
	}
	s.Close()
	<-served

	// The next hub has the same token.
	next := openSignIn(t, nil)
	for _, try := range []struct{ method, path string }{
		{"GET", "/api/status"}, {"GET", "/api/tabs"}, {"POST", "/api/call"}, {"POST", "/api/signin"}, {"POST", "/api/stop"}, {"GET", "/readyz"}, {"POST", "/mcp"}, {"GET", "/sse"},
	} {
		if status := next.as(learnt[0], try.method, try.path, ""); status != http.StatusUnauthorized {
			t.Errorf("%s %s with what the page has told: %d", try.method, try.path, status)
		}
	}
	if status, _, _ := next.exchange(learnt[0]); status != http.StatusUnauthorized {
		t.Errorf("it signs in with what the page has told: %d", status)
	}
}

// On a hub with accounts people sign in with their token, which the page does not keep.
func TestSignInByToken(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, func(g *GuardOptions, _ *Options) { g.Accounts = true })
	page := chromium.Start(t, chromium.Options{}).Open("http://" + d.addr + "/")
	page.WaitFor(`document.querySelector("#by-token").checkVisibility()`)
	page.Click("#token")
	page.Type("nonsense")
	page.Click("#by-token button")
	page.WaitFor(`document.querySelector("#trouble").textContent.includes("could not sign in")`)
	page.Click("#token")
	page.Type(secret)
	page.Click("#by-token button")
	page.WaitFor(`document.querySelector("#tabs").textContent.includes("demo.tabhub")`)
	if got := page.Eval(`[document.querySelector("#token").value, JSON.stringify({...sessionStorage, ...localStorage}).includes("` + secret + `"), location.href]`); got != `["",false,"http://`+d.addr+`/"]` {
		t.Errorf("the token is kept: %s", got)
	}
}

// A hub that asks for no credential shows its page to whoever is on this machine.
func TestDashboardWithoutCredentials(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, func(g *GuardOptions, _ *Options) { g.Verifier = nil })
	page := chromium.Start(t, chromium.Options{}).Open(d.server.SignInURL(auth.Identity{User: spec.LocalUser}))
	page.WaitFor(`document.querySelector("#tabs").textContent.includes("demo.tabhub")`)
	if got := page.Eval(`[document.querySelector("#sign-out").checkVisibility(), document.querySelector("#signed-out").checkVisibility()]`); got != "[false,false]" {
		t.Errorf("it speaks of signing in: %s", got)
	}
}
