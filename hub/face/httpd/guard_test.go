package httpd

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/tabtransport"
)

const (
	secret      = "s3cret-token-of-this-hub"
	extensionID = "abcdefghijklmnopabcdefghijklmnop"
)

func newGuard(t testing.TB, o GuardOptions) *Guard {
	t.Helper()
	g, err := NewGuard(o)
	if err != nil {
		t.Fatal(err)
	}
	g.ownPeer = func(*http.Request) bool { return true } // these requests come over no socket
	return g
}

// ask makes a request as a listener on 127.0.0.1:3300 sees it. A target is a path, after
// a method that is not GET, and before " ws" and a subprotocol if it is a WebSocket's.
func ask(target, host, origin string) *http.Request {
	method := "GET"
	if !strings.HasPrefix(target, "/") {
		method, target, _ = strings.Cut(target, " ")
	}
	path, protocols, ws := strings.Cut(target, " ws")
	r := httptest.NewRequest(method, path, nil)
	r.Host, r.RemoteAddr = host, "127.0.0.1:50000"
	if origin != "-" {
		r.Header["Origin"] = []string{origin}
	}
	if ws {
		r.Header.Set("Connection", "keep-alive, Upgrade")
		r.Header.Set("Upgrade", "websocket")
		r.Header["Sec-Websocket-Protocol"] = []string{protocols, "webmcp.v1"}
	}
	addr := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 3300}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, addr))
}

func status(err error) int {
	if err == nil {
		return http.StatusOK
	}
	if no, ok := errors.AsType[*endpoint.Error](err); ok {
		return no.Status
	}
	return -1
}

func TestGuardSaysWhatToDo(t *testing.T) {
	g := newGuard(t, GuardOptions{Verifier: auth.NewToken(secret), Companion: companionID})
	for _, c := range []struct{ target, host, origin, says string }{
		{"/extension ws", "127.0.0.1:3300", companion, "uses /tabs"}, // extension-id does not take its id
		{"/mcp", "hub.lan:3300", "-", "--set allow-host=hub.lan"},
		{"/mcp", "127.0.0.1:3300", "https://app.example.com", "--allow-origin https://app.example.com"},
		{"/mcp", "127.0.0.1:3300", "http://localhost:5173", "--allow-origin http://localhost:5173"},
		{"/tabs ws", "127.0.0.1:3300", "chrome-extension://" + extensionID, "--set extension-id=" + extensionID},
		{"/api/tabs", "127.0.0.1:3300", "https://app.example.com", "not open to web pages"},
		{"/mcp", "127.0.0.1:3300", "-", "tabhub token"},
		{"/attach", "127.0.0.1:3300", "-", "`tabhub stdio` of the hub's version"},
	} {
		_, err := g.check(ask(c.target, c.host, c.origin))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s from %s at %s: %v; want it to say %q", c.target, c.origin, c.host, err, c.says)
		}
	}
}

// named is a Verifier whose tokens are the names of users.
type named map[string]auth.Identity

func (n named) Verify(token string) (auth.Identity, error) {
	id, ok := n[token]
	if !ok {
		return auth.Identity{}, errors.New("nobody has that name")
	}
	if id.Principal == nil {
		id.Kind, id.Principal = auth.KindOwner, policy.Token
	}
	return id, nil
}

