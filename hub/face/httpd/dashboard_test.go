package httpd

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"tabhub/hub/call"
	"tabhub/hub/face/admin"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// offered are a tool, and one that the hub refuses.
var offered = []string{`{"name":"search","inputSchema":{"type":"object"}}`, `{"name":"<b>bad</b>","inputSchema":{"type":7}}`}

// awaitView has a page of the dashboard show a view, and waits until it does.
func awaitView(page *chromium.Page, address string) {
	name, _, _ := strings.Cut(address, "?")
	page.Eval(fmt.Sprintf("location.hash = %q", address))
	page.WaitFor(fmt.Sprintf(`document.body.dataset.view === %q`, name))
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
	const hostile = `</td><img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`
	d := openSignIn(t, func(_ *GuardOptions, o *Options) {
		o.API.Doctor = func(context.Context) []admin.Finding {
			return []admin.Finding{{State: "problem", Check: "data", Text: hostile, Fix: "chmod " + hostile}}
		}
	})
	d.join("Chromium 141", "https://shop.example.com/?a=1", hostile, nil, offered...)
	b := chromium.Shared(t, chromium.Options{})
	address := d.signInURL(d.token.Identity())
	home, _, _ := strings.Cut(address, "#")
	page := b.Open(address)
	page.WaitFor(`document.querySelector("#count-tabs")?.textContent === "2"`)
	if got, want := page.Eval(`[location.href, document.cookie, history.length]`), `["`+home+`","",`; !strings.HasPrefix(got, want) {
		t.Errorf("address, cookies, history: %s; want %s…", got, want)
	}
	awaitView(page, "tabs")
	page.WaitFor(`document.querySelector("#found").textContent.includes("demo.tabhub")`)
	page.WaitFor(`document.querySelector("#found").textContent.includes("shop.example.com")`)
	page.WaitFor(`document.querySelector("#found").textContent.includes("onerror=")`)
	page.WaitFor(`document.querySelector("#browsers").textContent.includes("Chromium 141")`)
	page.Eval(`[...document.querySelectorAll("#found a")].find((a) => a.textContent.includes("onerror=")).click()`)
	page.WaitFor(`document.querySelector("#open").textContent.includes("<b>bad</b>")`)
	if got := page.Eval(`[document.title, document.querySelectorAll("main img, main script, main b").length]`); got != `["Tabs and tools \u00b7 tabhub",0]` {
		t.Errorf("the title of a tab has become a part of the page: %s", got)
	}
	// Nothing is fetched but what the page has: the policy would say so.
	if got := page.Eval(`performance.getEntriesByType("resource").filter(e => !e.name.startsWith(location.origin)).length`); got != "0" {
		t.Errorf("%s requests leave the hub", got)
	}

	// What the doctor quotes of files is text, too.
	awaitView(page, "health")
	page.WaitFor(`document.querySelector("#diagnosis").textContent === "There is 1 problem." && document.querySelector("#findings li").textContent.includes("onerror")`)
	if got := page.Eval(`document.querySelectorAll("main img, main script").length`); got != "0" {
		t.Error("what the doctor says has become a part of the page")
	}

	// What happens shows up by itself.
	if status, body, _ := d.ask("POST", "/api/call", `{"name":"website_tool_demo_tabhub__search_products","arguments":{"query":"mug"}}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	awaitView(page, "record")
	page.WaitFor(`document.querySelector("#record-rows").textContent.includes("search_products")`)

	page.Reload() // which stays at the view
	page.WaitFor(`document.querySelector("#record-rows")?.textContent.includes("search_products")`)

	// Another tab has to sign in, and the first one's address no longer does.
	other := b.Open("http://" + d.addr + "/?token=" + secret)
	other.WaitFor(`!document.querySelector("#by-address").hidden && document.querySelector("#signed-out").checkVisibility()`)
	if got := other.Eval(`[location.href, document.querySelector("#data").checkVisibility()]`); got != `["http://`+d.addr+`/",false]` {
		t.Errorf("an address with the token: %s", got)
	}
	other.Navigate(address)
	other.WaitFor(`document.querySelector("#trouble").textContent.includes("used up")`)
	// A new address in a tab that has the page already loads nothing anew.
	other.Navigate(d.signInURL(d.token.Identity()))
	other.WaitFor(`document.querySelector("#count-tabs")?.textContent === "2"`)
	other.Click("#sign-out")
	other.WaitFor(`document.querySelector("#trouble").textContent === "Signed out."`)
	other.Reload()
	other.WaitFor(`document.querySelector("#signed-out").checkVisibility()`)
	if got := other.Eval(`document.querySelector("#view").textContent`); got != `""` {
		t.Errorf("the page still shows %s", got)
	}

	// A page that is signed in when the token is replaced is out as soon as it asks.
	d.token.Set("the next one")
	page.Front()
	page.WaitFor(`document.querySelector("#trouble").textContent.startsWith("Signed out:") && !document.querySelector("#data").checkVisibility()`)
}

// Another user's server on another port of this machine shares the host's cookies.
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
	page := chromium.Shared(t, chromium.Options{}).Open(d.signInURL(d.token.Identity()))
	page.WaitFor(`document.querySelector("#count-tabs")?.textContent === "1"`)
	session := strings.Trim(page.Eval(`sessionStorage.getItem("tabhub.session")`), `"`)
	host := strings.Trim(page.Eval(`location.host`), `"`)
	if status, _, _ := d.ask("GET", "/api/tabs", "", "Authorization", "Bearer "+session, "Host", host, "Sec-Fetch-Site", "same-origin"); status != http.StatusOK {
		t.Fatalf("the page's session %q at %s: %d", session, host, status)
	}
	page.Navigate(s.URL + "/link")
	if len(other.requests("/link")) == 0 || len(other.requests("/picture")) == 0 {
		t.Fatal("the other server was not asked")
	}
	for _, r := range other.requests("") {
		for name, values := range r.Header {
			if text := strings.Join(values, ","); name == "Cookie" || name == "Authorization" || strings.Contains(text, session) || strings.Contains(text, host) || strings.Contains(text, secret) || strings.Contains(text, d.addr) {
				t.Errorf("%s is sent %s: %s", r.URL, name, text)
			}
		}
	}
	// Nor may its page read or do anything, whatever the browser adds to its requests.
	for _, try := range []string{
		`fetch("http://` + d.addr + `/api/tabs", {credentials: "include"})`,
		`fetch("http://` + d.addr + `/api/session", {method: "POST", body: "{}", headers: {"Content-Type": "application/json"}})`,
		`fetch("http://` + d.addr + `/api/session", {method: "POST", body: "{}", headers: {"Content-Type": "text/plain"}})`,
		`fetch("http://` + host + `/api/pause", {method: "POST", body: "{}", headers: {"Content-Type": "application/json", "Authorization": "Bearer ` + session + `"}})`,
	} {
		if got := page.Eval(try + `.then(r => r.type, () => "refused")`); got != `"refused"` {
			t.Errorf("%s: %s", try, got)
		}
	}
	if got := page.Eval(`sessionStorage.length`); got != "0" {
		t.Errorf("it sees %s entries of the hub's session storage", got)
	}
}

// The hub ends while its page is open, and another program takes the port before the next
// one starts. What the page tells them is worth nothing there.
func TestWhoTakesThePortLearnsNothing(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	page := chromium.Shared(t, chromium.Options{}).Open(d.signInURL(d.token.Identity()))
	page.WaitFor(`document.querySelector("#count-tabs")?.textContent === "1"`)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := d.server.Shutdown(ctx, "stop"); err != nil {
		t.Fatal(err)
	}
	page.WaitFor(`document.querySelector("#trouble").textContent.includes("hub is not running")`)

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
	page := chromium.Shared(t, chromium.Options{}).Open("http://" + d.addr + "/")
	page.WaitFor(`document.querySelector("#by-token").checkVisibility()`)
	page.Click("#token")
	page.Type("nonsense")
	page.Click("#by-token button")
	page.WaitFor(`document.querySelector("#trouble").textContent.includes("could not sign in")`)
	page.Click("#token")
	page.Type(secret)
	page.Click("#by-token button")
	page.WaitFor(`document.querySelector("#count-tabs")?.textContent === "1"`)
	if got := page.Eval(`[document.querySelector("#token").value, JSON.stringify({...sessionStorage, ...localStorage}).includes("` + secret + `"), location.href]`); got != `["",false,"http://`+d.addr+`/"]` {
		t.Errorf("the token is kept: %s", got)
	}
}

// A question shows up on the owner's page by itself, a click that was meant for something else
// does not answer it, and the one that was meant lets the call go on.
func TestOwnerAnswersOnTheDashboard(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	d.setMode(policy.ModeAsk)
	page := chromium.Shared(t, chromium.Options{}).Open(d.signInURL(d.token.Identity()))
	page.Front()
	page.WaitFor(`document.querySelector("#no-questions").checkVisibility()`)
	call := func(name, query string) <-chan string {
		page.WaitFor(`document.querySelector("#waiting-count").textContent === ""`)
		done := make(chan string, 1)
		go func() {
			by := consent.As(&policy.Principal{ID: "c-" + name, Name: name})
			args, _ := json.Marshal(map[string]string{"query": query})
			result, err := d.tenant.Hub.Calls.Call(t.Context(), call.Request{Name: searchTool, Args: args, By: by})
			done <- fmt.Sprintf("%s %v", result, err)
		}()
		return done
	}
	const hostile = `<img src=x onerror="document.title='owned'">`
	done := call("claude", hostile)
	page.WaitFor(`document.querySelector(".question")?.textContent.includes("onerror=")`)
	if got := page.Eval(`[document.title, document.querySelectorAll("main img").length, document.querySelector(".answer-yes").ariaDisabled]`); got != `["(1) tabhub",0,"true"]` {
		t.Errorf("the question has become a part of the page, or can be answered at once: %s", got)
	}
	page.Click(".answer-yes") // too early
	page.Eval(`document.querySelector(".answer-yes").click()`)
	page.WaitFor(`document.querySelector(".answer-yes").ariaDisabled === "false"`)
	page.Eval(`document.querySelector(".answer-yes").click()`) // by no person
	if got := d.tenant.Hub.Owner.Desk().Open(); len(got) != 1 {
		t.Fatalf("it is answered: %v", got)
	}
	page.Click(".answer-yes")
	page.WaitFor(`document.querySelector(".question")?.textContent.includes("You allowed it.")`)
	if got := <-done; !strings.Contains(got, "demo.tabhub") || strings.Contains(got, "DENIED") {
		t.Errorf("the call that was allowed: %s", got)
	}
	awaitView(page, "record")
	page.WaitFor(`document.querySelector("#record-rows tr[title*='by dashboard']")`)
	awaitView(page, "now")

	// By the keyboard alone, and for good.
	done = call("cursor", "mug")
	page.WaitFor(`document.querySelector(".answer-never")?.ariaDisabled === "false"`)
	page.Eval(`document.querySelector(".answer-never").focus()`)
	page.Keys(kb.Enter)
	if got := <-done; !strings.Contains(got, "DENIED") {
		t.Errorf("the call that was declined goes through: %s", got)
	}
	page.WaitFor(`document.activeElement.id === "waiting-title"`) // and not at the top of the page
	awaitView(page, "sites?show=rules")
	page.WaitFor(`document.querySelector("#rules").textContent.includes("c-cursor") && document.querySelector("#rules").textContent.includes("you, here")`)

	// Pause, and what it says.
	page.Click("#pause")
	page.WaitFor(`document.querySelector("#pause-state").textContent.startsWith("Paused since")`)
	if got := <-call("claude", "mug"); !strings.Contains(got, "PAUSED") {
		t.Errorf("a call while all is paused: %s", got)
	}
	page.Click("#pause")
	page.WaitFor(`document.querySelector("#pause-state").textContent.startsWith("Running")`)

	// Of one client alone, too.
	if err := d.tenant.Hub.Rules.EditPolicy("test", func(doc *policy.Document) error { doc.Pause(policy.Pause{Client: "claude"}); return nil }); err != nil {
		t.Fatal(err)
	}
	page.WaitFor(`document.querySelector("#pause-state").textContent === "Running, with 1 pause: see Now."`)
}

// The owner edits the policy and ends a client, without a terminal; and sees what that leads
// to before.
func TestOwnerDecidesOnTheDashboard(t *testing.T) {
	t.Parallel()
	clients := newClients(t)
	if _, _, err := clients.Mint(auth.Client{Name: "claude", Kind: auth.ClientToken, User: spec.LocalUser}); err != nil {
		t.Fatal(err)
	}
	d := openSignIn(t, func(_ *GuardOptions, o *Options) { o.API.Clients = clients })
	page := chromium.Shared(t, chromium.Options{}).Open(d.signInURL(d.token.Identity()))
	page.Front()
	awaitView(page, "sites?show=rules")
	fill := func(selector, text string) { page.Click(selector); page.Type(text) }
	fill("#rule-form [name=client]", "claude")
	fill("#rule-form [name=site]", "shop.example.com")
	page.Click("#test")
	page.WaitFor(`document.querySelector("#rule-form .answer").textContent.startsWith("Now: allow.")`)
	page.Eval(`document.querySelector("#rule-form [name=effect]").value = "deny"`)
	page.Click("#rule-form button:not([type])")
	page.WaitFor(`document.querySelector("#rules tr")?.textContent.includes("shop.example.com")`)
	// What the hub says while the button is down is shown after it was pressed again, and not in its place.
	page.Eval(`document.querySelector("#rules tr button").scrollIntoView({block: "center"})`)
	page.Press("#rules tr button")
	// The page may ask for the policy only afterwards: something that it asked for before waits for the button, too.
	page.Eval(`(parse => { window.told = 0; JSON.parse = (text, ...more) => { told += text.includes('"policy"'); return parse(text, ...more); }; })(JSON.parse)`)
	d.setMode(policy.ModeAsk)
	page.WaitFor(`told > 0`)
	page.Release("#rules tr button")
	page.WaitFor(`document.querySelector("#rules tr button").textContent === "Remove?"`)
	page.Click("#rules tr button")
	page.WaitFor(`!document.querySelector("#rules").textContent.includes("shop.example.com")`)
	page.Eval(`(mode => { mode.value = "read-only"; mode.dispatchEvent(new Event("change")) })(document.querySelector("#mode"))`)
	page.WaitFor(`document.querySelector("#mode-words").textContent.startsWith("Nothing but reading")`)
	fill("#private-site", "mail.example.com")
	page.Click("#private-form button")
	page.WaitFor(`document.querySelector("#private").textContent.includes("mail.example.com")`)
	awaitView(page, "clients")
	page.Reload() // which does not cost what the page may do
	page.WaitFor(`document.querySelector("#clients a")?.checkVisibility()`)
	page.Click("#clients a")
	page.WaitFor(`document.querySelector("#client-end button")?.checkVisibility()`)
	page.Click("#client-end button")
	page.WaitFor(`document.querySelector("#client-end button").textContent === "End its access?"`)
	page.Click("#client-end button")
	page.WaitFor(`document.querySelector("#client-state").textContent.includes("its access has ended")`)
	page.Click("#clients-part a")
	page.WaitFor(`document.querySelector("#no-clients")?.checkVisibility()`)
	if got := clients.List(spec.LocalUser); len(got) != 0 {
		t.Errorf("the clients are %v", got)
	}
}

// The program that had the hub's port before the hub has left a service worker in the browser, which
// answers for the hub's pages there. It must get nothing that decides: the owner's address
// leads past it, and a session of the pages that it can answer for only reads.
func TestServiceWorkerOfAnEarlierServer(t *testing.T) {
	t.Parallel()
	const worker = `addEventListener("install", () => skipWaiting()); addEventListener("activate", e => e.waitUntil(clients.claim()));
addEventListener("fetch", e => e.respondWith(new Response("<!doctype html><title>owned</title>", {headers: {"Content-Type": "text/html"}})))`
	earlier := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/worker.js" {
			w.Header().Set("Content-Type", "text/javascript")
			w.Write([]byte(worker))
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(`<!doctype html><title>earlier</title>`))
	}))
	defer earlier.Close()
	page := chromium.Shared(t, chromium.Options{}).Open(earlier.URL)
	page.WaitFor(`navigator.serviceWorker.register("/worker.js").then(() => navigator.serviceWorker.ready).then(() => new Promise(done => navigator.serviceWorker.controller ? done(true) : navigator.serviceWorker.addEventListener("controllerchange", () => done(true))))`)
	addr := earlier.Listener.Addr().String()
	earlier.Close()

	d := newTestServer(t, nil)
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	d.addr = addr
	d.server.o.URL = "http://" + addr
	go func() { d.served <- d.server.Serve(ln) }()
	page.Navigate("http://" + addr + "/")
	if got := page.Eval(`document.title`); got != `"owned"` {
		t.Fatalf("the worker does not answer for the hub's page: %s", got)
	}
	page.Navigate(d.signInURL(d.token.Identity()))
	page.WaitFor(`document.querySelector("#count-tabs")?.textContent === "1"`)
	if got := page.Eval(`[document.body.classList.contains("may-write"), navigator.serviceWorker.controller, document.querySelector("#only-reads").checkVisibility()]`); got != `[true,null,false]` {
		t.Errorf("the owner's page: %s", got)
	}
}

// At the hub's own address the page shows all and decides nothing, and says what does.
func TestPlainDashboardOnlyReads(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	page := chromium.Shared(t, chromium.Options{}).Open("http://" + d.addr + "/#code=" + d.code())
	page.WaitFor(`document.querySelector("#only-reads").checkVisibility() && document.querySelector("#only-reads").textContent.includes("tabhub dashboard")`)
	if got := page.Eval(`[...document.querySelectorAll(".writes")].filter(e => e.checkVisibility()).length`); got != "0" {
		t.Errorf("it offers %s things that it cannot do", got)
	}
}
