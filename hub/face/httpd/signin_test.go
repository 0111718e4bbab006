package httpd

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// users is the Verifier of a hub with accounts: each token stands for a user.
type users map[string]auth.Identity

func (u users) Verify(token string) (auth.Identity, error) {
	if id, ok := u[token]; ok && !id.Ended() {
		id.Kind, id.Principal = auth.KindOwner, policy.Token
		return id, nil
	}
	return auth.Identity{}, errors.New("no such user")
}

// code makes a sign-in address as `tabhub dashboard --print` does, and returns its code.
func (d *testServer) code() string {
	d.t.Helper()
	status, body, _ := d.ask("POST", "/api/signin", "")
	var made SignInReport
	if err := json.Unmarshal([]byte(body), &made); err != nil || status != http.StatusOK {
		d.t.Fatalf("%d %s", status, body)
	}
	code, ok := strings.CutPrefix(made.URL, "http://"+d.addr+"/#code=")
	if !ok || len(code) < 22 {
		d.t.Fatalf("%s: want an address of %s with a code of 128 bits", made.URL, d.addr)
	}
	return code
}

// exchange shows a code as the page does. Further headers replace the page's.
func (d *testServer) exchange(code string, headers ...string) (status int, session, body string) {
	d.t.Helper()
	b, _ := json.Marshal(map[string]string{"code": code})
	headers = append([]string{"Authorization", "", "Origin", "http://" + d.addr}, headers...)
	status, body, h := d.ask("POST", "/api/session", string(b), headers...)
	if h.Get("Set-Cookie") != "" || h.Get("Access-Control-Allow-Origin") != "" {
		d.t.Errorf("the sign-in sets %v", h)
	}
	var made LoginReport
	json.Unmarshal([]byte(body), &made)
	return status, made.Login, body
}

func (d *testServer) signIn() (session string) {
	d.t.Helper()
	status, session, body := d.exchange(d.code())
	if status != http.StatusOK || session == "" || strings.Contains(body, secret) {
		d.t.Fatalf("%d %s", status, body)
	}
	return session
}

// as asks with a session and returns the status alone.
func (d *testServer) as(session, method, path, body string) int {
	d.t.Helper()
	status, _, _ := d.ask(method, path, body, "Authorization", "Bearer "+session)
	return status
}

// openSignIn is open with an address for the dashboard.
func openSignIn(t *testing.T, change func(*GuardOptions, *Options)) *testServer {
	t.Helper()
	d := open(t, change)
	d.server.o.URL = "http://" + d.addr
	return d
}