// A right token does not make up for a wrong one beside it, and no caller is two users.
func TestEveryTokenMustBeRight(t *testing.T) {
	now := time.Now()
	g := newGuard(t, GuardOptions{Accounts: true, Verifier: named{
		"ann": {User: "ann", Expires: now.Add(time.Hour)}, "ann, briefly": {User: "ann", Expires: now.Add(time.Minute)}, "bob": {User: "bob"},
		"ann's client": {User: "ann", Kind: auth.KindClient, Principal: &policy.Principal{ID: "one"}}, "her other": {User: "ann", Kind: auth.KindClient, Principal: &policy.Principal{ID: "two"}},
	}})
	for _, c := range []struct {
		headers      []string
		query, first string
		want         string // the user, "" if refused
		life         time.Duration
	}{
		{[]string{"ann"}, "", "", "ann", time.Hour},
		{[]string{"ann"}, "", "ann, briefly", "ann", time.Minute},
		{[]string{"ann, briefly"}, "", "ann", "ann", time.Minute},
		{[]string{"ann"}, "", "bob", "", 0},
		{[]string{"ann"}, "", "eve", "", 0},
		{[]string{"ann", "eve"}, "", "", "", 0},
		{[]string{"ann", "bob"}, "", "", "", 0},
		{[]string{"ann"}, "ann, briefly", "", "ann", time.Minute},
		{[]string{"ann"}, "bob", "", "", 0},
		{[]string{"ann"}, "eve", "", "", 0},
		{nil, "ann", "eve", "", 0},
		{[]string{"ann's client"}, "her other", "", "", 0},
		{[]string{"ann's client"}, "ann", "", "", 0},
		{[]string{"ann"}, "ann's client", "", "", 0},
	} {
		target := "/extension ws"
		if c.query != "" {
			target = "/sse"
		}
		r := ask(target, "127.0.0.1:3300", "-")
		for _, token := range c.headers {
			r.Header.Add("Authorization", "Bearer "+token)
		}
		if c.query != "" {
			r.URL.RawQuery = url.Values{"token": {c.query}}.Encode()
		}
		r, err := g.check(r)
		var a tabtransport.Admission
		if err == nil {
			a, err = g.Admit(r, c.first)
		}
		switch {
		case c.want == "" && status(err) != http.StatusUnauthorized:
			t.Errorf("headers %q, query %q, first message %q: let in as %q, %v", c.headers, c.query, c.first, a.User, err)
		case c.want != "" && (err != nil || string(a.User) != c.want || !a.Expires.Equal(now.Add(c.life))):
			t.Errorf("headers %q, query %q, first message %q: %+v, %v; want %s for %s", c.headers, c.query, c.first, a, err, c.want, c.life)
		}
	}
}

func TestQueryTokenOnlyWhereAllowed(t *testing.T) {
	g := newGuard(t, GuardOptions{Verifier: auth.NewToken(secret)})
	for target, want := range map[string]int{"/sse": 200, "/message": 200, "/mcp": 401, "/api/tabs": 401, "/attach": 404, "/readyz": 401, "/ ws": 401} {
		path, ws, found := strings.Cut(target, " ")
		target = path + "?token=" + secret
		if found {
			target += " " + ws
		}
		if _, err := g.check(ask(target, "127.0.0.1:3300", "-")); status(err) != want {
			t.Errorf("%s: got %v, want %d", target, err, want)
		}
	}
}

// A page of another site can have the browser ask without an Origin, as for an image.
// Where no credential is needed, the hub has only what the browser says about the page.
func TestRequestsThatOtherSitesCause(t *testing.T) {
	for what, o := range map[string]GuardOptions{"no credential": {}, "the token": {Verifier: auth.NewToken(secret)}} {
		g := newGuard(t, o)
		for site, want := range map[string]int{"": 200, "none": 200, "same-origin": 200, "same-site": 403, "cross-site": 403, "nonsense": 403} {
			r := ask("/api/tabs", "127.0.0.1:3300", "-")
			r.Header.Set("Authorization", "Bearer "+secret)
			if site != "" {
				r.Header.Set("Sec-Fetch-Site", site)
			}
			if _, err := g.check(r); status(err) != want {
				t.Errorf("%s, Sec-Fetch-Site %q: got %v, want %d", what, site, err, want)
			}
		}
	}
}

func TestAdmissionSaysWhoItIs(t *testing.T) {
	g := newGuard(t, GuardOptions{Verifier: auth.NewToken(secret), Extensions: []string{extensionID, "moz-extension://6F1A"}})
	for origin, want := range map[string]tabtransport.Admission{
		"chrome-extension://" + extensionID: {Attested: true, Anonymous: true},
		"moz-extension://6f1a":              {Attested: true, Anonymous: true},
		"http://127.0.0.1:3300":             {OwnPage: true, Anonymous: true},
		"http://127.0.0.1:3000":             {Anonymous: true},
	} {
		r, err := g.check(ask("/tabs ws", "127.0.0.1:3300", origin))
		if err != nil {
			t.Errorf("%s: %v", origin, err)
			continue
		}
		want.User = spec.LocalUser
		if got, err := g.Admit(r, ""); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", origin, got, err, want)
		}
	}
	if _, err := g.Admit(httptest.NewRequest("GET", "/tabs", nil), secret); !errors.Is(err, ErrNoRequest) {
		t.Errorf("a request that nobody has looked at was admitted: %v", err)
	}
}

// Extensions that exist show the token of their own service whatever is asked of
// them. To use a browser is more than to offer one.
func TestRelayRoles(t *testing.T) {
	local := GuardOptions{Verifier: auth.NewToken(secret), Extensions: []string{extensionID}, AllowOrigins: []string{"https://app.example.com"}}
	accounts := local
	accounts.Accounts = true
	const listed = "chrome-extension://" + extensionID
	for _, c := range []struct {
		o                  GuardOptions
		origin, token      string
		extension, clients int
	}{
		{local, listed, "", 200, 401},
		{local, listed, "eyJhbGciOiJSUzI1NiJ9.e30.c2ln", 200, 401},
		{local, listed, secret, 200, 200},
		{local, "-", "", 401, 401},
		{local, "-", "wrong", 401, 401},
		{local, "-", secret, 200, 200},
		{local, "https://app.example.com", "wrong", 401, 401},
		{accounts, listed, "", 401, 401},
		{accounts, listed, "wrong", 401, 401},
		{accounts, listed, secret, 200, 200},
	} {
		g := newGuard(t, c.o)
		for _, target := range []string{"/relay ws", "/extension ws"} {
			r, err := g.check(ask(target, "127.0.0.1:3300", c.origin))
			if err != nil {
				t.Fatal(err)
			}
			if a, err := g.AdmitExtension(r, c.token); status(err) != c.extension || err == nil && a.User != spec.LocalUser {
				t.Errorf("%s, accounts %t, Origin %s, token %q: an extension gets %+v, %v; want %d", target, c.o.Accounts, c.origin, c.token, a, err, c.extension)
			}
			if a, _, err := g.AdmitClient(r, c.token); status(err) != c.clients || err == nil && a.User != spec.LocalUser {
				t.Errorf("%s, accounts %t, Origin %s, token %q: a client gets %+v, %v; want %d", target, c.o.Accounts, c.origin, c.token, a, err, c.clients)
			}
		}
	}
}

// Only a browser can be relied on for the origin of a page. A program that reaches the hub over a
// network may be a program that says what it likes.
func TestOriginProvesNothingFromElsewhere(t *testing.T) {
	local := GuardOptions{Verifier: auth.NewToken(secret), Extensions: []string{extensionID}, AllowOrigins: []string{"https://app.example.com"}, AllowHosts: []string{"hub.example.com"}}
	proxied, public := local, local
	proxied.BehindProxy = true
	public.PublicURL = "https://hub.example.com"
	for _, c := range []struct {
		what, remote string
		o            GuardOptions
		want         int
		header       string // that the request has besides
	}{
		{"this machine", "127.0.0.1:50000", local, 200, ""},
		{"this machine", "[::1]:50000", local, 200, ""},
		{"another machine", "192.0.2.7:50000", local, 401, ""},
		{"another machine", "[2001:db8::7]:50000", local, 401, ""},
		{"a proxy", "127.0.0.1:50000", proxied, 401, ""},
		{"a proxy", "127.0.0.1:50000", public, 401, ""},
		{"a proxy that says so", "127.0.0.1:50000", local, 401, "X-Forwarded-For"},
		{"a proxy that says so", "127.0.0.1:50000", local, 401, "x-forwarded-host"},
		{"a proxy that says so", "127.0.0.1:50000", local, 401, "X-Forwarded-Proto"},
		{"a proxy that says so", "127.0.0.1:50000", local, 401, "X-Real-IP"},
		{"a proxy that says so", "127.0.0.1:50000", local, 401, "Forwarded"},
		{"a proxy that says so", "[::1]:50000", local, 401, "Via"},
		{"a tunnel", "127.0.0.1:50000", local, 401, "CF-Connecting-IP"},
		{"a tunnel", "127.0.0.1:50000", local, 401, "Tailscale-User-Login"},
	} {
		g := newGuard(t, c.o)
		for target, listed := range map[string][]string{
			"/tabs ws":      {"chrome-extension://" + extensionID, "http://localhost:5173", "https://app.example.com", "http://hub.example.com"},
			"/ ws":          {"http://localhost:5173", "https://app.example.com", "http://hub.example.com"},
			"/extension ws": {"chrome-extension://" + extensionID},
			"/relay ws":     {"chrome-extension://" + extensionID},
		} {
			for _, origin := range listed {
				r := ask(target, "hub.example.com", origin)
				if c.o.PublicURL != "" && origin == "http://hub.example.com" {
					r.Header.Set("Origin", "https://hub.example.com")
				}
				r.RemoteAddr = c.remote
				if c.header != "" {
					r.Header.Set(c.header, "")
				}
				r, err := g.check(r)
				if err == nil {
					_, err = g.AdmitExtension(r, "")
				}
				if status(err) != c.want {
					t.Errorf("%s from %s with the origin %s: %v, want %d", target, c.what, origin, err, c.want)
				}
			}
		}
	}
}