// The page is open to everybody, so it must hold nothing; and what it is served with
// bounds what hostile text on it could do.
func TestDashboardHoldsNothing(t *testing.T) {
	d := openSignIn(t, nil)
	for path, kind := range map[string]string{
		"/": "text/html", "/?token=" + secret: "text/html", "/dashboard/dashboard.js": "text/javascript",
		"/dashboard/authorize.js": "text/javascript", "/dashboard/dashboard.css": "text/css", "/dashboard/tokens.css": "text/css",
	} {
		status, body, h := d.ask("GET", path, "", "Authorization", "")
		if status != http.StatusOK || !strings.HasPrefix(h.Get("Content-Type"), kind) {
			t.Errorf("%s: %d %s", path, status, h.Get("Content-Type"))
		}
		if strings.Contains(body, "demo.tabhub") || strings.Contains(body, secret) {
			t.Errorf("%s: %s", path, body)
		}
		for header, has := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self';", "X-Frame-Options": "DENY", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
			"X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if !strings.Contains(h.Get(header), has) {
				t.Errorf("%s: %s is %q", path, header, h.Get(header))
			}
		}
		if h.Get("Set-Cookie") != "" {
			t.Errorf("%s sets a cookie: %s", path, h.Get("Set-Cookie"))
		}
	}
	for _, path := range []string{"/dashboard/", "/dashboard/index.html", "/dashboard/dashboard.ts", "/dashboard/tsconfig.json", "/dashboard/../dashboard.go", "/dashboard/..%2fdashboard.go"} {
		if status, _, _ := d.ask("GET", path, ""); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

// An address that stays in a history or that others see must be worth nothing.
func TestSignInCodeIsGoodOnce(t *testing.T) {
	d := openSignIn(t, nil)
	code := d.code()
	for _, wrong := range []string{"", "x", code[:len(code)-1], code + "A", strings.ToLower(code), secret} {
		if status, session, _ := d.exchange(wrong); status != http.StatusUnauthorized || session != "" {
			t.Errorf("the code %q: %d", wrong, status)
		}
	}
	if status, session, _ := d.exchange(code); status != http.StatusOK || session == "" {
		t.Fatalf("the code does not sign in: %d", status)
	}
	if status, session, body := d.exchange(code); status != http.StatusUnauthorized || session != "" || !strings.Contains(body, "used up") {
		t.Errorf("the second time: %d %s", status, body)
	}
	if status, _, body := d.ask("POST", "/api/session", "", "Origin", "http://"+d.addr); status != http.StatusForbidden {
		t.Errorf("the token for a login: %d %s", status, body)
	}
	// A body that a form can send, one that is too large, one that is none.
	if status, _, _ := d.exchange(d.code(), "Content-Type", "text/plain"); status != http.StatusUnsupportedMediaType {
		t.Errorf("as text: %d", status)
	}
	if status, _, _ := d.exchange(strings.Repeat("A", 4<<10)); status != http.StatusRequestEntityTooLarge {
		t.Errorf("4 KiB: %d", status)
	}
	for _, body := range []string{"", "[]", "{}", `{"CODE":"x"}`} {
		if status, _, _ := d.ask("POST", "/api/session", body, "Authorization", "", "Content-Type", "application/json", "Origin", "http://"+d.addr); status != 400 && status != 401 {
			t.Errorf("%q: %d", body, status)
		}
	}
}

// A guesser is slowed down, and cannot keep the owner out.
func TestSignInCodesAreNotGuessed(t *testing.T) {
	d := openSignIn(t, nil)
	code := d.code()
	answers := map[int]int{}
	for range 100 {
		status, _, _ := d.exchange("GUESS")
		answers[status]++
	}
	if answers[http.StatusUnauthorized]+answers[http.StatusTooManyRequests] != 100 || answers[http.StatusTooManyRequests] < 50 {
		t.Errorf("the answers to 100 guesses are %v, want most of them 429", answers)
	}
	if log := d.log.String(); strings.Count(log, "sign-in code after the other") != 1 {
		t.Errorf("the owner is not told, or too often: %s", log)
	}
	if status, session, _ := d.exchange(code); status != http.StatusOK || session == "" {
		t.Errorf("the owner is locked out: %d", status)
	}
}

// A session is no code, a code no session, and a page that signs out signs itself out. What a session
// is good for TestAttacks says.
func TestSessionEndsWithSignOut(t *testing.T) {
	d := openSignIn(t, nil)
	session, other := d.signIn(), d.signIn()
	if status, _, _ := d.exchange(session); status != http.StatusUnauthorized {
		t.Errorf("a session passes for a code: %d", status)
	}
	if status := d.as(d.code(), "GET", "/api/tabs", ""); status != http.StatusUnauthorized {
		t.Errorf("a code passes for a session: %d", status)
	}
	if status := d.as(session, "DELETE", "/api/session", ""); status != http.StatusNoContent {
		t.Errorf("sign-out: %d", status)
	}
	if a, b := d.as(session, "GET", "/api/tabs", ""), d.as(other, "GET", "/api/tabs", ""); a != 401 || b != 200 {
		t.Errorf("after one page has signed out: %d, the other %d", a, b)
	}
}

// A new token logs all pages out.
func TestRotationEndsSignIns(t *testing.T) {
	d := openSignIn(t, nil)
	session, code := d.signIn(), d.code()
	// As `tabhub dashboard --print` does it.
	_, body := d.askOwner("POST", "/api/signin", "")
	var made SignInReport
	if err := json.Unmarshal([]byte(body), &made); err != nil {
		t.Fatal(body, err)
	}
	_, owners, _ := d.exchange(made.URL[strings.Index(made.URL, "=")+1:])
	if status := d.as(owners, "GET", "/api/tabs", ""); status != http.StatusOK {
		t.Fatalf("the owner's page is not signed in: %d", status)
	}
	d.token.Set("the next one")
	for _, session := range []string{session, owners} {
		if status := d.as(session, "GET", "/api/tabs", ""); status != http.StatusUnauthorized {
			t.Errorf("a session outlives the token: %d", status)
		}
	}
	if status, _, _ := d.exchange(code); status != http.StatusUnauthorized {
		t.Errorf("a code outlives the token: %d", status)
	}
}

// On a hub with accounts a page is signed in with a token, as its user and for as long
// as the token lasts.
func TestSignInToAccounts(t *testing.T) {
	d := openSignIn(t, func(g *GuardOptions, _ *Options) {
		g.Accounts = true
		g.Verifier = users{
			secret:         {User: spec.LocalUser},
			"token-of-ann": {User: "ann", Expires: time.Now().Add(time.Hour)},
			"token-of-bob": {User: "bob", Expires: time.Now().Add(-time.Second)},
		}
	})
	page := func(token string) (int, LoginReport) {
		t.Helper()
		status, body, _ := d.ask("POST", "/api/session", "", "Origin", "http://"+d.addr, "Authorization", "Bearer "+token)
		var made LoginReport
		json.Unmarshal([]byte(body), &made)
		return status, made
	}
	status, made := page("token-of-ann")
	if status != http.StatusOK || made.Login == "" || time.Until(made.Expires) > time.Hour {
		t.Fatalf("%d %+v", status, made)
	}
	if id, ok := d.server.guard.signIns.logins.get(made.Login); !ok || id.User != "ann" {
		t.Errorf("the session is for %+v, %t", id, ok)
	}
	if status := d.as(made.Login, "GET", "/api/tabs", ""); status != http.StatusOK {
		t.Errorf("/api/tabs: %d", status)
	}
	for _, token := range []string{"token-of-bob", "nonsense", made.Login} {
		if status, _ := page(token); status != http.StatusUnauthorized {
			t.Errorf("%s signs in: %d", token, status)
		}
	}
	if status, _, _ := d.exchange("GUESS"); status != http.StatusUnauthorized {
		t.Errorf("a code that nobody was given: %d", status)
	}
}

// A hub that asks for no credential has nothing to sign in to.
func TestSignInWithoutCredentials(t *testing.T) {
	d := openSignIn(t, func(g *GuardOptions, _ *Options) { g.Verifier = nil })
	if status, body, _ := d.ask("POST", "/api/signin", "", "Authorization", ""); status != http.StatusOK || !strings.Contains(body, `"http://`+d.addr+`/"`) {
		t.Errorf("the address: %d %s", status, body)
	}
	if status, _, body := d.exchange("GUESS"); status != http.StatusBadRequest {
		t.Errorf("%d %s", status, body)
	}
	if _, body, _ := d.ask("GET", "/", ""); !strings.Contains(body, `data-auth="none"`) {
		t.Errorf("the page asks people to sign in: %s", body)
	}
}

// openWriter signs a page in at an origin of its own, and returns how it asks.
func (d *testServer) openWriter() func(method, path, body string, headers ...string) (int, string) {
	d.t.Helper()
	host, code, ok := strings.Cut(strings.TrimPrefix(d.signInURL(d.token.Identity()), "http://"), "/#code=")
	if !ok || !strings.HasPrefix(host, "tabhub-") {
		d.t.Fatalf("the owner's address is at %q", host)
	}
	page := []string{"Host", host, "Origin", "http://" + host, "Sec-Fetch-Site", "same-origin"}
	status, session, body := d.exchange(code, page...)
	if status != http.StatusOK || !strings.Contains(body, `"writes"`) {
		d.t.Fatalf("%d %s", status, body)
	}
	return func(method, path, body string, headers ...string) (int, string) {
		d.t.Helper()
		status, answer, _ := d.ask(method, path, body, slices.Concat([]string{"Authorization", "Bearer " + session}, page, headers)...)
		return status, answer
	}
}

// The owner's page decides. What it may not TestAttacks says.
func TestWriterDecides(t *testing.T) {
	d := openSignIn(t, nil)
	ask := d.openWriter()
	if status, body := ask("POST", "/api/pause", `{}`); status != http.StatusOK || !strings.Contains(body, `"by":"dashboard"`) {
		t.Errorf("pause: %d %s", status, body)
	}
	if got := d.tenant.Hub.Rules.Policy().Document().Pauses; len(got) != 1 {
		t.Errorf("the pauses are %v", got)
	}
	if status, body := ask("DELETE", "/api/pause", ""); status != http.StatusOK {
		t.Errorf("resume: %d %s", status, body)
	}
	if status, body := ask("POST", "/api/call", `{"name":"own"}`); status != http.StatusOK || !strings.Contains(body, `"text":"own"`) {
		t.Errorf("a call: %d %s", status, body)
	}
}

// The address of one page signs no other page in to write: not one at another name, not one
// at the hub's address, and not with the token alone.
func TestWriterNeedsItsOwnAddress(t *testing.T) {
	d := openSignIn(t, nil)
	code := func() (host, code string) {
		host, code, _ = strings.Cut(strings.TrimPrefix(d.signInURL(d.token.Identity()), "http://"), "/#code=")
		return host, code
	}
	host, first := code()
	other, second := code()
	if host == other {
		t.Fatalf("two addresses have the name %s", host)
	}
	if status, _, body := d.exchange(second, "Host", host, "Origin", "http://"+host); status != http.StatusUnauthorized {
		t.Errorf("at another page's name: %d %s", status, body)
	}
	status, session, body := d.exchange(first)
	if status != http.StatusOK || strings.Contains(body, "writes") {
		t.Fatalf("at the hub's address: %d %s", status, body)
	}
	if status, body, _ := d.ask("POST", "/api/pause", `{}`, "Authorization", "Bearer "+session, "Origin", "http://"+d.addr, "Sec-Fetch-Site", "same-origin"); status != http.StatusForbidden || !strings.Contains(body, "tabhub dashboard --print") {
		t.Errorf("it pauses: %d %s", status, body)
	}
	if _, byToken, _ := d.ask("POST", "/api/signin", ""); strings.Contains(byToken, ".localhost") {
		t.Errorf("the token alone makes an address that decides: %s", byToken)
	}
	if _, byOwner := d.askOwner("POST", "/api/signin", ""); !strings.Contains(byOwner, ".localhost:") {
		t.Errorf("the owner's command makes an address that only reads: %s", byOwner)
	}
	for _, plain := range []string{"https://hub.example", "https://127.0.0.1:3300", "http://192.168.1.5:3300", "http://127.0.0.1:3300/tabs"} {
		if got := newDashboardHost(plain); got != "" {
			t.Errorf("%s has the dashboard at %s, which leads elsewhere", plain, got)
		}
	}
}

// A page that was left open decides nothing after a quarter of an hour. It goes on to show.
func TestWriterIdles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, GuardOptions{Verifier: auth.NewToken(secret)})
		const host = "tabhub-a.localhost:3300"
		session, _, _ := g.signIns.logins.add(auth.Identity{User: spec.LocalUser}, host)
		check := func(target string, want int) {
			t.Helper()
			r := ask(target, host, "http://"+host)
			r.Header.Set("Authorization", "Bearer "+session)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			r, err := g.check(r)
			if status(err) != want {
				t.Errorf("%s: %v, want %d", target, err, want)
			}
			if err == nil && target == "/api/questions/watch" {
				if left := time.Until(passOf(r.Context()).identity.Expires); left <= 0 || left > writerIdle {
					t.Errorf("calls wait for this page for %v", left)
				}
			}
		}
		time.Sleep(writerIdle - time.Second)
		check("POST /api/pause", http.StatusOK)
		time.Sleep(writerIdle - time.Second)
		check("/api/questions/watch", http.StatusOK)
		check("PUT /api/session", http.StatusOK)
		time.Sleep(writerIdle - time.Second)
		for range 3 { // looking is no use
			check("/api/tabs", http.StatusOK)
		}
		time.Sleep(time.Second)
		check("/api/tabs", http.StatusOK)
		check("PUT /api/session", http.StatusForbidden)
		check("POST /api/pause", http.StatusForbidden)
		check("/api/questions/watch", http.StatusForbidden)
	})
}