// Also without credentials, the hub believes a listed extension what it says of
// sites. So it must be of the owner's browser, whatever headers a program adds.
func TestListedExtensionIsTheOwners(t *testing.T) {
	for _, c := range []struct {
		own    bool
		header string
		want   int
	}{{true, "", 200}, {false, "", 403}, {false, "X-Forwarded-For", 403}, {true, "X-Forwarded-For", 403}} {
		g := newGuard(t, GuardOptions{Extensions: []string{extensionID}})
		g.ownPeer = func(*http.Request) bool { return c.own }
		r := ask("/tabs ws", "127.0.0.1:3300", "chrome-extension://"+extensionID)
		if c.header != "" {
			r.Header.Set(c.header, "192.0.2.7")
		}
		if _, err := g.check(r); status(err) != c.want {
			t.Errorf("the owner's %t, with the header %q: %v, want %d", c.own, c.header, err, c.want)
		}
	}
}

// Headers are looked up as net/http writes their names.
func TestForwardingHeaders(t *testing.T) {
	for _, name := range forwarding {
		if want := http.CanonicalHeaderKey(name); name != want {
			t.Errorf("%s is never found; it must be written %s", name, want)
		}
	}
}

func TestAnyOrigin(t *testing.T) {
	g := newGuard(t, GuardOptions{Verifier: auth.NewToken(secret), AllowOrigins: []string{"*"}})
	for _, target := range []string{"/tabs ws", "/ ws"} {
		if _, err := g.check(ask(target, "127.0.0.1:3300", "https://any.example")); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
	if _, err := g.check(ask("/api/tabs", "127.0.0.1:3300", "https://any.example")); status(err) != 403 {
		t.Errorf("/api is open to all pages: %v", err)
	}
	if _, err := g.check(ask("/mcp", "127.0.0.1:3300", "https://any.example")); status(err) != 401 {
		t.Errorf("/mcp needs no token from a page: %v", err)
	}
}

func TestNewGuardNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		o    GuardOptions
		says string
	}{
		{GuardOptions{AllowOrigins: []string{"app.example.com"}}, "--allow-origin"},
		{GuardOptions{AllowOrigins: []string{"https://app.example.com/path"}}, "--allow-origin"},
		{GuardOptions{AllowOrigins: []string{"https://*.example.com", ""}}, "--allow-origin"},
		{GuardOptions{AllowHosts: []string{"https://hub.example.com"}}, "allow-host"},
		{GuardOptions{AllowHosts: []string{"*"}}, "allow-host"},
		{GuardOptions{Extensions: []string{"abc"}}, "extension-id"},
		{GuardOptions{PublicURL: "hub.example.com"}, "public-url"},
		{GuardOptions{PublicURL: "https://hub.example.com/?a=b"}, "public-url"},
		{GuardOptions{PublicURL: "https://me:pw@hub.example.com"}, "public-url"},
	} {
		if _, err := NewGuard(c.o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v; want an error that names %s", c.o, err, c.says)
		}
	}
}

// Open metrics are for programs of the hub's machine, and nothing else is open with them.
func TestOpenMetrics(t *testing.T) {
	const own = "127.0.0.1:50000"
	for _, accounts := range []bool{false, true} {
		g := newGuard(t, GuardOptions{Verifier: auth.NewToken(secret), Accounts: accounts, OpenMetrics: true, AllowHosts: []string{"hub.example.com:3300"}})
		for _, c := range []struct {
			target, host, origin, remote, token, site string
			want                                      int
		}{
			{"/metrics", "127.0.0.1:3300", "-", own, "", "", 200},
			{"/metrics", "localhost:3300", "http://localhost:3300", own, "", "", 200},
			{"/metrics", "127.0.0.1:3300", "-", own, "wrong", "", 401},
			{"/metrics", "127.0.0.1:3300", "-", "192.0.2.9:50000", "", "", 401},
			{"/metrics", "hub.example.com:3300", "-", "192.0.2.9:50000", "", "", 401},
			{"/metrics", "evil.example:3300", "-", own, "", "", 403},
			{"/metrics", "127.0.0.1:3300", "https://evil.example", own, "", "", 403},
			{"/metrics", "127.0.0.1:3300", "http://localhost:5173", own, "", "", 403},
			{"/metrics", "127.0.0.1:3300", "-", own, "", "cross-site", 403},
			{"/api/tabs", "127.0.0.1:3300", "-", own, "", "", 401},
			{"/readyz", "127.0.0.1:3300", "-", own, "", "", 401},
			{"POST /metrics", "127.0.0.1:3300", "-", own, "", "", 405},
		} {
			r := ask(c.target, c.host, c.origin)
			r.RemoteAddr = c.remote
			if c.token != "" {
				r.Header.Set("Authorization", "Bearer "+c.token)
			}
			if c.site != "" {
				r.Header.Set("Sec-Fetch-Site", c.site)
			}
			r, err := g.check(r)
			if err == nil {
				p := passOf(r.Context())
				if err = g.checkOwner(p); err == nil && !p.rightMethod {
					err = wrongMethod(&endpoint.Request{Request: r, W: httptest.NewRecorder()}, p)
				}
			}
			if got := status(err); got != c.want {
				t.Errorf("accounts %v: %+v: got %d", accounts, c, got)
			}
		}
		forwarded := ask("/metrics", "127.0.0.1:3300", "-")
		forwarded.Header.Set("X-Forwarded-For", "192.0.2.9")
		if _, err := g.check(forwarded); status(err) != http.StatusUnauthorized {
			t.Errorf("what a proxy passes on: %v", err)
		}
	}
}

func FuzzOrigin(f *testing.F) {
	for _, s := range foreign {
		f.Add(s)
	}
	g, err := NewGuard(GuardOptions{Verifier: auth.NewToken(secret), AllowOrigins: []string{"https://app.example.com"}, Extensions: []string{extensionID}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, origin string) {
		r := ask("/tabs ws", "127.0.0.1:3300", origin)
		r.Header["Origin"] = []string{origin} // any text, also what stands for none above
		_, err := g.check(r)
		if err == nil && !strings.EqualFold(origin, "https://app.example.com") && !strings.EqualFold(origin, "chrome-extension://"+extensionID) {
			rest, ok := strings.CutPrefix(strings.ToLower(origin), "http://")
			if !ok {
				rest, ok = strings.CutPrefix(strings.ToLower(origin), "https://")
			}
			host, _, e := net.SplitHostPort(rest)
			if e != nil {
				host = strings.Trim(rest, "[]")
			}
			if !ok || !isLoopbackName(host) {
				t.Fatalf("%q was let in", origin)
			}
		}
	})
}

// A script that a page has from the hub connects to where the page has reached it.
func TestAddress(t *testing.T) {
	for _, c := range []struct {
		o     GuardOptions
		host  string
		proto string // of the proxy
		want  string
	}{
		{GuardOptions{}, "127.0.0.1:3300", "", "http://127.0.0.1:3300"},
		{GuardOptions{}, "LOCALHOST:3300", "https", "http://localhost:3300"},
		{GuardOptions{PublicURL: "https://hub.example.net/"}, "hub.example.net", "", "https://hub.example.net"},
		{GuardOptions{PublicURL: "https://hub.example.net/"}, "127.0.0.1:3300", "", "http://127.0.0.1:3300"},
		{GuardOptions{PublicURL: "https://hub.example.net/", BehindProxy: true}, "127.0.0.1:3300", "https", "https://hub.example.net"},
		{GuardOptions{AllowHosts: []string{"hub.example.net"}, BehindProxy: true}, "hub.example.net", "https", "https://hub.example.net"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/tab.js", nil)
		r.Host = c.host
		r.Header.Set("X-Forwarded-Proto", c.proto)
		if got := newGuard(t, c.o).Address(r); got != c.want {
			t.Errorf("%+v, Host %s: %s, want %s", c.o, c.host, got, c.want)
		}
	}
}

// Without a proxy in front, a client could forge the header.
func TestForwardedProto(t *testing.T) {
	for proxied, want := range map[bool]int{true: 200, false: 403} {
		g := newGuard(t, GuardOptions{Verifier: auth.NewToken(secret), AllowHosts: []string{"hub.example.com"}, BehindProxy: proxied})
		r := ask("/api/tabs", "hub.example.com", "https://hub.example.com")
		r.Header.Set("Authorization", "Bearer "+secret)
		r.Header.Set("X-Forwarded-Proto", "HTTPS, http") // of a proxy before a proxy
		if _, err := g.check(r); status(err) != want {
			t.Errorf("behind a proxy %t: %v, want %d", proxied, err, want)
		}
	}
}
